// What the arguments of a call look like: names and types, never values. Only names from the tool's own schema are
// kept: any other name is data that the caller chose. Pure.
import { type CatalogTool, namesOf, type Shape, typeText } from '@sandbridge/core/calls/catalog'
import { oneLine } from '@sandbridge/core/util/text'
import { shapeOfValue } from './learned-types.ts'

const MAX_SHAPE_CHARS = 2_000
const MAX_TYPE_CHARS = 40
const MAX_LINE_CHARS = 240

/** @returns undefined with an argument that the schema does not name, or too many: the shape would be incomplete */
export function argumentShape(tool: CatalogTool, args: Readonly<Record<string, unknown>>): Shape | undefined {
  const names = Object.keys(args).toSorted()
  const { properties } = shapeOfValue(Object.fromEntries(names.map((name) => [name, args[name]])))
  const isNamed = namesOf(tool.inputSchema)
  if (properties === undefined || !names.every(isNamed)) return undefined
  const types = names.map((name) => [name, onlyNamed(properties[name]!, isNamed)] as const)
  const shape: Shape = { type: ['object'], properties: Object.fromEntries(types), required: names }
  return JSON.stringify(shape).length <= MAX_SHAPE_CHARS ? shape : undefined
}

/** `create_issue(owner=str, labels=list[str])`: what a search shows of a call that worked. */
export function workedCall({ alias, signature }: CatalogTool, { properties = {} }: Shape): string {
  const sent = signature.parameters.filter(({ trueName }) => Object.hasOwn(properties, trueName))
  const args = sent.map(({ name, trueName }) => `${name}=${typeText(properties[trueName], undefined, MAX_TYPE_CHARS)}`)
  return oneLine(`${alias}(${args.join(', ')})`, MAX_LINE_CHARS)
}

/** An object with a key that the schema does not name becomes an object of unknown keys. */
function onlyNamed({ type, properties, required, items }: Shape, isNamed: (name: string) => boolean): Shape {
  const shape: Shape = { type }
  if (items) shape.items = onlyNamed(items, isNamed)
  const names = Object.keys(properties ?? {})
  if (!properties || !names.every(isNamed)) return shape
  const types = names.map((name) => [name, onlyNamed(properties[name]!, isNamed)] as const)
  return { ...shape, properties: Object.fromEntries(types), ...(required && { required }) }
}

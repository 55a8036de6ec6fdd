// What is learned of a tool's results: packages/learned reads them. Pure.
import type { ToolResult, UpstreamTool } from '../../../upstream/upstream.ts'
import { fieldsOf, isRecord } from '../../../util/json/json.ts'
import { nameWords } from '../../../util/text/python-name.ts'
import { propertiesOf } from '../signature/json-schema.ts'

/**
 * A JSON Schema made of `type` (always a list), `properties` with `required`, `additionalProperties` (a map's values)
 * and `items`. The type `Text` is a text with rows, of which `items` is one.
 */
export interface Shape {
  type: string[]
  properties?: Record<string, Shape>
  required?: string[]
  additionalProperties?: Shape
  items?: Shape
}

/** How results become shapes. */
export interface Shapes {
  /** @param before what earlier results have taught @returns undefined where this one teaches nothing */
  of(result: ToolResult, before: Shape | undefined): Shape | undefined
  /** The shape that covers both. */
  merged(one: Shape, other: Shape): Shape
}

/** Deeper values are not described. */
export const MAX_SHAPE_DEPTH = 5

/** Whether a value read from a file is a valid shape. */
export function isShape(value: unknown, depth = 0): value is Shape {
  if (!isRecord(value) || depth > MAX_SHAPE_DEPTH + 2) return false
  const { type, properties, required, additionalProperties, items } = value
  const isOptionalShape = (part: unknown): boolean => part === undefined || isShape(part, depth + 1)
  return (
    Array.isArray(type) &&
    type.every((name) => typeof name === 'string') &&
    (required === undefined || (Array.isArray(required) && required.every((name) => typeof name === 'string'))) &&
    (properties === undefined ||
      (isRecord(properties) && Object.values(properties).every((part) => isShape(part, depth + 1)))) &&
    isOptionalShape(additionalProperties) &&
    isOptionalShape(items)
  )
}

/** The same without the names of fields. */
export function withoutNames({ type, items, additionalProperties }: Shape): Shape {
  return {
    type,
    ...(items && { items: withoutNames(items) }),
    ...(additionalProperties && { additionalProperties: withoutNames(additionalProperties) }),
  }
}

/** Whether a tool returns foreign content, such as a file: one result does not predict the next. Remembered. */
export function readsFiles({ name, definition }: { name: string; definition: UpstreamTool }): boolean {
  const known = readers.get(definition) ?? isReader(name, definition)
  readers.set(definition, known)
  return known
}

const readers = new WeakMap<UpstreamTool, boolean>()

function isReader(name: string, definition: UpstreamTool): boolean {
  const words = nameWords(name)
  if (!words.some((word) => READS.has(word))) return false
  const parameters = propertiesOf(fieldsOf(definition.inputSchema)).map(([parameter]) => nameWords(parameter).join('_'))
  return words.some((word) => CONTENTS.has(word)) || parameters.some((word) => PLACES.has(word))
}

const READS = new Set('read get fetch cat open load download view show'.split(' '))
const CONTENTS = new Set('file files document page content contents text raw blob'.split(' '))
const PLACES = new Set('path file filename filepath file_path file_name uri url'.split(' '))

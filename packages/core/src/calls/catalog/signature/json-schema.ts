// Reads JSON Schemas from untrusted servers: nothing is guaranteed, not even that one is an object. Pure.
import { fieldsOf, isRecord, valueAt } from '../../../util/json/json.ts'
import { orUndefined } from '../../../util/or-undefined.ts'

export type Schema = Record<string, unknown>

/** Longest chain of references or combinators that is followed; a deeper schema counts as one that allows anything. */
const MAX_REFERENCES = 32
/** Of `allOf`. */
const MAX_PARTS = 64

/** The schema as an object: `true` and an invalid schema allow anything, `false` allows nothing. */
export function asSchema(value: unknown): Schema {
  if (isRecord(value)) return value
  return value === false ? { not: {} } : {}
}

/** Whether nothing can satisfy the schema, as with `false`. */
export function isNever(schema: unknown): boolean {
  return schema === false || (isRecord(schema) && isRecord(schema['not']) && Object.keys(schema['not']).length === 0)
}

/**
 * Follows the `$ref` of a schema. A reference to another document, to nothing, or in a circle gives `{}`, which allows
 * anything. Keywords beside `$ref` are kept and take precedence (JSON Schema 2020-12, 8.2.3.1: siblings of `$ref`
 * apply).
 * @param budget the steps that are left
 */
export function resolve(value: unknown, root: unknown, budget: { left: number }): Schema {
  let schema = asSchema(value)
  for (let steps = 0; typeof schema['$ref'] === 'string'; steps += 1) {
    budget.left -= (schema['$ref'].length + Object.keys(schema).length) >> 2
    if (steps >= MAX_REFERENCES || budget.left < 0) return {}
    const target = lookUp(schema['$ref'], root)
    const siblings = withoutReference(schema)
    if (target === undefined) return siblings
    schema = Object.keys(siblings).length === 0 ? asSchema(target) : { ...asSchema(target), ...siblings }
  }
  return schema
}

/** Members of `allOf`, `anyOf`, `oneOf` or `required`; empty when there are none. */
export function members(schema: Schema, keyword: 'allOf' | 'anyOf' | 'oneOf' | 'required'): unknown[] {
  const list = schema[keyword]
  return Array.isArray(list) ? list : []
}

export function requiredNames(schema: Schema): Set<string> {
  return new Set(members(schema, 'required').filter((name) => typeof name === 'string'))
}

export function propertiesOf(schema: Schema): [string, unknown][] {
  return isRecord(schema['properties']) ? Object.entries(schema['properties']) : []
}

/** The JSON types that a schema names or that its other keywords imply; empty when any type is allowed. */
export function typesOf(schema: Schema): string[] {
  const type = schema['type']
  const types = Array.isArray(type)
    ? type.filter((item) => typeof item === 'string')
    : typeof type === 'string'
      ? [type]
      : []
  // `nullable` is from OpenAPI 3.0; many servers copy it.
  if (types.length > 0 && schema['nullable'] === true && !types.includes('null')) return [...types, 'null']
  return types
}

/** With numbers for `exclusiveMinimum: true`, which OpenAPI 3.0 and draft 4 write beside `minimum`. */
export function withNumericBounds(schema: Schema): Schema {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema
  return {
    ...schema,
    ...(above === true && { exclusiveMinimum: minimum, minimum: undefined }),
    ...(below === true && { exclusiveMaximum: maximum, maximum: undefined }),
  }
}

/** Merges the parts of `allOf` into one object schema that has all properties. */
export function flattened(value: unknown, root: unknown): Schema {
  return flatten(value, root, readingOf(root), 0)
}

function flatten(value: unknown, root: unknown, reading: SchemaReading, depth: number): Schema {
  const given = asSchema(value)
  const known = reading.flat.get(given)
  if (known) return known
  if (reading.left < 0 || depth > MAX_REFERENCES) return {}
  const schema = resolve(given, root, reading)
  const parts = members(schema, 'allOf')
  reading.left -= 1
  // A part that leads back here adds nothing.
  reading.flat.set(given, parts.length === 0 ? schema : {})
  if (parts.length === 0) return schema
  const { allOf: _, ...own } = schema
  const all = [own]
  for (const part of parts.slice(0, MAX_PARTS)) all.push(flatten(part, root, reading, depth + 1))
  reading.left -= all.reduce((count, part) => count + Object.keys(fieldsOf(part['properties'])).length, 0)
  if (reading.left < 0) return {}
  // What comes first has precedence.
  const properties = new Map<string, unknown>()
  for (const part of all)
    for (const [name, property] of propertiesOf(part)) if (!properties.has(name)) properties.set(name, property)
  const inOrder = all.toReversed().flatMap((part) => propertiesOf(part).map(([name]) => name))
  const required = new Set(all.flatMap((part) => [...requiredNames(part)]))
  let result: Schema = {}
  for (const part of all) result = { ...part, ...result }
  if (properties.size > 0)
    result['properties'] = Object.fromEntries(inOrder.map((name) => [name, properties.get(name)]))
  if (required.size > 0) result['required'] = [...required]
  reading.flat.set(given, result)
  return result
}

/**
 * Equal as JSON: the order of keys does not matter.
 * @param budget how many values may still be compared: of more, the rest counts as different
 */
export function sameJson(a: unknown, b: unknown, budget = { left: Infinity }): boolean {
  budget.left -= 1
  if (budget.left < 0) return false
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index], budget))
  // Rounded where the schema was read.
  if (typeof a === 'bigint' || typeof b === 'bigint') return Number(a) === Number(b)
  if (!isRecord(a) || !isRecord(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key], budget))
  )
}

/** A schema without its `$ref`: only the keywords beside it. */
export function withoutReference(schema: Schema): Schema {
  const { $ref: _, ...rest } = schema
  return rest
}

/** Follows a `$ref` in the document `root` by one step; undefined for what is missing, an anchor, another document. */
export function lookUp(reference: string, root: unknown): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let node: unknown = root
  for (const part of reference.slice(2).split('/')) {
    // A schema with an `$id` is a document of its own, with other targets.
    if (node !== root && isRecord(node) && typeof node['$id'] === 'string') return undefined
    node = valueAt(node, unescapePointer(part))
    if (node === undefined) return undefined
  }
  return node
}

function unescapePointer(part: string): string {
  const text = orUndefined(() => decodeURIComponent(part)) ?? part
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** A step takes about a microsecond. The largest schemas of published servers take a few hundred. */
const MAX_STEPS = 30_000

export interface SchemaReading {
  /** How many steps are left; below 0 if the document was too complex. */
  left: number
  /** By schema: itself without references and `allOf`. */
  readonly flat: WeakMap<object, Record<string, unknown>>
  /** By schema: its type in Python, from most to least detail. */
  readonly texts: WeakMap<object, string[]>
}

const readings = new WeakMap<object, SchemaReading>()

/** @param root the document that `$ref`s point into */
export function readingOf(root: unknown): SchemaReading {
  const known = typeof root === 'object' && root !== null ? readings.get(root) : undefined
  if (known) return known
  const reading: SchemaReading = { left: MAX_STEPS, flat: new WeakMap(), texts: new WeakMap() }
  if (typeof root === 'object' && root !== null) readings.set(root, reading)
  return reading
}

/** Whether parts of the document were not read. */
export function isTooComplex(root: unknown): boolean {
  return readingOf(root).left < 0
}

const MAX_NODES = 20_000

const found = new WeakMap<object, (name: string) => boolean>()

/** Whether the schema has a property of this name, at any depth. */
export function namesOf(schema: unknown): (name: string) => boolean {
  if (!isRecord(schema)) return () => false
  let isNamed = found.get(schema)
  if (!isNamed) {
    const names = propertyNames(schema)
    found.set(schema, (isNamed = (name) => names.has(name)))
  }
  return isNamed
}

function propertyNames(schema: object): Set<string> {
  const names = new Set<string>()
  const open: unknown[] = [schema]
  for (let count = 0; open.length > 0 && count < MAX_NODES; count += 1) {
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties' && isRecord(value)) for (const name of Object.keys(value)) names.add(name)
      open.push(value)
    }
  }
  return names
}

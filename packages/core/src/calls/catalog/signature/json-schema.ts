// Reads JSON Schemas from untrusted servers: nothing is guaranteed, not even that one is an object. Pure.
import { isRecord } from '../../../util/json/json.ts'

export type Schema = Record<string, unknown>

/** Longest chain of references or combinators that is followed; a deeper schema counts as one that allows anything. */
const MAX_REFERENCES = 32

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
 */
export function resolve(value: unknown, root: unknown): Schema {
  let schema = asSchema(value)
  for (let steps = 0; typeof schema['$ref'] === 'string'; steps += 1) {
    if (steps >= MAX_REFERENCES) return {}
    const target = lookUp(schema['$ref'], root)
    const siblings = withoutReference(schema)
    if (target === undefined) return siblings
    schema = Object.keys(siblings).length === 0 ? asSchema(target) : { ...asSchema(target), ...siblings }
  }
  return schema
}

/** Members of `allOf`, `anyOf` or `oneOf`; empty when there are none. */
export function members(schema: Schema, keyword: 'allOf' | 'anyOf' | 'oneOf'): unknown[] {
  const list = schema[keyword]
  return Array.isArray(list) ? list : []
}

/** The names in `required`. */
export function requiredNames(schema: Schema): Set<string> {
  const list = schema['required']
  return new Set(Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [])
}

/** Declared properties, in their order. */
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

/** Merges the parts of `allOf` into one object schema that has all properties. */
export function flattened(value: unknown, root: unknown, depth = 0): Schema {
  const schema = resolve(value, root)
  const parts = members(schema, 'allOf')
  if (parts.length === 0 || depth > 8) return schema
  const { allOf: _, ...own } = schema
  let result: Schema = own
  for (const part of parts.slice(0, 64)) {
    const other = flattened(part, root, depth + 1)
    const properties = Object.fromEntries([...propertiesOf(other), ...propertiesOf(result)])
    const required = [...requiredNames(result), ...requiredNames(other)]
    result = { ...other, ...result }
    if (Object.keys(properties).length > 0) result['properties'] = properties
    if (required.length > 0) result['required'] = required
  }
  return result
}

/** Equal as JSON: the order of keys does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]))
  if (!isRecord(a) || !isRecord(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(asSchema(a)[key], b[key]))
  )
}

/** A schema without its `$ref`: only the keywords beside it. */
export function withoutReference(schema: Schema): Schema {
  const { $ref: _, ...rest } = schema
  return rest
}

/**
 * Follows a `$ref` in the document `root` by one step; undefined for a missing target, an anchor and other documents.
 */
export function lookUp(reference: string, root: unknown): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let node: unknown = root
  for (const part of reference.slice(2).split('/')) {
    // A schema with an `$id` is a document of its own, with other targets.
    if (node !== root && isRecord(node) && typeof node['$id'] === 'string') return undefined
    const key = unescapePointer(part)
    if (Array.isArray(node)) node = node[Number(key)]
    else if (isRecord(node) && Object.hasOwn(node, key)) node = node[key]
    else return undefined
  }
  return node
}

function unescapePointer(part: string): string {
  let text = part
  try {
    text = decodeURIComponent(part)
  } catch {
    // Not percent-encoded: use the text as it is.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

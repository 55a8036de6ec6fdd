// Parameters that must be repeated in an HTTP header (2026-07-28, Streamable HTTP, "Custom Headers from Tool
// Parameters"): whether a tool requires this and whether its schema is valid. Pure.
import { isRecord } from '../../../util/json/json.ts'

const KEY = 'x-mcp-header'
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES = new Set<unknown>(['string', 'integer', 'boolean'])

/** Keywords that hold schemas in which the key is not allowed; `default` and `enum` hold values. */
const ELSEWHERE = (
  'items prefixItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames patternProperties ' +
  'dependentSchemas oneOf anyOf allOf not if then else $defs definitions'
).split(' ')
const NAMED = new Set(['patternProperties', 'dependentSchemas', '$defs', 'definitions'])

/** A tool with `invalid` header parameters must be neither called nor shown. */
export function headerParameters(inputSchema: unknown): 'none' | 'valid' | 'invalid' {
  const names = new Set<string>()
  return isSound(inputSchema, 'root', names) ? (names.size > 0 ? 'valid' : 'none') : 'invalid'
}

function isSound(schema: unknown, place: 'root' | 'property' | 'elsewhere', names: Set<string>): boolean {
  if (!isRecord(schema)) return true
  if (KEY in schema) {
    const name = schema[KEY]
    if (place !== 'property' || typeof name !== 'string' || !TOKEN.test(name) || !TYPES.has(schema.type)) return false
    // Header names are case-insensitive.
    if (names.has(name.toLowerCase())) return false
    names.add(name.toLowerCase())
  }
  const inner = place === 'elsewhere' ? 'elsewhere' : 'property'
  if (isRecord(schema.properties) && !Object.values(schema.properties).every((child) => isSound(child, inner, names))) {
    return false
  }
  return ELSEWHERE.every((keyword) => {
    const value = schema[keyword]
    const children = Array.isArray(value)
      ? value
      : NAMED.has(keyword) && isRecord(value)
        ? Object.values(value)
        : [value]
    return children.every((child) => isSound(child, 'elsewhere', names))
  })
}

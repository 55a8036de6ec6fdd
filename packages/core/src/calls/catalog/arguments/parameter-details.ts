// What a schema says of an argument beyond its type, for full documentation: limits, formats, meanings. Pure.
import { isRecord, itemsOf } from '../../../util/json/json.ts'
import { foldName } from '../../../util/text/python-name.ts'
import { oneLine } from '../../../util/text/server-words.ts'
import {
  flattened,
  members,
  propertiesOf,
  requiredNames,
  type Schema,
  withNumericBounds,
} from '../signature/json-schema.ts'
import { pythonLiteral } from '../signature/python-literal.ts'
import { typeText } from '../signature/schema-type.ts'

const MAX_LINES = 40
const MAX_DEPTH = 4
/** Fields and options of a tool that are read: a schema of a few lines may have millions. */
export const MAX_VISITS = 3_000
const MAX_OPTIONS = 30
const MAX_LITERAL = 300
const MAX_TYPE = 80
const MAX_CHARS = 500
/** Keywords and how each is said with its value. */
const LIMITS: Record<string, (value: string) => string> = {
  pattern: (value) => `pattern ${value}`,
  format: (value) => `format ${value}`,
  minimum: (value) => `at least ${value}`,
  exclusiveMinimum: (value) => `more than ${value}`,
  maximum: (value) => `at most ${value}`,
  exclusiveMaximum: (value) => `less than ${value}`,
  multipleOf: (value) => `a multiple of ${value}`,
  minLength: (value) => `at least ${value} characters`,
  maxLength: (value) => `at most ${value} characters`,
  minItems: (value) => `at least ${value} items`,
  maxItems: (value) => `at most ${value} items`,
  minProperties: (value) => `at least ${value} keys`,
  maxProperties: (value) => `at most ${value} keys`,
  contentEncoding: (value) => `encoded as ${value}`,
  contentMediaType: (value) => `type ${value}`,
}

/**
 * Lines about a parameter: its own limits, then each field inside it that has more to say than its type.
 * @param budget how much may still be read, at first MAX_VISITS
 */
export function parameterDetails(schema: unknown, root: unknown, ownName: string, budget: { left: number }): string[] {
  const lines: string[] = []
  const whole = flattened(schema, root)
  // Its description is shown beside its name.
  const own = [whole['description'] ? '' : meaningOf(whole, ownName), limitsOf(whole)].filter(Boolean).join('; ')
  if (own !== '') lines.push(own)
  addFields(schema, '', 0)
  return lines.slice(0, MAX_LINES)

  function addFields(part: unknown, path: string, depth: number): void {
    if (depth > MAX_DEPTH || isEnough()) return
    const found = flattened(part, root)
    const required = requiredNames(found)
    for (const [name, field] of propertiesOf(found)) {
      if (isEnough()) return
      const at = `${path}.${oneLine(name, MAX_TYPE)}`
      const inner = flattened(field, root)
      const said = [meaningOf(inner, name), limitsOf(inner), defaultOf(inner)].filter(Boolean).join('; ')
      if (said !== '') {
        const type = `${typeText(field, root, MAX_TYPE)}${required.has(name) ? '' : ', optional'}`
        lines.push(`${at}: ${type}  # ${said}`)
      }
      addFields(field, at, depth + 1)
    }
    if (found['items'] !== undefined) addFields(found['items'], `${path}[]`, depth + 1)
    if (isRecord(found['additionalProperties'])) addFields(found['additionalProperties'], `${path}[key]`, depth + 1)
    for (const option of [...members(found, 'anyOf'), ...members(found, 'oneOf')]) addFields(option, path, depth + 1)
  }

  function isEnough(): boolean {
    budget.left -= 1
    return budget.left < 0 || lines.length >= MAX_LINES
  }

  /** @param depth of items and options within it, whose own limits are a part of what is said */
  function limitsOf(given: Schema, depth = 0): string {
    if (depth > 2 || isEnough()) return ''
    const found = withNumericBounds(given)
    const options = [...members(found, 'anyOf'), ...members(found, 'oneOf')]
      .slice(0, MAX_OPTIONS)
      .map((option) => flattened(option, root))
    const insides = {
      each: found['items'],
      ...Object.fromEntries(firstEntries(found['prefixItems']).map(([at, item]) => [`item ${at}`, item])),
      keys: found['propertyNames'],
      values: found['additionalProperties'],
      ...Object.fromEntries(
        firstEntries(found['patternProperties']).map(([key, value]) => [`values of ${key}`, value]),
      ),
    }
    const [example = found['example']] = itemsOf(found['examples'])
    const said = [
      ...Object.entries(LIMITS).flatMap(([keyword, say]) => {
        const value = found[keyword]
        return typeof value === 'string' || typeof value === 'number' ? [say(oneLine(String(value), MAX_LITERAL))] : []
      }),
      ...(found['uniqueItems'] === true ? ['no item twice'] : []),
      ...(found['deprecated'] === true ? ['deprecated'] : []),
      ...Object.entries(insides).flatMap(([what, part]) => {
        const inner = flattened(part, root)
        const words = [oneLine(inner['description'], MAX_LITERAL), limitsOf(inner, depth + 1)].filter(Boolean)
        return words.length === 0 ? [] : [`${oneLine(what, MAX_TYPE)}: ${words.join('; ')}`]
      }),
      ...options.flatMap((option) => {
        const meaning = oneLine(option['description'] ?? ('const' in option ? option['title'] : undefined), MAX_LITERAL)
        const value = 'const' in option ? pythonLiteral(option['const'], MAX_LITERAL) : undefined
        const limits = limitsOf({ ...option, anyOf: undefined, oneOf: undefined }, depth + 1)
        if (value !== undefined) return meaning === '' ? [] : [`${value}: ${meaning}`]
        return [meaning, limits].filter(Boolean)
      }),
      ...namesOfValues(found),
      ...(example === undefined ? [] : [`such as ${pythonLiteral(example, MAX_LITERAL) ?? '…'}`]),
    ]
    return oneLine([...new Set(said)].join('; '), MAX_CHARS)
  }
}

/** A title is often only the name in other letters. */
function meaningOf(found: Schema, name: string): string {
  const title = oneLine(found['title'], MAX_CHARS)
  return oneLine(found['description'], MAX_CHARS) || (foldName(title) === foldName(name) ? '' : title)
}

/** `enumNames` and `x-enum-descriptions`, which some generators write beside `enum`. */
function namesOfValues(found: Schema): string[] {
  const keyword = Object.keys(found).find((key) => /^(?:x-)?enum-?(?:names|descriptions|varnames)$/i.test(key))
  const names = itemsOf(found[keyword ?? ''])
  return firstEntries(found['enum']).flatMap(([at, value]) => {
    const name = names[Number(at)]
    return typeof name === 'string' ? [`${pythonLiteral(value, MAX_LITERAL)}: ${name}`] : []
  })
}

/** The first entries of a list or an object. */
function firstEntries(parts: unknown): [string, unknown][] {
  return typeof parts === 'object' && parts !== null ? Object.entries(parts).slice(0, MAX_OPTIONS) : []
}

function defaultOf(found: Schema): string {
  const text = 'default' in found ? pythonLiteral(found['default'], MAX_LITERAL) : undefined
  return text === undefined ? '' : `default ${text}`
}

// What a schema says of an argument beyond its type, for full documentation: limits, formats, meanings. Pure.
import { isRecord, itemsOf } from '../../../util/json/json.ts'
import { oneLine } from '../../../util/text/server-words.ts'
import { flattened, members, propertiesOf, requiredNames, type Schema } from '../signature/json-schema.ts'
import { pythonLiteral } from '../signature/python-literal.ts'
import { typeText } from '../signature/schema-type.ts'

const MAX_LINES = 40
const MAX_DEPTH = 4
/** Fields and options that are looked at: a schema of a few lines may have millions, of which none has more to say. */
const MAX_VISITS = 300
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

/** Lines about a parameter: its own limits, then each field inside it that has more to say than its type. */
export function parameterDetails(schema: unknown, root: unknown): string[] {
  const lines: string[] = []
  let visits = 0
  const own = limitsOf(flattened(schema, root))
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
      const said = [oneLine(inner['description'], MAX_CHARS), limitsOf(inner), defaultOf(inner)]
        .filter(Boolean)
        .join('; ')
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
    visits += 1
    return visits > MAX_VISITS || lines.length >= MAX_LINES
  }

  /** @param depth of items and options within it, whose own limits are a part of what is said */
  function limitsOf(found: Schema, depth = 0): string {
    if (depth > 2) return ''
    const options = [...members(found, 'anyOf'), ...members(found, 'oneOf')]
      .slice(0, MAX_OPTIONS)
      .map((option) => flattened(option, root))
    const items = isRecord(found['items'])
      ? limitsOf({ ...flattened(found['items'], root), items: undefined }, depth + 1)
      : ''
    const said = [
      ...Object.entries(LIMITS).flatMap(([keyword, say]) => {
        const value = found[keyword]
        return typeof value === 'string' || typeof value === 'number' ? [say(oneLine(String(value), MAX_LITERAL))] : []
      }),
      ...(found['uniqueItems'] === true ? ['no item twice'] : []),
      ...(items === '' ? [] : [`each: ${items}`]),
      ...options.flatMap((option) => {
        const meaning = oneLine(option['description'] ?? ('const' in option ? option['title'] : undefined), MAX_LITERAL)
        const value = 'const' in option ? pythonLiteral(option['const'], MAX_LITERAL) : undefined
        const limits = limitsOf({ ...option, anyOf: undefined, oneOf: undefined }, depth + 1)
        if (value !== undefined) return meaning === '' ? [] : [`${value}: ${meaning}`]
        return [meaning, limits].filter(Boolean)
      }),
      ...namesOfValues(found),
      ...(itemsOf(found['examples']).length > 0
        ? [`such as ${pythonLiteral(itemsOf(found['examples'])[0], MAX_LITERAL) ?? '…'}`]
        : []),
    ]
    return oneLine([...new Set(said)].join('; '), MAX_CHARS)
  }
}

/** `enumNames` and `x-enum-descriptions`, which some generators write beside `enum`. */
function namesOfValues(found: Schema): string[] {
  const names = itemsOf(found['enumNames'] ?? found['enumDescriptions'] ?? found['x-enum-descriptions'])
  return itemsOf(found['enum']).flatMap((value, at) =>
    typeof names[at] === 'string' ? [`${pythonLiteral(value, MAX_LITERAL)}: ${names[at]}`] : [],
  )
}

function defaultOf(found: Schema): string {
  const text = 'default' in found ? pythonLiteral(found['default'], MAX_LITERAL) : undefined
  return text === undefined ? '' : `default ${text}`
}

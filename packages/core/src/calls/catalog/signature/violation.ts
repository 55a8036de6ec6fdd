// Finds what is certainly wrong with a value according to its JSON Schema: type, enum, const, a missing or unknown key,
// at any depth. Everything else (ranges, formats, patterns, `not`, conditions) is left to the server. Unknown cases,
// and what takes too long, are allowed. Pure.
import {
  asSchema,
  flattened,
  isNever,
  lookUp,
  members,
  propertiesOf,
  requiredNames,
  sameJson,
  typesOf,
  withoutReference,
} from './json-schema.ts'
import { isRecord } from '../../../util/json/json.ts'
import { didYouMeanText } from '../../../util/text/did-you-mean.ts'
import { pythonLiteral } from './python-literal.ts'
import { typeText } from './schema-type.ts'

const MAX_STEPS = 20_000
const MAX_NESTING = 64

interface Search {
  root: unknown
  /** What the arguments of a call have in common. */
  budget: Budget
  /** Above 0 when only the result counts, not the message: building messages is most of the work. */
  quiet: number
}

/** How many steps of about two microseconds the search may take: the bridge does nothing else meanwhile. */
export interface Budget {
  left: number
}

export const newBudget = (): Budget => ({ left: MAX_STEPS })

/**
 * The first thing about `value` that `schema` certainly forbids, as a message; undefined if nothing is certain.
 * @param path the name of the value in the message: a parameter's Python name
 */
export function violation(
  value: unknown,
  schema: unknown,
  root: unknown,
  path: string,
  budget = newBudget(),
): string | undefined {
  return find(value, schema, path, 0, { root, budget, quiet: 0 })
}

function find(value: unknown, given: unknown, path: string, nesting: number, search: Search): string | undefined {
  search.budget.left -= 1
  if (nesting > MAX_NESTING || search.budget.left < 0) return undefined
  if (isNever(given)) return `${path} is not allowed`
  const own = asSchema(given)
  // References in a document of its own point elsewhere than `lookUp` goes.
  if (typeof own['$id'] === 'string' && own !== search.root) return undefined
  if (typeof own['$ref'] === 'string') {
    search.budget.left -= own['$ref'].length >> 4
    // Check each separately: if merged, the `additionalProperties` of one would apply to the properties of the other.
    const target = lookUp(own['$ref'], search.root) ?? true
    const wrong = find(value, target, path, nesting + 1, search)
    return wrong ?? find(value, withoutReference(own), path, nesting + 1, search)
  }
  const schema = own
  for (const part of members(schema, 'allOf')) {
    const wrong = find(value, part, path, nesting + 1, search)
    if (wrong !== undefined) return wrong
  }
  if (value === null && schema['nullable'] === true) return undefined
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = members(schema, keyword)
    if (branches.length === 0) continue
    search.quiet += 1
    const isRuledOut = branches.every((branch) => find(value, branch, path, nesting + 1, search) !== undefined)
    search.quiet -= 1
    if (!isRuledOut) continue
    // With one branch of the right type, its problem is more useful than the whole union.
    const near = branches.filter((branch) => fitsType(value, typesOf(flattened(branch, search.root))))
    const wrong = near.length === 1 ? find(value, near[0], path, nesting + 1, search) : undefined
    return wrong ?? mismatch(value, schema, path, search)
  }
  const isNot = (choice: unknown): boolean => !sameJson(choice, value, search.budget) && search.budget.left >= 0
  if ('const' in schema && isNot(schema['const'])) return mismatch(value, schema, path, search)
  const choices = schema['enum']
  if (Array.isArray(choices)) search.budget.left -= choices.length >> 4
  if (Array.isArray(choices) && choices.length > 0 && choices.every(isNot)) {
    const names = choices.filter((choice) => typeof choice === 'string')
    const hint = typeof value === 'string' && search.quiet === 0 ? didYouMeanText(value, names) : ''
    return mismatch(value, schema, path, search) + (hint && ` — ${hint}`)
  }
  if (!fitsType(value, typesOf(schema)) && !isOfBranch(value, schema)) return mismatch(value, schema, path, search)
  if (Array.isArray(value)) return findInArray(value, schema, path, nesting, search)
  if (isRecord(value)) return findInObject(value, schema, path, nesting, search)
  return undefined
}

/** Converters of other formats write a type beside branches that have others: the branches are what was meant. */
function isOfBranch(value: unknown, schema: Record<string, unknown>): boolean {
  const types = [...members(schema, 'anyOf'), ...members(schema, 'oneOf')].map((branch) => typesOf(asSchema(branch)))
  return types.some((some) => some.length > 0 && fitsType(value, some))
}

function findInArray(
  value: unknown[],
  schema: Record<string, unknown>,
  path: string,
  nesting: number,
  search: Search,
): string | undefined {
  const tuple = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : schema['items']
  const rest = Array.isArray(schema['prefixItems']) ? schema['items'] : schema['additionalItems']
  for (const [index, item] of value.entries()) {
    if (search.budget.left < 0) return undefined
    const isOfTuple = Array.isArray(tuple) && index < tuple.length
    const itemSchema = isOfTuple ? tuple[index] : Array.isArray(tuple) ? rest : tuple
    if (itemSchema === undefined || itemSchema === true) {
      if (isOfTuple) continue
      break // Later items are not checked either.
    }
    const wrong = find(item, itemSchema, `${path}[${index}]`, nesting + 1, search)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function findInObject(
  value: Record<string, unknown>,
  schema: Record<string, unknown>,
  path: string,
  nesting: number,
  search: Search,
): string | undefined {
  const required = requiredNames(schema)
  const properties = new Map(propertiesOf(schema))
  search.budget.left -= (members(schema, 'required').length + properties.size) >> 4
  for (const name of required) {
    if (!Object.hasOwn(value, name)) return `${path} lacks the key ${shown(name)}`
  }
  const rest = schema['additionalProperties']
  const closed = rest === false && !isRecord(schema['patternProperties'])
  // Skip keys that no schema checks: the sandbox may send half a million.
  const judgesRest = closed || (isRecord(rest) && !isRecord(schema['patternProperties']))
  const names = judgesRest ? Object.keys(value) : [...properties.keys()].filter((name) => Object.hasOwn(value, name))
  search.budget.left -= names.length >> 4
  for (const name of names) {
    if (search.budget.left < 0) return undefined
    const isKnown = properties.has(name)
    if (closed && !isKnown)
      return `${path} has the unknown key ${shown(name)}. ${didYouMeanText(name, properties.keys())}`.trimEnd()
    const itemSchema = isKnown ? properties.get(name) : rest
    const wrong = find(value[name], itemSchema, `${path}[${shown(name)}]`, nesting + 1, search)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function fitsType(value: unknown, types: string[]): boolean {
  if (types.length === 0) return true
  return types.some((type) => {
    if (type === 'null') return value === null
    if (type === 'boolean') return typeof value === 'boolean'
    if (type === 'string') return typeof value === 'string'
    if (type === 'number') return typeof value === 'number' || isLargeInteger(value)
    if (type === 'integer') return Number.isInteger(value) || isLargeInteger(value)
    if (type === 'array') return Array.isArray(value)
    // A type unknown to JSON Schema is ignored.
    return type === 'object' ? isRecord(value) : true
  })
}

/** Beyond 2^53. As a str of digits, too: some clients have no number for it, and servers that read such ids take it. */
export function isLargeInteger(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  return typeof value === 'string' && /^-?[1-9]\d{15,30}$/.test(value) && !Number.isSafeInteger(Number(value))
}

function mismatch(value: unknown, schema: unknown, path: string, search: Search): string {
  if (search.quiet > 0) return path
  return `${path} must be ${typeText(schema, search.root, 200)}, not ${shown(value)}`
}

function shown(value: unknown): string {
  const text = pythonLiteral(value, 40)
  if (text !== undefined) return text
  if (typeof value === 'string') return 'a long str'
  return Array.isArray(value) ? `a list of ${value.length}` : isRecord(value) ? 'a dict' : String(value)
}

// An example call that a tool's schema allows, with the server's examples or defaults, otherwise placeholders.
import type { CatalogTool } from '../model/catalog-tool.ts'
import { bindArguments, UNKNOWN } from './bind.ts'
import {
  flattened,
  members,
  propertiesOf,
  requiredNames,
  typesOf,
  type Schema,
  withNumericBounds,
} from '../signature/json-schema.ts'
import { isRecord } from '../../../util/json/json.ts'
import { pythonLiteral } from '../signature/python-literal.ts'
import { orUndefined } from '../../../util/or-undefined.ts'

const MAX_EXAMPLE = 1000
const MAX_DEPTH = 5
const MAX_NODES = 200
const MAX_ITEMS = 5

const BY_FORMAT: Record<string, string> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  time: '12:00:00',
  email: 'someone@example.com',
  uri: 'https://example.com',
  url: 'https://example.com',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
}

/** `await mcp_github.create_issue(owner='owner', title='title')`; undefined when a required value cannot be made up. */
export function exampleCall(tool: CatalogTool): string | undefined {
  const { parameters, root } = tool.signature
  const budget = { root, nodes: 0 }
  const required = parameters.filter((parameter) => parameter.required)
  const args = required.map(({ name, schema }) => [name, sample(schema, name, budget, 0)] as const)
  if (!orUndefined(() => bindArguments(tool, [], Object.fromEntries(args)))) return undefined
  // What cannot be made up is left to the reader.
  const texts = args.map(([name, value]) => [name, isWhole(value) ? pythonLiteral(value, MAX_EXAMPLE) : '...'] as const)
  if (texts.some(([, text]) => text === undefined)) return undefined
  const call = `await mcp_${tool.serverAlias}.${tool.alias}(${texts.map((one) => one.join('=')).join(', ')})`
  return call.length > MAX_EXAMPLE ? undefined : call
}

function isWhole(value: unknown): boolean {
  if (value === UNKNOWN) return false
  return typeof value !== 'object' || value === null || Object.values(value).every(isWhole)
}

interface Budget {
  root: unknown
  nodes: number
}

function sample(value: unknown, name: string, budget: Budget, depth: number): unknown {
  budget.nodes += 1
  if (budget.nodes > MAX_NODES || depth > MAX_DEPTH) return UNKNOWN
  const schema = flattened(value, budget.root)
  for (const keyword of ['examples', 'enum'] as const) {
    const list = schema[keyword]
    if (Array.isArray(list) && list.length > 0) return list[0]
  }
  for (const keyword of ['const', 'example', 'default']) if (keyword in schema) return schema[keyword]
  const [first] = [...members(schema, 'anyOf'), ...members(schema, 'oneOf')]
  if (first !== undefined && propertiesOf(schema).length === 0) return sample(first, name, budget, depth + 1)
  return ofType(schema, name, budget, depth)
}

function ofType(schema: Schema, name: string, budget: Budget, depth: number): unknown {
  const type = typesOf(schema).find((one) => one !== 'null') ?? ('properties' in schema ? 'object' : 'string')
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number') return numberOf(schema)
  if (type === 'array') {
    const item = isRecord(schema['items']) ? sample(schema['items'], name, budget, depth + 1) : name
    const count = Number(schema['minItems'] ?? 1)
    if (count > MAX_ITEMS || (count > 1 && schema['uniqueItems'] === true) || 'contains' in schema) return UNKNOWN
    return Array.from({ length: schema['maxItems'] === 0 ? 0 : Math.max(count, 1) }, () => item)
  }
  if (type === 'object') {
    const required = requiredNames(schema)
    const properties = propertiesOf(schema).filter(([key]) => required.has(key))
    if (properties.length < Number(schema['minProperties'] ?? 0)) return UNKNOWN
    return Object.fromEntries(properties.map(([key, inner]) => [key, sample(inner, key, budget, depth + 1)]))
  }
  return textOf(schema, name)
}

function textOf(schema: Schema, name: string): unknown {
  const [least, most] = [Number(schema['minLength'] ?? 0), Number(schema['maxLength'] ?? Infinity)]
  const { pattern, format } = schema
  const made = format === undefined ? name.slice(0, most) : BY_FORMAT[typeof format === 'string' ? format : '']
  const isAllowed = made !== undefined && pattern === undefined && made.length >= least && made.length <= most
  return isAllowed ? made : UNKNOWN
}

function numberOf(given: Schema): unknown {
  const schema = withNumericBounds(given)
  const made = nearOne(schema)
  const { multipleOf = 1, maximum = Infinity, exclusiveMaximum = Infinity } = schema
  const isAllowed = made <= Number(maximum) && made < Number(exclusiveMaximum) && made % Number(multipleOf) === 0
  return isAllowed ? made : UNKNOWN
}

function nearOne(schema: Schema): number {
  const bounds = ['minimum', 'exclusiveMinimum', 'maximum'].map((keyword) => schema[keyword])
  const [least, above, most] = bounds.map((bound) => (typeof bound === 'number' ? bound : undefined))
  if (above !== undefined && above >= 1) return above + 1
  if (least !== undefined && least > 1) return least
  return most !== undefined && most < 1 ? most : 1
}

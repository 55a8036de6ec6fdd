// The arguments of a call as its client meant them: clients encode twice, write null for nothing and add fields, and no
// model can correct that. Where the schema leaves one reading, it is taken; what was left out is said. Pure.
import { BridgeError } from '../errors.ts'
import { fieldsOf, isRecord, itemsOf } from '../util/json/json.ts'
import { tryParseExact } from '../util/json/parse-exact.ts'
import { didYouMeanText } from '../util/text/did-you-mean.ts'
import { listText } from '../util/text/count.ts'
import { shortName } from '../util/text/server-words.ts'

/** Of the schema of one argument, what decides how its value is read. */
interface ArgumentSchema {
  type?: string | readonly string[]
  items?: ArgumentSchema
  properties?: Readonly<Record<string, ArgumentSchema>>
  anyOf?: readonly ArgumentSchema[]
  oneOf?: readonly ArgumentSchema[]
}

/** A tool as its clients see it. */
export interface CalledTool {
  name: string
  properties: Readonly<Record<string, ArgumentSchema>>
  required?: readonly string[]
  /** Other names mean something to it as well. */
  isOpen?: boolean
  /** Follows the references of a schema. */
  resolve?: Resolve
}

type Resolve = (schema: unknown) => ArgumentSchema

interface ReadArguments {
  args: Record<string, unknown>
  /** A notice to show with the result. */
  note?: string
}

/** Fields that clients add to the arguments of every tool, and that are no misspelt names. */
const ADDED = new Set(['toolCallId', 'sessionId', 'action', 'chatInput', 'random_string'])
const MAX_NAMED = 3

/** @throws BridgeError TOOL_ARGUMENTS_INVALID for a misspelt name */
export function readArguments(
  given: unknown,
  { name: tool, properties, required = [], isOpen = false, resolve = fieldsOf }: CalledTool,
): ReadArguments {
  const args: Record<string, unknown> = {}
  const ignored: string[] = []
  for (const [name, value] of Object.entries(fieldsOf(given))) {
    if (Object.hasOwn(properties, name)) {
      const read = readArgument(value, properties[name], resolve)
      if (read !== undefined || required.includes(name)) args[name] = read === undefined ? value : read
    } else if (isOpen && !ADDED.has(name)) args[name] = value
    else {
      const near = ADDED.has(name) ? '' : didYouMeanText(name, Object.keys(properties))
      if (near !== '')
        throw new BridgeError('TOOL_ARGUMENTS_INVALID', `${tool} has no parameter '${shortName(name)}'`, { hint: near })
      ignored.push(`'${shortName(name)}'`)
    }
  }
  if (ignored.length === 0) return { args }
  const named = listText(ignored.slice(0, MAX_NAMED), ignored.length - MAX_NAMED)
  const [what, were] = ignored.length === 1 ? ['The argument', 'was'] : ['The arguments', 'were']
  const takes = listText(Object.keys(properties)) || 'none'
  return { args, note: `${what} ${named} ${were} ignored: ${tool} takes ${takes}.` }
}

/** All that a value may be; none where that is not certain. */
function typesOf({ type, anyOf, oneOf }: ArgumentSchema): string[] {
  if (type !== undefined) return [type].flat()
  const each = itemsOf(anyOf ?? oneOf).map((one) => typesOf(fieldsOf(one)))
  return each.every((types) => types.length > 0) ? each.flat() : []
}

/** Undefined for nothing. What has no certain reading stays as it is, for the check of the tool to refuse. */
function readArgument(value: unknown, given: unknown, resolve: Resolve): unknown {
  const schema = resolve(given)
  const types = typesOf(schema)
  if (value === null) return types.length === 0 || types.includes('null') ? null : undefined
  if (types.length === 0 || types.includes('string')) return value
  if (typeof value !== 'string') return readInside(value, schema, resolve)
  const text = value.trim()
  if (text === '') return undefined
  if (text === 'null') return types.includes('null') ? null : undefined
  for (const type of types) {
    const read = READ[type]?.(text, schema)
    if (read !== undefined) return readInside(read, schema, resolve)
  }
  return value
}

/** A list or an object whose parts are read in the same way. */
function readInside(value: unknown, { items, properties }: ArgumentSchema, resolve: Resolve): unknown {
  const part = (one: unknown, schema: unknown): unknown => readArgument(one, schema, resolve) ?? one
  if (Array.isArray(value)) return items ? value.map((item) => part(item, items)) : value
  if (!isRecord(value) || !isRecord(properties)) return value
  const known = new Map(Object.entries(properties))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, part(one, known.get(name))]))
}

const exact = (value: bigint): number | bigint => (Number.isSafeInteger(Number(value)) ? Number(value) : value)

const BOOLEANS: Record<string, boolean> = { true: true, yes: true, 1: true, false: false, no: false, 0: false }

const READ: Record<string, (text: string, schema: ArgumentSchema) => unknown> = {
  integer: (text) => (/^[+-]?\d{1,4300}(\.0)?$/.test(text) ? exact(BigInt(text.replace(/^\+|\.0$/g, ''))) : undefined),
  number: (text) =>
    READ['integer']!(text, {}) ?? (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined),
  boolean: (text) => BOOLEANS[text.toLowerCase()],
  array: (text, { items }) => {
    const parsed = tryParseExact(text)
    if (Array.isArray(parsed)) return parsed
    // The one item of a list of texts.
    return items?.type === 'string' && !/^[[{"]/.test(text) ? [text] : undefined
  },
  object: (text) => {
    const parsed = tryParseExact(text)
    return isRecord(parsed) ? parsed : undefined
  },
}

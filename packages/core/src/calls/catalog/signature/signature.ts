// Converts a tool's input schema to a Python signature: data to bind a call with, and its text.
// All printed text compiles: a test checks it with `ast.parse` over generated schemas. Pure.
import { flattened, isNever, type Schema } from './json-schema.ts'
import { namedArguments } from './named-arguments.ts'
import { pythonNames } from '../../../util/text/python-name.ts'
import { pythonLiteral } from './python-literal.ts'
import { typeText } from './schema-type.ts'
import { violation } from './violation.ts'
import { isRecord } from '../../../util/json/json.ts'
import { oneLine } from '../../../util/text/server-words.ts'

export interface Parameter {
  /** Name in Python code. */
  name: string
  /** Name as the server writes it. */
  trueName: string
  required: boolean
  schema: unknown
  /** Whether the schema holds whatever the other arguments are. Otherwise only the server can judge a value. */
  isCertain: boolean
  /** The schema's default as a Python literal, or `...` if it is long. */
  default?: string
  /** Value to send when the argument is omitted: the default of a parameter that the schema calls required. */
  fill?: unknown
  /** The server's text, on one line. */
  description: string
}

/** The parameters of a tool: required ones first, otherwise in schema order. Positional arguments use this order. */
export interface Signature {
  parameters: Parameter[]
  /**
   * Whether a call may pass other arguments by keyword. A schema without `additionalProperties` allows them, but its
   * server often ignores them: a misspelt keyword would seem to work. Therefore only a schema is open that says so, or
   * that names no argument at all.
   */
  open: boolean
  /** Whether the schema certainly forbids others, also in a call that is sent as it is. */
  closed: boolean
  /** The document that `$ref`s in the parameters' schemas point into. */
  root: unknown
}

export interface SignatureLimits {
  /** Longest type of a required and of an optional parameter, in characters. */
  requiredType: number
  optionalType: number
  /** Longest type of a parameter with few allowed values. */
  literalType: number
  /** Longest list of parameters, in characters; required ones are always included. */
  total: number
  /** As `total`, for the parameters with few allowed values. */
  totalWithLiterals: number
}

/** For a line among others: enough for the usual call. */
export const SHORT: SignatureLimits = {
  requiredType: 90,
  optionalType: 36,
  literalType: 72,
  total: 174,
  totalWithLiterals: 320,
}
/** For the error about a call, whose writer needs what the call lacks. */
export const ERROR: SignatureLimits = { ...SHORT, total: 320 }
/** For a single tool in detail. */
export const FULL: SignatureLimits = {
  requiredType: 2000,
  optionalType: 2000,
  literalType: 2000,
  total: 20_000,
  totalWithLiterals: 20_000,
}

const DEFAULT_LIMIT = 16
const DESCRIPTION_LIMIT = 1500
/** Few values: the type is at most this long. */
const MAX_FEW_VALUES = 72

/** By schema, which tools of several users have in common. */
const signatures = new WeakMap<object, Signature>()

/** The signature for an input schema. Never fails: an invalid schema accepts any arguments. */
export function signatureOf(inputSchema: unknown): Signature {
  if (!isRecord(inputSchema)) return readSignature(inputSchema)
  let signature = signatures.get(inputSchema)
  if (signature === undefined) signatures.set(inputSchema, (signature = readSignature(inputSchema)))
  return signature
}

function readSignature(inputSchema: unknown): Signature {
  const { properties, required, ...found } = namedArguments(inputSchema)
  const names = pythonNames(properties.keys(), 'arg')
  const parameters: Parameter[] = []
  for (const [trueName, { schema: property, isCertain }] of properties) {
    if (isNever(property)) continue
    const detail = flattened(property, inputSchema)
    const fallback = 'default' in detail ? pythonLiteral(detail['default'], DEFAULT_LIMIT) : undefined
    parameters.push({
      name: names.get(trueName)!,
      trueName,
      // Schema generators often mark parameters with a default as required.
      required: required.has(trueName) && !('default' in detail),
      ...(required.has(trueName) && isAllowedDefault(detail, property, inputSchema) ? { fill: detail['default'] } : {}),
      schema: property,
      isCertain,
      ...('default' in detail ? { default: fallback ?? '...' } : {}),
      description: oneLine(detail['description'], DESCRIPTION_LIMIT),
    })
  }
  const ordered = [...parameters.filter((one) => one.required), ...parameters.filter((one) => !one.required)]
  const open = !found.closed && (found.open || ordered.length === 0)
  return { parameters: ordered, open, closed: found.closed, root: inputSchema }
}

/** A default that the schema itself forbids is not sent when the argument is left out. */
function isAllowedDefault(detail: Schema, schema: unknown, root: unknown): boolean {
  return 'default' in detail && violation(detail['default'], schema, root, 'default') === undefined
}

/**
 * `*, owner: str, body: str = None`: the text between the parentheses. `**more` stands for optional parameters that do
 * not fit, and for an open schema. Parameters with few values come before other optional ones: they often decide what
 * the tool does. An optional parameter without a default is shown with `None`, which a call may pass to omit it.
 * @param first names that are shown before the other optional ones
 */
export function parametersText(signature: Signature, limits: SignatureLimits, first: readonly string[] = []): string {
  const { parameters, open } = signature
  if (parameters.length === 0) return open ? '**arguments' : ''
  const order = (one: Parameter): number =>
    one.required ? 0 : first.includes(one.name) ? 1 : hasFewValues(one, signature.root) ? 2 : 3
  let text = '*'
  let hidden = 0
  const ranked = parameters.map((parameter) => ({ parameter, rank: order(parameter) }))
  for (const { parameter } of ranked.toSorted((a, b) => a.rank - b.rank)) {
    const part = parameterText(parameter, signature.root, limits, text.length)
    if (part === undefined) hidden += 1
    else text += part
  }
  if (hidden === 0 && !open) return text
  const more = `**${freeName('more', parameters)}`
  // A bare `*` must be followed by a parameter.
  return text === '*' ? more : `${text}, ${more}`
}

/** Undefined for an optional parameter that does not fit after `used` characters. */
function parameterText(parameter: Parameter, root: unknown, limits: SignatureLimits, used: number): string | undefined {
  const { name, required, schema } = parameter
  const isLiteral = hasFewValues(parameter, root)
  const total = isLiteral ? limits.totalWithLiterals : limits.total
  const room = total - used
  if (!required && room < 12) return undefined
  const usual = required ? limits.requiredType : Math.min(limits.optionalType, room)
  const type = typeText(schema, root, room <= 0 ? 12 : isLiteral ? limits.literalType : usual)
  const part = `, ${name}: ${type}${required ? '' : ` = ${parameter.default ?? 'None'}`}`
  return !required && part.length > room ? undefined : part
}

/** Whether the parameter allows only a few values that can all be shown. */
function hasFewValues({ schema }: Parameter, root: unknown): boolean {
  const type = typeText(schema, root, MAX_FEW_VALUES)
  return type.startsWith('Literal[') && !type.includes(', ...]')
}

function freeName(wanted: string, parameters: Parameter[]): string {
  const taken = new Set(parameters.map((parameter) => parameter.name))
  let name = wanted
  while (taken.has(name)) name += '_'
  return name
}

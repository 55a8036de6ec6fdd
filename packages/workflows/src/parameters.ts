// A workflow's parameters outside Python: words of a command line, and a client's JSON Schema. Pure.
import { violation } from '@sandbridge/core/calls/catalog'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { WorkflowDetails } from '@sandbridge/memories/saved/saved-tool.ts'
import { didYouMeanText } from '@sandbridge/core/util/text'
import { parseJson } from '@sandbridge/core/util/json/json.ts'

type Parameter = WorkflowDetails['parameters'][number]

interface PropertySchema {
  [key: string]: NonNullable<Parameter['default']> | null
  type?: string | string[]
  enum?: (string | null)[]
  items?: PropertySchema
}

/**
 * Parses `--week 47`, `--week=47`, `--dry` and `--no-dry` into arguments by name. `auto` takes the value from the
 * current time, for parameters with these names: `week` (ISO 8601), `day`, `month`, `year`, `date`. The year
 * beside `--week auto` is that of the week, unless there is a month, too.
 * @param zone of these values; missing: that of this process
 * @throws BridgeError TOOL_ARGUMENTS_INVALID that names the parameter and the allowed values
 */
export function parseArguments(
  words: readonly string[],
  parameters: readonly Parameter[],
  moment = new Date(),
  zone?: string,
): Record<string, unknown> {
  const given: Record<string, unknown> = {}
  const isByWeek = /^--week[=\n]auto$/m.test(words.join('\n')) && parameters.every(({ name }) => name !== 'month')
  for (let at = 0; at < words.length; at += 1) {
    const match = /^--([\p{ID_Start}_][\p{ID_Continue}-]*)(?:=(.*))?$/su.exec(words[at] ?? '')
    if (!match) throw wrong(`'${words[at]}' is not a parameter`, parameters)
    const [, option = '', inline] = match
    // As Python spells it.
    const name = option.normalize('NFKC').replaceAll('-', '_')
    const negated = parameters.find((one) => `no_${one.name}` === name && kindOf(one.type) === 'boolean')
    if (negated && inline === undefined) {
      given[negated.name] = false
      continue
    }
    const parameter = parameters.find((one) => one.name === name)
    if (!parameter) throw wrong(`There is no parameter '${option}'`, parameters, name)
    const next = words[at + 1]
    const isFlag = inline === undefined && kindOf(parameter.type) === 'boolean' && !SWITCH.test(next ?? '')
    if (isFlag) given[parameter.name] = true
    else {
      const text = inline ?? next
      if (text === undefined) throw wrong(`--${option} needs a value`, parameters)
      if (inline === undefined) at += 1
      given[parameter.name] = valueOf(
        (text === 'auto' ? ofMoment(parameter.name, moment, zone, isByWeek) : undefined) ?? text,
        parameter,
      )
    }
  }
  const missing = parameters.find(({ name, required }) => required && !Object.hasOwn(given, name))
  if (missing) throw wrong(`--${missing.name.replaceAll('_', '-')} is missing`, parameters)
  return given
}

/** The JSON Schema of a client's arguments. */
export function inputSchemaOf(parameters: readonly Parameter[]): {
  type: 'object'
  properties: Record<string, PropertySchema>
  required?: string[]
  additionalProperties: false
} {
  const required = parameters.filter((one) => one.required).map(({ name }) => name)
  const properties = parameters.map((one): [string, PropertySchema] => [
    one.name,
    { ...schemaOf(one), ...(one.default !== undefined && { default: one.default }) },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

/**
 * Checks arguments that `readArguments` has read: none is missing, and each has its type.
 * @param title of the workflow
 * @throws BridgeError TOOL_ARGUMENTS_INVALID that names the parameter and what it takes
 */
export function checkArguments(
  given: Readonly<Record<string, unknown>>,
  parameters: readonly Parameter[],
  title: string,
): void {
  const missing = parameters.find(({ name, required }) => required && !Object.hasOwn(given, name))
  const wrongs = Object.entries(given).map(([name, value]) => {
    if (typeof value === 'number' && !Number.isFinite(value)) return `'${name}' of ${title} must be a finite number`
    const schema = schemaOf(parameters.find((one) => one.name === name)!)
    return violation(value, schema, schema, `'${name}' of ${title}`)
  })
  const problem = missing ? `${title} needs '${missing.name}'` : wrongs.find((one) => one !== undefined)
  if (problem === undefined) return
  const names = parameters.map(({ name }) => name).join(', ')
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', problem, { hint: `Parameters: ${names || 'none'}.` })
}

function ofMoment(name: string, moment: Date, timeZone: string | undefined, isByWeek: boolean): string | undefined {
  const pad = (value: number): string => String(value).padStart(2, '0')
  const format = { timeZone, year: 'numeric', month: 'numeric', day: 'numeric' } as const
  const parts = new Intl.DateTimeFormat('en-US', format).formatToParts(moment)
  const [year, month, day] = (['year', 'month', 'day'] as const).map((part) =>
    Number(parts.find(({ type }) => type === part)!.value),
  ) as [number, number, number]
  const week = isoWeek(year, month, day)
  const all: Record<string, string> = {
    week: String(week.number),
    day: String(day),
    month: String(month),
    year: String(isByWeek ? week.year : year),
    date: `${year}-${pad(month)}-${pad(day)}`,
  }
  return Object.hasOwn(all, name) ? all[name] : undefined
}

/** A week belongs to the year of its Thursday (ISO 8601). */
function isoWeek(year: number, month: number, day: number): { number: number; year: number } {
  const DAY_MS = 86_400_000
  const date = Date.UTC(year, month - 1, day)
  const thursday = date + (4 - (new Date(date).getUTCDay() || 7)) * DAY_MS
  const ofThursday = new Date(thursday).getUTCFullYear()
  return { number: Math.floor((thursday - Date.UTC(ofThursday, 0, 1)) / (7 * DAY_MS)) + 1, year: ofThursday }
}

type Kind = keyof typeof READERS

const KINDS: Record<string, Kind> = { int: 'integer', float: 'number', bool: 'boolean', str: 'string' }
const SWITCH = /^(true|false|yes|no|1|0)$/i

/** What a text of each kind is, how it looks, and its value. */
const READERS = {
  integer: ['a whole number', (text: string) => /^[+-]?\d{1,15}$/.test(text), Number],
  number: ['a number', (text: string) => text.trim() !== '' && Number.isFinite(Number(text)), Number],
  boolean: ['true or false', (text: string) => SWITCH.test(text), (text: string) => /^(true|yes|1)$/i.test(text)],
  string: ['a text', () => true, String],
  json: ['JSON', (text: string) => typeof parseJson(text) === 'object', parseJson],
  any: ['anything', () => true, (text: string): unknown => parseJson(text) ?? text],
} as const

function kindOf(type: string): Kind {
  const plain = withoutNone(type)
  if (Object.hasOwn(KINDS, plain)) return KINDS[plain]!
  if (literals(plain)) return 'string'
  const isJson = /^(list|dict|tuple|set|List|Dict|Sequence|Mapping)\b/.test(plain) && !isUnion(plain)
  return isJson ? 'json' : 'any'
}

/** Whether Python expects a float, which JavaScript cannot tell from a whole number. */
export function isFloat({ type }: Parameter): boolean {
  return kindOf(type) === 'number'
}

function withoutNone(type: string): string {
  const optional = /^Optional\[(.*)\]$/.exec(type)
  return (optional?.[1] ?? type).replace(/\s*\|\s*None$/, '').replace(/^None\s*\|\s*/, '')
}

/** Whether a type is one such as `list[int] | dict`. */
function isUnion(type: string): boolean {
  let depth = 0
  for (const char of type) {
    if (char === '[') depth += 1
    else if (char === ']') depth -= 1
    else if (char === '|' && depth === 0) return true
  }
  return false
}

/** The texts of `Literal['a', 'b']`. */
function literals(type: string): string[] | undefined {
  const inner = /^Literal\[(.*)\]$/.exec(type)?.[1]
  if (inner === undefined || !/^('[^'\\]*'|"[^"\\]*")(,\s*('[^'\\]*'|"[^"\\]*"))*$/.test(inner)) return undefined
  return [...inner.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, a, b]) => a ?? b ?? '')
}

function valueOf(text: string, { name, type }: Parameter): unknown {
  const choices = literals(withoutNone(type))
  const [what, fits, read] = READERS[kindOf(type)]
  if (choices ? choices.includes(text) : fits(text)) return read(text)
  const message = `--${name.replaceAll('_', '-')} takes ${choices?.join(', ') ?? what}, not '${text.slice(0, 80)}'`
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', message, { hint: '' })
}

/** Null is also allowed where it is the default, as in `tags: list = None`. */
function schemaOf({ type, default: whenMissing }: Pick<Parameter, 'type' | 'default'>): PropertySchema {
  const plain = withoutNone(type)
  const isNullable = plain !== type || whenMissing === null
  const choices = literals(plain)
  const kind = kindOf(type)
  if (kind === 'any') return {}
  const name = kind === 'json' ? (/^(dict|Dict|Mapping)/.test(plain) ? 'object' : 'array') : kind
  const items = schemaOf({ type: /^(?:list|List|Sequence)\[(.*)\]$/.exec(plain)?.[1] ?? '' })
  return {
    type: isNullable ? [name, 'null'] : name,
    ...(choices && { enum: isNullable ? [...choices, null] : choices }),
    ...(items.type !== undefined && { items }),
  }
}

function wrong(message: string, parameters: readonly Parameter[], name?: string): BridgeError {
  const names = parameters.map((one) => one.name)
  const near = name === undefined ? '' : didYouMeanText(name, names)
  const all = parameters
    .map((one) => `--${one.name.replaceAll('_', '-')}${one.required ? '' : ' (optional)'}`)
    .join(' ')
  return new BridgeError('TOOL_ARGUMENTS_INVALID', message, { hint: near || `Parameters: ${all || 'none'}.` })
}

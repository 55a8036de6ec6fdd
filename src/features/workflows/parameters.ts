// A workflow's parameters outside Python: parses the words of a command line, and makes the JSON Schema for a client.
// Pure.
import { BridgeError } from '../../errors.ts'
import type { WorkflowDetails } from '../../keep/saved/saved-tool.ts'
import { didYouMeanText } from '../../util/text/did-you-mean.ts'
import { parseJson } from '../../util/json/json.ts'

type Parameter = WorkflowDetails['parameters'][number]

interface PropertySchema {
  [key: string]: NonNullable<Parameter['default']> | null
  type?: string | string[]
  enum?: string[]
}

/**
 * Parses `--week 47`, `--week=47`, `--dry` and `--no-dry` into arguments by name. `auto` takes the value from the
 * current time, for parameters with these names: `week` (ISO 8601), `day`, `month`, `year`, `date`.
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
  for (let at = 0; at < words.length; at += 1) {
    const match = /^--([a-zA-Z_][\w-]*)(?:=(.*))?$/s.exec(words[at] ?? '')
    if (!match) throw wrong(`'${words[at]}' is not a parameter`, parameters)
    const [, option = '', inline] = match
    const name = option.replaceAll('-', '_')
    const negated = parameters.find((one) => `no_${one.name}` === name && kindOf(one.type) === 'boolean')
    if (negated && inline === undefined) {
      given[negated.name] = false
      continue
    }
    const parameter = parameters.find((one) => one.name === name)
    if (!parameter) throw wrong(`There is no parameter '${option}'`, parameters, name)
    const next = words[at + 1]
    const isFlag =
      inline === undefined && kindOf(parameter.type) === 'boolean' && !/^(true|false|yes|no|1|0)$/i.test(next ?? '')
    if (isFlag) given[parameter.name] = true
    else {
      const text = inline ?? next
      if (text === undefined) throw wrong(`--${option} needs a value`, parameters)
      if (inline === undefined) at += 1
      given[parameter.name] = valueOf(
        (text === 'auto' ? ofMoment(parameter.name, moment, zone) : undefined) ?? text,
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
    { ...schemaOf(one.type), ...(one.default !== undefined && { default: one.default }) },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

function ofMoment(name: string, moment: Date, timeZone: string | undefined): string | undefined {
  const pad = (value: number): string => String(value).padStart(2, '0')
  const format = { timeZone, year: 'numeric', month: 'numeric', day: 'numeric' } as const
  const parts = new Intl.DateTimeFormat('en-US', format).formatToParts(moment)
  const [year, month, day] = (['year', 'month', 'day'] as const).map((part) =>
    Number(parts.find(({ type }) => type === part)!.value),
  ) as [number, number, number]
  const all: Record<string, string> = {
    week: String(isoWeek(year, month, day)),
    day: String(day),
    month: String(month),
    year: String(year),
    date: `${year}-${pad(month)}-${pad(day)}`,
  }
  return Object.hasOwn(all, name) ? all[name] : undefined
}

/** A week's number is that of its Thursday (ISO 8601). */
function isoWeek(year: number, month: number, day: number): number {
  const DAY_MS = 86_400_000
  const date = Date.UTC(year, month - 1, day)
  const thursday = date + (4 - (new Date(date).getUTCDay() || 7)) * DAY_MS
  return Math.floor((thursday - Date.UTC(new Date(thursday).getUTCFullYear(), 0, 1)) / (7 * DAY_MS)) + 1
}

type Kind = 'integer' | 'number' | 'boolean' | 'string' | 'json' | 'any'

const KINDS: Record<string, Kind> = { int: 'integer', float: 'number', bool: 'boolean', str: 'string' }

function kindOf(type: string): Kind {
  const plain = withoutNone(type)
  if (Object.hasOwn(KINDS, plain)) return KINDS[plain]!
  if (/^(list|dict|tuple|set|List|Dict|Sequence|Mapping)\b/.test(plain)) return 'json'
  return literals(plain) ? 'string' : 'any'
}

function withoutNone(type: string): string {
  const optional = /^Optional\[(.*)\]$/.exec(type)
  return (optional?.[1] ?? type).replace(/\s*\|\s*None$/, '').replace(/^None\s*\|\s*/, '')
}

/** The texts of `Literal['a', 'b']`. */
function literals(type: string): string[] | undefined {
  const inner = /^Literal\[(.*)\]$/.exec(type)?.[1]
  if (inner === undefined || !/^('[^'\\]*'|"[^"\\]*")(,\s*('[^'\\]*'|"[^"\\]*"))*$/.test(inner)) return undefined
  return [...inner.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, a, b]) => a ?? b ?? '')
}

function valueOf(text: string, { name, type }: Parameter): unknown {
  const refuse = (what: string): BridgeError =>
    new BridgeError(
      'TOOL_ARGUMENTS_INVALID',
      `--${name.replaceAll('_', '-')} takes ${what}, not '${text.slice(0, 80)}'`,
      { hint: '' },
    )
  const choices = literals(withoutNone(type))
  if (choices && !choices.includes(text)) throw refuse(choices.join(', '))
  switch (kindOf(type)) {
    case 'integer':
      if (!/^[+-]?\d{1,15}$/.test(text)) throw refuse('a whole number')
      return Number(text)
    case 'number':
      if (text.trim() === '' || !Number.isFinite(Number(text))) throw refuse('a number')
      return Number(text)
    case 'boolean':
      if (!/^(true|false|yes|no|1|0)$/i.test(text)) throw refuse('true or false')
      return /^(true|yes|1)$/i.test(text)
    case 'json': {
      const value = parseJson(text)
      if (typeof value !== 'object') throw refuse('JSON')
      return value
    }
    case 'any':
      return parseJson(text) ?? text
    default:
      return text
  }
}

function schemaOf(type: string): PropertySchema {
  const choices = literals(withoutNone(type))
  if (choices) return { type: 'string', enum: choices }
  const kind = kindOf(type)
  if (kind === 'json') return /^(dict|Dict|Mapping)/.test(withoutNone(type)) ? { type: 'object' } : { type: 'array' }
  return kind === 'any' ? {} : { type: withoutNone(type) === type ? kind : [kind, 'null'] }
}

function wrong(message: string, parameters: readonly Parameter[], name?: string): BridgeError {
  const near =
    name === undefined
      ? ''
      : didYouMeanText(
          name,
          parameters.map((one) => one.name),
        )
  const all = parameters
    .map((one) => `--${one.name.replaceAll('_', '-')}${one.required ? '' : ' (optional)'}`)
    .join(' ')
  return new BridgeError('TOOL_ARGUMENTS_INVALID', message, { hint: near || `Parameters: ${all || 'none'}.` })
}

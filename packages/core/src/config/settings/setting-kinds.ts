// The kinds of settings. Each kind parses the text of an environment variable, and says how the value is written in
// settings.json. A parser returns undefined for invalid text; the caller names the setting and the value.
import { absolutePath } from '../../util/files/absolute-path.ts'

/** What parsing may need besides the text. */
export interface SettingContext {
  home: string
  env: Record<string, string | undefined>
  platform: NodeJS.Platform
  isRoot: boolean
}

/** How a value is written in settings.json, as a JSON Schema. */
export interface JsonForm {
  type: 'boolean' | 'number' | 'integer' | 'string' | 'array' | readonly ['string', 'integer']
  enum?: readonly string[]
  pattern?: string
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  items?: { type: 'string'; enum?: readonly string[] }
  minItems?: number
}

/**
 * One setting, declared once: its variable, its place in settings.json, the documentation and the command
 * `sandbridge config` all follow from this. `allowed` completes the sentence "Allowed: …".
 */
export interface Setting<T> {
  variable: string
  /** Its name in a variable that several settings share: `MCP_BRIDGE_POOL="1 max=8"`. */
  member?: string
  /** Its name in settings.json, where that does not follow from the variable. */
  key?: string
  meaning: string
  /** As a person would write it; shown in the documentation. */
  defaultText: string
  allowed: string
  /** The value when the variable is missing or empty. */
  whenMissing: (context: SettingContext) => T
  parse: (text: string, context: SettingContext) => T | undefined
  /** Tells the user when the text was interpreted as something else than it says. */
  remark?: (text: string, context: SettingContext) => string | undefined
  /** The value may contain a password, so no error and no list may show it. */
  secret?: boolean
  json: JsonForm
  /** Joins the items of a list in settings.json to the text of the variable. */
  separator?: string
  /** Why settings.json cannot have it. */
  onlyVariable?: string
  /** A change of settings.json takes effect in a bridge that runs, with the next cell. */
  isLive?: boolean
}

/** For settings with a parser of their own. */
export const TEXT: JsonForm = { type: 'string' }
export const TEXTS: JsonForm = { type: 'array', items: { type: 'string' }, minItems: 1 }

/** In seconds, for limits. */
export const DAY_S = 86_400

/** The format of a bearer token, for `pattern`. */
export const TOKEN = { allowed: 'at least 16 printable characters without spaces', matches: /^[\x21-\x7e]{16,}$/ }

type Words = Pick<Setting<unknown>, 'variable' | 'member' | 'key' | 'meaning' | 'secret' | 'onlyVariable' | 'isLive'>

/** A setting with its names. */
export interface NamedSetting {
  /** Its path in settings.json, such as `output.tokens`. */
  name: string
  group: string
  key: string
  /** The heading of its group in the documentation. */
  heading: string
  /** Its name in `Settings`. */
  property: string
  setting: Setting<unknown>
}

/** How a setting is written as a variable, and its key in tables. */
export function idOf({ variable, member }: Pick<Setting<unknown>, 'variable' | 'member'>): string {
  return member === undefined ? variable : `${variable}=${member}`
}

export function choice<const T extends string>(
  words: Words,
  choices: readonly T[],
  defaultChoice: NoInfer<T>,
  otherNames: Readonly<Record<string, NoInfer<T>>> = {},
): Setting<T> {
  return {
    ...words,
    defaultText: defaultChoice,
    allowed: choices.join(', '),
    json: { type: 'string', enum: choices },
    whenMissing: () => defaultChoice,
    parse: (text) => {
      const word = text.toLowerCase()
      return choices.find((one) => one === word) ?? (Object.hasOwn(otherNames, word) ? otherNames[word] : undefined)
    },
  }
}

export function flag(words: Words, defaultValue: boolean): Setting<boolean> {
  return {
    ...words,
    defaultText: defaultValue ? '1' : '0',
    allowed: '1, true, yes, on, 0, false, no, off',
    json: { type: 'boolean' },
    whenMissing: () => defaultValue,
    parse: (text) => {
      const word = text.toLowerCase()
      if (['1', 'true', 'yes', 'on'].includes(word)) return true
      return ['0', 'false', 'no', 'off'].includes(word) ? false : undefined
    },
  }
}

/** A duration: seconds in the environment, milliseconds in code. */
export function seconds(words: Words, range: { default: number; min: number; max: number }): Setting<number> {
  return {
    ...words,
    defaultText: String(range.default),
    allowed: `seconds, ${range.min} to ${range.max}`,
    json: { type: 'number', minimum: range.min, maximum: range.max },
    whenMissing: () => range.default * 1000,
    parse: (text) => {
      const value = within(decimal(text), range)
      return value === undefined ? undefined : Math.round(value * 1000)
    },
  }
}

export function wholeNumber(words: Words, range: { default: number; min: number; max: number }): Setting<number> {
  return {
    ...words,
    defaultText: String(range.default),
    allowed: `a whole number, ${range.min} to ${range.max}`,
    json: { type: 'integer', minimum: range.min, maximum: range.max },
    whenMissing: () => range.default,
    parse: (text) => (/^\d{1,9}$/.test(text) ? within(Number(text), range) : undefined),
  }
}

/** A whole number above zero; a value below the minimum is raised to it. */
export function wholeNumberAtLeast(
  words: Words,
  range: { default: number; min: number; max: number },
): Setting<number> {
  const { min, max } = range
  const setting = wholeNumber(words, range)
  const isLess = (text: string): boolean => /^\d{1,9}$/.test(text) && Number(text) > 0 && Number(text) < min
  return {
    ...setting,
    allowed: `a whole number, 1 to ${max}; less than ${min} counts as ${min}`,
    json: { type: 'integer', minimum: 1, maximum: max },
    parse: (text, context) => (isLess(text) ? min : setting.parse(text, context)),
    remark: (text) => (isLess(text) ? `${words.variable}=${text} is too low: ${min} is used.` : undefined),
  }
}

/** A number above zero, possibly with a fraction, or unset. */
export function optionalNumber(words: Words, max: number): Setting<number | undefined> {
  return {
    ...words,
    defaultText: 'no limit',
    allowed: `a number above 0, at most ${max}, such as 1.5`,
    json: { type: 'number', exclusiveMinimum: 0, maximum: max },
    whenMissing: () => undefined,
    parse: (text) => {
      const value = decimal(text)
      return value !== undefined && value > 0 && value <= max ? value : undefined
    },
  }
}

/** A whole number, or no limit. */
export function optionalWholeNumber(words: Words, range: { min: number; max: number }): Setting<number | undefined> {
  const { parse, allowed, json } = wholeNumber(words, { ...range, default: range.min })
  return { ...words, defaultText: 'no limit', allowed, json, whenMissing: () => undefined, parse }
}

const UNITS: Record<string, number> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

/** A size: `512m` or a number of bytes in the environment, bytes in code. */
export function size(words: Words, range: { default: string; min: string }): Setting<number> {
  const minBytes = parseSize(range.min) ?? 0
  return {
    ...words,
    defaultText: range.default,
    allowed: `a size with the suffix k, m or g, at least ${range.min}, such as 512m`,
    json: { type: ['string', 'integer'], pattern: SIZE.source, minimum: minBytes },
    whenMissing: () => parseSize(range.default) ?? minBytes,
    parse: (text) => within(parseSize(text), { min: minBytes, max: Number.MAX_SAFE_INTEGER }),
  }
}

const SIZE = /^(\d{1,12}(?:\.\d{1,6})?)([kKmMgG]?)[iI]?[bB]?$/

function parseSize(text: string): number | undefined {
  const match = SIZE.exec(text)
  if (match === null) return undefined
  return Math.floor(Number(match[1]) * (UNITS[(match[2] ?? '').toLowerCase()] ?? 1))
}

/** A folder or file; `~` and relative paths become absolute. */
export function folder(
  words: Words,
  defaultText: string,
  standard: (context: SettingContext) => string,
): Setting<string> {
  return {
    ...words,
    defaultText,
    allowed: 'a path outside of /proc',
    json: TEXT,
    whenMissing: standard,
    parse: (text, context) => {
      const full = absolutePath(text, context.home)
      // Node retries forever to create a folder there: the file system returns ENOENT, as for a missing parent.
      return /^\/(proc|dev\/fd)(\/|$)/.test(full) ? undefined : full
    },
  }
}

/** Text of a given form, or unset. */
export function pattern<D extends string | undefined>(
  words: Words,
  form: { allowed: string; matches: RegExp; default: D },
): Setting<string | D> {
  return {
    ...words,
    defaultText: form.default ?? 'none',
    allowed: form.allowed,
    json: { type: 'string', pattern: form.matches.source },
    whenMissing: () => form.default,
    parse: (text) => (form.matches.test(text) ? text : undefined),
  }
}

/** A list separated by spaces, or by commas as well; blank entries are dropped. */
export function list(
  words: Words,
  form: { allowed: string; separator: ' ' | ','; matches: RegExp; defaultText?: string },
): Setting<readonly string[]> {
  const { separator } = form
  return {
    ...words,
    defaultText: form.defaultText ?? 'none',
    allowed: form.allowed,
    json: TEXTS,
    separator,
    whenMissing: () => [],
    parse: (text) => {
      const items = text.split(separator === ',' ? /[\s,]+/ : /\s+/).filter((item) => item !== '')
      return items.every((item) => form.matches.test(item)) ? items : undefined
    },
  }
}

function decimal(text: string): number | undefined {
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined
}

function within(value: number | undefined, range: { min: number; max: number }): number | undefined {
  return value !== undefined && value >= range.min && value <= range.max ? value : undefined
}

/** Whether the text is an http or https URL. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** The same without a query or a fragment. */
export function isPlainHttpAddress(text: string): boolean {
  return isHttpUrl(text) && !/[?#]/.test(text)
}

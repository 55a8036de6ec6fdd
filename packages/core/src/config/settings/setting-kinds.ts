// What a setting is, and the kinds of settings. Each kind reads a value as people write it, in a variable or in
// settings.json, and describes with zod what settings.json holds: limits, choices and the JSON Schema follow from that.
import { DECIMAL, secondsOf } from '../../util/duration.ts'
import path from 'node:path'
import * as z from 'zod'
import { isHttpUrl } from '../../util/net/loopback.ts'
import { absolutePath, unquoted } from '../../util/files/absolute-path.ts'

/** What reading a value may need besides it. */
export interface SettingContext {
  home: string
  env: Record<string, string | undefined>
  platform: NodeJS.Platform
  isRoot: boolean
  /** Tells the user that a value is used as something else than it says. */
  remark?: (sentence: string) => void
}

export interface Kind<T> {
  /** Completes the sentence "Allowed: …". */
  allowed: string
  /** As a person would write it; shown in the documentation. */
  defaultText: string
  /** The value when nothing is set. */
  whenMissing: (context: SettingContext) => T
  /** Turns what a person wrote into what settings.json holds: `yes` into true. What it does not know, it leaves. */
  read: (given: unknown) => unknown
  /** Reads the value in settings.json. Created only when needed: a start without settings needs none. */
  type: (context: SettingContext) => z.ZodType<T>
}

interface Marks {
  defaultText?: string
  /** The value may contain a password, so no error and no list may show it. */
  secret?: boolean
  /** Why settings.json cannot have it. */
  onlyVariable?: string
  /** A change of settings.json takes effect in a bridge that runs, with the next cell. */
  isLive?: boolean
  /** Each client of a resident has its own. */
  ofClient?: boolean
}

/** One setting, declared once: the documentation, the schema, the errors and `sandbridge config` follow from it. */
export interface Setting<T> extends Kind<T>, Omit<Marks, 'defaultText'> {
  /** Its place in settings.json, such as `output.tokens`. */
  name: string
  /** Its variable, or its word in one that several settings share: `MCP_BRIDGE_POOL=max`. Its key in tables. */
  variable: string
  meaning: string
}

export function setting<T>(
  name: string,
  variable: string,
  meaning: string,
  kind: Kind<T>,
  marks: Marks = {},
): Setting<T> {
  return { name, variable, meaning, ...kind, ...marks }
}

/** A value is undefined when it is invalid; the caller names the setting and the value. */
export function parse<T>(one: Kind<T>, given: unknown, context: SettingContext): T | undefined {
  const plain = typeof given === 'string' ? unquoted(given) : given
  return plain === '' ? undefined : one.type(context).safeParse(one.read(plain)).data
}

// Without a flag: the schema of settings.json has the same pattern.
const SIZE = new RegExp(`^(${DECIMAL})\\s*([kmgtKMGT]?)(?:[iI]?[bB]?|bytes|(?:ilo|ega|iga|era)bytes?)$`)
const NUMBER = new RegExp(`^${DECIMAL}$`)

const numberOf = (given: unknown): unknown =>
  typeof given === 'string' && NUMBER.test(given) ? Number(given.replace(',', '.')) : given

const YES = ['1', 'true', 'yes', 'on', 'y', 'enabled']
const NO = ['0', 'false', 'no', 'off', 'n', 'disabled']

function switchOf(given: unknown): unknown {
  const word = String(given).toLowerCase()
  return YES.includes(word) ? true : NO.includes(word) ? false : given
}

/** @param otherNames other words for some of the choices */
export function choice<const T extends string>(
  choices: readonly T[],
  standard: NoInfer<T>,
  otherNames: Readonly<Record<string, NoInfer<T>>> = {},
): Kind<T> {
  return {
    defaultText: standard,
    allowed: choices.join(', '),
    whenMissing: () => standard,
    read: (given) => {
      const word = String(given).toLowerCase()
      if (choices.some((one) => one === word)) return word
      if (Object.hasOwn(otherNames, word)) return otherNames[word]
      const isOn = switchOf(given)
      const [name] = choices.filter((one) => (isOn === true ? one === 'on' : isOn === false && one === 'off'))
      return name ?? given
    },
    type: () => z.enum(choices),
  }
}

export function flag(standard: boolean): Kind<boolean> {
  return {
    defaultText: standard ? '1' : '0',
    allowed: '1, true, yes, on, 0, false, no, off',
    whenMissing: () => standard,
    read: switchOf,
    type: () => z.boolean(),
  }
}

interface Range {
  min: number
  max: number
}

/** A duration: seconds in settings.json, milliseconds in code. */
export function seconds({ standard, min, max }: Range & { standard: number }): Kind<number> {
  return {
    defaultText: String(standard),
    allowed: `seconds, ${min} to ${max}, or with a unit, such as 90s or 2m`,
    whenMissing: () => standard * 1000,
    read: secondsOf,
    type: () =>
      z
        .number()
        .min(min)
        .max(max)
        .transform((value) => Math.round(value * 1000)),
  }
}

export function wholeNumber({ standard, min, max }: Range & { standard: number }): Kind<number> {
  return {
    defaultText: String(standard),
    allowed: `a whole number, ${min} to ${max}`,
    whenMissing: () => standard,
    read: numberOf,
    type: () => z.int().min(min).max(max),
  }
}

/** Without a default. */
export function optional<T>(kind: Kind<T>, defaultText = 'no limit'): Kind<T | undefined> {
  return { ...kind, defaultText, whenMissing: () => undefined }
}

/** A number above zero, possibly with a fraction, or unset. */
export function optionalNumber(max: number): Kind<number | undefined> {
  return {
    defaultText: 'no limit',
    allowed: `a number above 0, at most ${max}, such as 1.5`,
    whenMissing: () => undefined,
    read: numberOf,
    type: () => z.number().gt(0).max(max),
  }
}

/** A size: `512m` or a number of bytes in settings.json, bytes in code. */
export function size({ standard, min }: { standard: string; min: string }): Kind<number> {
  const minBytes = bytesOf(min)
  return {
    defaultText: standard,
    allowed: `a size with the suffix k, m or g, at least ${min}, such as 512m`,
    whenMissing: () => bytesOf(standard),
    read: (given) => given,
    type: () =>
      z.union([
        z.int().min(minBytes),
        z
          .string()
          .regex(SIZE)
          .transform(bytesOf)
          .refine((bytes) => bytes >= minBytes),
      ]),
  }
}

function bytesOf(given: string): number {
  const [, number = '', unit = ''] = SIZE.exec(given) ?? []
  return Math.floor(Number(number.replace(',', '.')) * 1024 ** ' kmgt'.indexOf(unit.toLowerCase() || ' '))
}

const textOf = (given: unknown): unknown => (typeof given === 'number' ? String(given) : given)

/** A text, checked and perhaps changed. @param check returns undefined for an invalid text */
export function text<T, D = undefined>(
  allowed: string,
  check: (given: string, context: SettingContext) => T | undefined,
  { defaultText = 'none', whenMissing }: { defaultText?: string; whenMissing?: (context: SettingContext) => D } = {},
): Kind<T | D> {
  return {
    allowed,
    defaultText,
    whenMissing: whenMissing ?? (() => undefined as D),
    read: textOf,
    type: (context) => z.string().transform((given, issues) => check(given, context) ?? invalid(issues, given)),
  }
}

const invalid = (issues: z.RefinementCtx, input: unknown): never => {
  issues.addIssue({ code: 'custom', input })
  return z.NEVER
}

/** A folder or file; `~` and relative paths become absolute. */
export function folder(defaultText: string, standard: (context: SettingContext) => string): Kind<string> {
  return text(
    'a path outside of /proc',
    (given, { home }) => {
      const full = absolutePath(given, home)
      // Another user's folder or a shell's notation, which is not expanded here.
      if (/^(?:~[^/\\]|\$|%|file:)/i.test(given) && full === path.resolve(given)) return undefined
      // Node retries forever to create a folder there: the file system returns ENOENT, as for a missing parent.
      return /^\/(proc|dev\/fd)(\/|$)/.test(full) ? undefined : full
    },
    { defaultText, whenMissing: standard },
  )
}

/** Text that matches an expression, or unset. */
export function pattern(allowed: string, matches: RegExp): Kind<string | undefined> {
  return optional(patternOr('none', allowed, matches), 'none')
}

/** Text that matches an expression. */
export function patternOr(standard: string, allowed: string, matches: RegExp): Kind<string> {
  return {
    allowed,
    defaultText: standard,
    whenMissing: () => standard,
    read: textOf,
    type: () => z.string().regex(matches),
  }
}

/** Words separated by blanks, commas or semicolons, perhaps as JSON; as a list in settings.json. */
export function words(
  allowed: string,
  matches: RegExp | readonly string[],
  separator: RegExp = /[\s,;]+/,
): Kind<readonly string[]> {
  const item = matches instanceof RegExp ? () => z.string().regex(matches) : () => z.enum(matches)
  return {
    allowed,
    defaultText: 'none',
    whenMissing: () => [],
    read: (given) => splitAt(given, separator),
    type: () => z.array(item()).min(1),
  }
}

/** The items of a text or of a list of texts. */
export function splitAt(given: unknown, separator: RegExp): unknown {
  if (typeof given === 'string')
    return given
      .replace(/^\s*\[\s*(["'].*["'])\s*\]\s*$/s, '$1')
      .split(separator)
      .map(unquoted)
      .filter(Boolean)
  return Array.isArray(given) ? given.flatMap((one: unknown) => splitAt(one, separator)) : given
}

/** In seconds, for limits. */
export const DAY_S = 86_400

/** The form of a bearer token. */
export const TOKEN = ['at least 16 printable characters without spaces', /^[\x21-\x7e]{16,}$/] as const

/** An address without a query or a fragment. */
export function isPlainHttpAddress(given: string): boolean {
  return isHttpUrl(given) && !/[?#]/.test(given)
}

// How a call is shown to the person who is to allow it: every argument, those that decide what happens to whom first, and nothing that shows as
// something else than it is. No word of the server is among them. Pure.
import { hash } from 'node:crypto'
import type { Call } from '../../policy/policy.ts'
import { sortedJson } from '../../text/sorted-json.ts'
import { visibleInline } from '../../text/visible.ts'

/** Of one text in an argument. What is longer is shown by its ends, its length and its hash. */
const MAX_TEXT_CHARS = 400
const MAX_VALUES = 200
/** Names of arguments that say where something goes, to whom, and how much. */
const TELLING =
  /url|uri|host|domain|endpoint|server|path|file|dir|folder|dest|target|source|^to$|^cc$|^bcc$|recipient|email|phone|user|account|channel|owner|org|repo|branch|project|table|database|amount|price|total|currency|quantity|count|limit|command|cmd|script|sql|query|force|recursive|permission|role|public/i

/** The lines of one call's arguments. */
export function argumentLines(args: Readonly<Record<string, unknown>>): string[] {
  if (Object.keys(args).length === 0) return ['(no arguments)']
  const values: { path: string; text: string }[] = []
  collect(args, '', values)
  const telling = values.filter(({ path }) => TELLING.test(lastName(path)))
  const others = values.filter((one) => !telling.includes(one))
  const all = [...telling, ...others]
  const shown = all.slice(0, MAX_VALUES).map(({ path, text }) => `${visibleInline(path)}: ${text}`)
  const left = all.slice(MAX_VALUES)
  return left.length === 0 ? shown : [...shown, `and ${left.length} more values, ${hashed(JSON.stringify(left))}`]
}

/** The same on one line. */
export function argumentLine(args: Readonly<Record<string, unknown>>): string {
  return argumentLines(args).join(', ')
}

/** Calls of one tool with arguments of the same names are alike. */
export function shapeOf({ args }: Pick<Call, 'args'>): string {
  return JSON.stringify(Object.keys(args).toSorted())
}

/** What a call is known by when it comes again: all of its arguments. */
export function argumentsHash(args: Readonly<Record<string, unknown>>): string {
  return hash('sha256', sortedJson(args))
}

function collect(value: unknown, path: string, into: { path: string; text: string }[]): void {
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
    for (const [key, inner] of Object.entries(value)) {
      const step = Array.isArray(value) ? `[${key}]` : path === '' ? key : `.${key}`
      collect(inner, path + step, into)
    }
    return
  }
  into.push({ path, text: typeof value === 'string' ? shownText(value) : JSON.stringify(value) })
}

function shownText(text: string): string {
  const quoted = (part: string): string => visibleInline(JSON.stringify(part))
  if (text.length <= MAX_TEXT_CHARS) return quoted(text)
  const half = MAX_TEXT_CHARS / 2
  return `${quoted(text.slice(0, half))} … ${quoted(text.slice(-half))} (${text.length} characters, ${hashed(text)})`
}

function hashed(text: string): string {
  return `SHA-256 ${hash('sha256', text).slice(0, 16)}`
}

function lastName(path: string): string {
  return (
    path
      .replace(/\[\d+\]/g, '')
      .split('.')
      .at(-1) ?? ''
  )
}

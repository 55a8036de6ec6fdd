// Shows a call to the person who decides about it: every argument, those with the most effect first, and no text that displays as something else
// than it is. It contains no text of the server. Pure.
import { hash } from 'node:crypto'
import type { Call } from '../../policy/policy.ts'
import { sortedJson } from '../../text/sorted-json.ts'
import { visibleInline } from '../../text/visible.ts'

/** Per text. Longer texts are shown by their beginning and end, length and hash. */
const MAX_TEXT_CHARS = 400
const MAX_VALUES = 200
/** Arguments that say where something goes, to whom, and how much. */
const TELLING =
  /url|uri|host|domain|endpoint|server|path|file|dir|folder|dest|target|source|^to$|^cc$|^bcc$|recipient|email|phone|user|account|channel|owner|org|repo|branch|project|table|database|amount|price|total|currency|quantity|count|limit|command|cmd|script|sql|query|force|recursive|permission|role|public/i

/** One line per argument of the call. */
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

/** The arguments on one line. */
export function argumentLine(args: Readonly<Record<string, unknown>>): string {
  return argumentLines(args).join(', ')
}

/** Calls of one tool with the same argument names have the same shape. */
export function shapeOf({ args }: Pick<Call, 'args'>): string {
  return JSON.stringify(Object.keys(args).toSorted())
}

/** Identifies a call that is made again, by all its arguments. */
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

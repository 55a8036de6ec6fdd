// Shows a call to the person who decides about it: every argument as a whole, those that say where it goes first, and
// no text that displays as something else than it is. It contains no text of the server. Pure.
import type { Call } from '@sandbridge/core/config/rules'
import { withVisibleBlanks } from '@sandbridge/core/util/text'

/** Longest text that any place shows. Lines are made up to this length: a longer question is not asked. */
export const MAX_SHOWN_CHARS = 500_000
/** Longer names are not read. */
const MAX_NAME_CHARS = 200
/** Arguments that say where something goes, and to whom. */
const PLACE =
  /^(to|cc|bcc|recipients?|urls?|uris?|hosts?|domain|endpoint|paths?|files?|e-?mails?|phone|channels?|account)$/i
/** Arguments that say where, to whom, and how much. */
const TELLING =
  /url|uri|host|domain|endpoint|server|path|file|dir|folder|dest|target|source|recipient|email|phone|user|account|channel|owner|org|repo|branch|project|table|database|amount|price|total|currency|quantity|count|limit|command|cmd|script|sql|query|force|recursive|permission|role|public/i
/** As in indented text. Behind more, a line of a form would hide what follows. */
const MAX_SPACES = 8
/** Other names are quoted, so that a name cannot look like a value or a second argument. */
const PLAIN_NAME = /^[A-Za-z_][\w-]*$/

interface Shown {
  path: string
  /** How soon it is shown: 0 for a place. */
  rank: number
  text: string
}

/** One line per value of the call. */
export function argumentLines(args: Readonly<Record<string, unknown>>): string[] {
  if (Object.keys(args).length === 0) return ['(no arguments)']
  const values: Shown[] = []
  collect(args, { path: '', rank: 2 }, values, MAX_SHOWN_CHARS)
  return values.toSorted((a, b) => a.rank - b.rank).map(({ path, text }) => `${path}: ${text}`)
}

/** The arguments on one line. */
export function argumentLine(args: Readonly<Record<string, unknown>>): string {
  return argumentLines(args).join(', ')
}

/** Whether a name in the arguments is too long to be read. */
export function hasLongName(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => key.length > MAX_NAME_CHARS || hasLongName(inner))
}

/** Calls of one tool with the same argument names have the same shape. */
export function shapeOf({ args }: Pick<Call, 'args'>): string {
  return JSON.stringify(Object.keys(args).toSorted())
}

/** @returns the characters that are left */
function collect(value: unknown, { path, rank }: Omit<Shown, 'text'>, into: Shown[], room: number): number {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    const text = visibleBlanks(JSON.stringify(value))
    into.push({ path, rank, text })
    return room - path.length - text.length
  }
  let left = room
  for (const [key, inner] of Object.entries(value)) {
    if (left < 0) break
    const step = Array.isArray(value)
      ? { path: `${path}[${key}]`, rank }
      : { path: `${path}${path && '.'}${quotedUnless(PLAIN_NAME, key)}`, rank: Math.min(rank, rankOf(key)) }
    left = collect(inner, step, into, left)
  }
  return left
}

/** On one line, without anything that hides text. */
export function visibleBlanks(text: string): string {
  return withVisibleBlanks(text, MAX_SPACES)
}

export function quotedUnless(plain: RegExp, name: string): string {
  return plain.test(name) ? name : visibleBlanks(JSON.stringify(name))
}

function rankOf(name: string): number {
  return PLACE.test(name) ? 0 : TELLING.test(name) ? 1 : 2
}

// The user's own patterns. Some JavaScript expressions take exponential time on some texts; only patterns with bounded
// time are accepted. Pure.
import { BridgeError } from '../../errors.ts'
import type { Recogniser } from './recognisers.ts'

export interface CustomPattern {
  /** Name used in tokens: letters, digits and _. */
  name: string
  /** A regular expression. */
  pattern: string
}

export const MAX_PATTERNS = 50
const MAX_PATTERN_CHARS = 500
/** Upper bound that replaces `*` and `+`. */
const MOST = 64
/** Most ways in which a pattern may match at one position. */
const MAX_WAYS = 256

/**
 * Turns a pattern into a recogniser. Allows literals, classes, groups, alternatives and quantifiers on single
 * characters. A group can only be repeated a fixed number of times; back-references, named groups and look-arounds are
 * refused. This bounds the work at each position of a text.
 * @throws BridgeError CONFIG_INVALID that names the pattern
 */
export function customRecogniser({ name, pattern }: CustomPattern): Recogniser {
  const refuse = (why: string): BridgeError =>
    new BridgeError('CONFIG_INVALID', `The mask pattern '${name.slice(0, 40)}' ${why}.`, {
      hint: 'Write bounds such as {1,16}, and no group with a variable number of repetitions. See docs/masking.md.',
    })
  if (!/^[A-Za-z][A-Za-z0-9_]{0,31}$/.test(name)) throw refuse('has a name that is not letters, digits and _')
  if (pattern.length > MAX_PATTERN_CHARS) throw refuse(`is longer than ${MAX_PATTERN_CHARS} characters`)
  const bounded = boundedSource(pattern, refuse)
  let expression: RegExp
  try {
    expression = new RegExp(bounded, 'gu')
  } catch {
    throw refuse('is not a regular expression')
  }
  const label = name.toUpperCase()
  return {
    label,
    find: (text) =>
      [...text.matchAll(expression)]
        .filter(([match]) => match !== '')
        .map(({ 0: match, index }) => ({ start: index, end: index + match.length, label })),
  }
}

const ATOM = /\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|[^\\]/suy
const QUANTIFIER = /[*+?]\??|\{(\d+)(,?)(\d*)\}\??/y

/** Returns the pattern with bounded quantifiers. */
function boundedSource(pattern: string, refuse: (why: string) => BridgeError): string {
  let ways = 1
  let source = ''
  for (let at = 0; at < pattern.length;) {
    ATOM.lastIndex = at
    const atom = ATOM.exec(pattern)?.[0]
    if (atom === undefined) throw refuse('is not a regular expression')
    if (atom === '(' && pattern[at + 1] === '?' && pattern[at + 2] !== ':')
      throw refuse('has a look-around or a named group')
    if (/^\\[1-9k]/.test(atom)) throw refuse('has a back-reference')
    if (atom === '|') ways *= 2
    at += atom.length
    source += atom
    QUANTIFIER.lastIndex = at
    const quantifier = QUANTIFIER.exec(pattern)
    if (!quantifier || atom === '(' || atom === '|' || (atom === '?' && pattern[at - 2] === '(')) continue
    const { least, most } = rangeOf(quantifier)
    if (most > 1000 || least > most) throw refuse('repeats something too often')
    if (atom === ')' && (least !== most || most > 16)) throw refuse('repeats a group a variable number of times')
    ways *= most - least + 1
    at += quantifier[0].length
    source += `{${least},${most}}`
  }
  if (ways > MAX_WAYS) throw refuse(`can match in ${ways} ways at one place, ${MAX_WAYS} at most`)
  return source
}

function rangeOf([text, low, comma, high]: RegExpExecArray): { least: number; most: number } {
  if (text.startsWith('*')) return { least: 0, most: MOST }
  if (text.startsWith('+')) return { least: 1, most: MOST }
  if (text.startsWith('?')) return { least: 0, most: 1 }
  const least = Number(low)
  return { least, most: comma === '' ? least : high === '' ? least + MOST : Number(high) }
}

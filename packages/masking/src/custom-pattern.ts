// The user's patterns, in bounded time only: some JavaScript expressions take exponential time. Pure.
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Recogniser } from './by-patterns.ts'

export interface CustomPattern {
  /** Name used in tokens: letters, digits and _. */
  name: string
  /** A regular expression. */
  pattern: string
}

export const MAX_PATTERNS = 50
const MAX_PATTERN_CHARS = 500
/** Upper bound that replaces `*` and `+`, except at the end of a pattern. */
const MOST = 64
/** In how many ways a pattern may match at one position, at most. */
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
/** What may follow the last repetition of a pattern, so that nothing can fail after it: see {@link repeated}. */
const END = /(?<closing>\)*)(?:$|(?<other>\|))|(?<edge>\\b|\$)$/y
const QUANTIFIER = /[*+?]\??|\{(\d+)(,?)(\d*)\}\??/y

/** Returns the pattern with bounded quantifiers. */
function boundedSource(pattern: string, refuse: (why: string) => BridgeError): string {
  let ways = 1
  let source = ''
  let depth = 0
  for (let at = 0; at < pattern.length;) {
    ATOM.lastIndex = at
    const atom = ATOM.exec(pattern)?.[0]
    if (atom === undefined) throw refuse('is not a regular expression')
    if (atom === '(' && pattern[at + 1] === '?' && pattern[at + 2] !== ':')
      throw refuse('has a look-around or a named group')
    if (/^\\[1-9k]/.test(atom)) throw refuse('has a back-reference')
    if (atom === '|') ways *= 2
    if (atom === '(') depth += 1
    if (atom === ')') depth -= 1
    at += atom.length
    const before = source
    source += atom
    QUANTIFIER.lastIndex = at
    const quantifier = QUANTIFIER.exec(pattern)
    if (!quantifier || atom === '(' || atom === '|' || (atom === '?' && pattern[at - 2] === '(')) continue
    const { least, most } = rangeOf(quantifier)
    if (most > 1000 || least > most) throw refuse('repeats something too often')
    if (atom === ')' && (least !== most || most > 16)) throw refuse('repeats a group a variable number of times')
    ways *= most - least + 1
    at += quantifier[0].length
    END.lastIndex = at
    const end = isOpen(quantifier) && atom !== ')' ? END.exec(pattern)?.groups : undefined
    const closed = depth - (end?.['closing']?.length ?? 0)
    if (end?.['edge'] && depth === 0) {
      // Longer matches need no edge, because finding one would take quadratic time.
      source = `${before}(?:${atom}{${Math.max(least, MOST)}}${atom}*|${atom}{${least},${most}}${end['edge']})`
      at += end['edge'].length
    } else if (end?.['closing'] !== undefined && closed === 0) source += `{${least}}${atom}*`
    else source += `{${least},${most}}`
  }
  if (ways > MAX_WAYS) throw refuse(`can match in ${ways} ways at one place, ${MAX_WAYS} at most`)
  return source
}

/** Whether a repetition is greedy and has no upper bound of its own. */
function isOpen([text, , comma, high]: RegExpExecArray): boolean {
  return text === '*' || text === '+' || (comma === ',' && high === '' && text.endsWith('}'))
}

function rangeOf([text, low, comma, high]: RegExpExecArray): { least: number; most: number } {
  if (text.startsWith('*')) return { least: 0, most: MOST }
  if (text.startsWith('+')) return { least: 1, most: MOST }
  if (text.startsWith('?')) return { least: 0, most: 1 }
  const least = Number(low)
  return { least, most: comma === '' ? least : high === '' ? least + MOST : Number(high) }
}

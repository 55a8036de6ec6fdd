// Reads what programs write in place of a character: escapes in literals of Python, JSON, JavaScript and bash, percent
// signs of URLs, and entities of HTML. Pure.
import { View } from './view.ts'

/** A text on one level of encoding. */
export interface Level {
  view: View
  /** Quotes around literals of the levels before; missing for the first. */
  outer: ReadonlySet<number> | undefined
  /** Starts and ends of the literals in this text, in turn; known once it was decoded. */
  literals: number[]
}

/**
 * What is read. Outside of literals, a backslash before a letter may be one of a path or of an account; `outside` takes
 * it for an escape, and leaves literals alone. `escapes` reads a content of a literal.
 */
type Reading = 'usual' | 'outside' | 'escapes'

const CODED = /\\|%[0-9A-F]{2}|&[#a-z]|["'](?: \+)?\n/i
const ESCAPE = [
  String.raw`(?<bytes>(?:\\x[0-9A-Fa-f]{2})+)|(?<octal>(?:\\[0-3][0-7]{2})+)|\\(?<letter>[abefnrtv0])`,
  String.raw`\\(?:u(?<four>[0-9A-Fa-f]{4})|u\{(?<braced>[0-9A-Fa-f]{1,6})\}|U(?<eight>[0-9A-Fa-f]{8}))`,
]
const SPELLED = new RegExp(
  [
    // How bash writes a single quote inside of single quotes; how Python and Node go on with a literal in a new line.
    String.raw`'(?:\\'|"'")'`,
    String.raw`(?<joint>["'])(?: \+)?\n[ \t]*(?:b?\k<joint>)`,
    String.raw`[\n"'\x60]`,
    String.raw`(?<backslash>(?<escape>${ESCAPE.join('|')})|\\(?<sign>[^\w\r\n]))`,
    String.raw`(?<percent>(?:%[0-9A-Fa-f]{2})+)`,
    String.raw`&(?:#(?<decimal>\d{1,7})|#[xX](?<hex>[0-9A-Fa-f]{1,6})|(?<entity>[a-z]{2,4}));`,
  ].join('|'),
  'gu',
)
const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }
/** Python's mark of bytes or of a raw string may stand before a quote; a letter before one is an apostrophe's. */
const OPENS = /(?:^|[^\p{L}\p{N}_])[bfru]{0,2}$/iu

export const levelOf = (view: View, outer?: ReadonlySet<number>): Level => ({ view, outer, literals: [] })

/** The next level; undefined if nothing is encoded. */
export function decoded({ view, outer, literals }: Level, reading: Reading = 'usual'): Level | undefined {
  if (!CODED.test(view.text)) return undefined
  const delimiters = new Set<number>()
  let quote = ''
  const next = view.replaced(SPELLED, (match, at) => {
    const { 0: found, index, groups = {} } = match
    if (outer?.has(index)) delimiters.add(at)
    else if (found === '\n') quote = ''
    else if (/^["'`]/.test(found)) {
      if (found.length > 1) return found[0] === quote ? meaningOf(match) : undefined
      if (quote === '' ? OPENS.test(view.text.slice(Math.max(0, index - 3), index)) : found === quote) {
        literals.push(quote === '' ? index + 1 : index)
        quote = quote === '' ? found : ''
        delimiters.add(at)
      }
    } else if (reading === 'escapes') return groups['backslash'] ? meaningOf(match) : undefined
    else if (reading === 'outside') return quote === '' && !groups['octal'] ? meaningOf(match) : undefined
    else return quote !== '' || !groups[outer ? 'backslash' : 'escape'] ? meaningOf(match) : undefined
    return undefined
  })
  return next && levelOf(next, delimiters)
}

/** Whether this stands in a literal. */
export function isInLiteral({ literals }: Level, at: number): boolean {
  let low = 0
  let high = literals.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (literals[middle]! <= at) low = middle + 1
    else high = middle
  }
  return low % 2 === 1
}

/** What the content of a literal stands for. */
export function literalValue(content: string): string {
  return decoded(levelOf(new View(content)), 'escapes')?.view.text ?? content
}

function meaningOf({ 0: whole, groups = {} }: RegExpExecArray): string | undefined {
  const { joint, bytes, octal, percent, four, braced, eight, letter, sign, decimal, hex, entity } = groups
  if (joint !== undefined) return ''
  if (sign !== undefined) return sign
  if (letter !== undefined) return LETTERS[letter] ?? '\0'
  if (octal !== undefined) return textOf(octal.matchAll(/[0-7]{3}/g), 8)
  const twoDigits = bytes ?? percent
  if (twoDigits !== undefined) return textOf(twoDigits.matchAll(/[0-9A-F]{2}/gi), 16)
  if (entity !== undefined) return ENTITIES[entity]
  if (whole.startsWith("'")) return "'"
  const code = decimal === undefined ? Number.parseInt((four ?? braced ?? eight ?? hex)!, 16) : Number(decimal)
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined
}

/** Bytes are a text in UTF-8 if they can be; otherwise each is a character, as in strings of Python. */
function textOf(written: Iterable<RegExpExecArray>, radix: number): string {
  const bytes = Buffer.from(Array.from(written, ([code]) => Number.parseInt(code, radix)))
  const text = bytes.toString('utf8')
  return text.includes('\ufffd') ? bytes.toString('latin1') : text
}

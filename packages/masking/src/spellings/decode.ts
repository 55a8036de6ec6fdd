// Reads escapes in literals of Python, JSON, JavaScript and bash, percent signs of URLs, entities of HTML. Pure.
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

const CODED = /\\|%[0-9A-F]{2}|&[#a-z]|["'](?: \+)?\n|=\?/i
/** Without groups: for each match, an engine of expressions would make an object of them. */
const SPELLED = new RegExp(
  [
    // How bash writes a single quote inside of single quotes; how Python and Node go on with a literal in a new line.
    String.raw`'(?:\\'|"'")'|'(?: \+)?\n[ \t]*b?'|"(?: \+)?\n[ \t]*b?"`,
    // How YAML goes on with a literal.
    String.raw`\\\r?\n[ \t]*`,
    String.raw`[\n"'\x60]`,
    String.raw`(?:\\x[0-9A-Fa-f]{2})+|(?:\\[0-3][0-7]{2})+|\\u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]{1,6}\}|\\U[0-9A-Fa-f]{8}`,
    String.raw`\\[abefnrtv0]|\\[^a-zA-Z0-9\r\n]`,
    // Words of a header of mail.
    String.raw`=\?[\w-]{1,30}\?[BbQq]\?[^?\s]{1,999}\?=(?:\s{1,9}=\?[\w-]{1,30}\?[BbQq]\?[^?\s]{1,999}\?=){0,99}`,
    String.raw`(?:%[0-9A-Fa-f]{2})+|&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[a-z]{2,6});`,
  ].join('|'),
  'gu',
)
const UTF8 = /^(?:\\3[0-7]{2}(?:\\2[0-7]{2}){1,3})+$/
const MAIL_WORD = /\s*=\?[\w-]+\?([BQ])\?(\S+?)\?=/gi
/** Others after a backslash stand for themselves; Markdown and LaTeX write `\\_`. */
const LETTER = /[a-z0-9]/i
const BACKSLASH = '\\'
/** In place of other control characters. */
const OTHER = '\x01'
const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0' }
const ENTITIES: Readonly<Record<string, string>> = Object.fromEntries(
  'amp& lt< gt> quot" apos\' nbsp\u00a0 commat@ period. plus+ hyphen- dash- lowbar_ colon: sol/'
    .split(' ')
    .map((entity) => [entity.slice(0, -1), entity.slice(-1)]),
)
/** Python's mark of bytes or of a raw string may stand before a quote; a letter before one is an apostrophe's. */
const OPENS = /(?:^|[^\p{L}\p{N}_])[bfru]{0,2}$/iu

export const levelOf = (view: View, outer?: ReadonlySet<number>): Level => ({ view, outer, literals: [] })

/** The next level; undefined if nothing is encoded. */
export function decoded({ view, outer, literals }: Level, reading: Reading = 'usual'): Level | undefined {
  if (!CODED.test(view.text)) return undefined
  const delimiters = new Set<number>()
  let quote = ''
  const next = view.replaced(SPELLED, (found, index, at) => {
    const first = found[0]!
    if (first === BACKSLASH && found.includes('\n')) return quote === '' ? undefined : ''
    if (first === BACKSLASH) {
      const isEscape = LETTER.test(found[1]!)
      if (reading === 'usual' ? quote === '' && (outer || isEscape) : reading === 'outside' && quote !== '')
        return undefined
      // Paths have digits after a backslash, too, but hardly those of a character in UTF-8.
      return reading === 'outside' && /^\\[0-3]./.test(found) && !UTF8.test(found) ? undefined : meaningOf(found)
    }
    if (first === '%' || first === '&' || first === '=')
      return reading === 'escapes' || (reading === 'outside' && quote !== '') ? undefined : meaningOf(found)
    if (outer?.has(index)) delimiters.add(at)
    else if (first === '\n') quote = ''
    else if (found.length > 1) return first === quote ? meaningOf(found) : undefined
    else if (quote === '' ? OPENS.test(view.text.slice(Math.max(0, index - 3), index)) : found === quote) {
      literals.push(quote === '' ? index + 1 : index)
      quote = quote === '' ? found : ''
      delimiters.add(at)
    }
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

function meaningOf(found: string): string | undefined {
  const [first, second] = found as unknown as [string, string]
  if (first === '"' || first === "'") return found.includes('\n') ? '' : "'"
  if (first === '=') return found.replaceAll(MAIL_WORD, (_, coding, word) => mailWord(coding, word))
  if (first === '%' || (first === BACKSLASH && second === 'x')) return textOf(found.match(/[0-9A-F]{2}/gi)!, 16)
  if (first === BACKSLASH) {
    if (found.length > 2 && /\d/.test(second)) return textOf(found.match(/[0-7]{3}/g)!, 8)
    if (found.length === 2) return LETTER.test(second) ? (LETTERS[second] ?? OTHER) : second
    return characterOf(Number.parseInt(found.replaceAll(/[^0-9A-Fa-f]/g, ''), 16))
  }
  if (second !== '#') return ENTITIES[found.slice(1, -1)]
  const isHex = /x/i.test(found[2]!)
  return characterOf(Number.parseInt(found.slice(isHex ? 3 : 2, -1), isHex ? 16 : 10))
}

function mailWord(coding: string, word: string): string {
  if (/b/i.test(coding)) return readBytes(Buffer.from(word, 'base64'))
  return word.replaceAll('_', ' ').replaceAll(/(?:=[0-9A-F]{2})+/gi, quotedText)
}

/**
 * What certain programs write, and what is read so only to look for known values: the lines of mail, of comments and of
 * `cat -n`; escapes of escapes; the bytes of quoted-printable, of `sed l` and `ls -b`, of `cat -v`; of Python's
 * `namereplace`; of JavaScript's `escape`.
 */
export const LOOSE = new RegExp(
  [
    String.raw`[=\\]?\r?\n(?:[ \t]*(?:\/\/|[*#>|%;-]{1,2}|\d{1,6}[:.)]?)[ \t])?`,
    String.raw`(?:\\{2,16}x[0-9A-Fa-f]{2})+|\\{2,16}u[0-9A-Fa-f]{4}`,
    String.raw`(?:=[0-9A-F]{2})+|(?:\\[0-3][0-7]{2})+|(?:M-(?:\^[?-_]|[ -~]))+|\\N\{[A-Z\d -]{2,99}\}|%u[0-9A-F]{4}`,
  ].join('|'),
  'g',
)

export function looseText(written: string): string {
  if (written.includes('\n')) return ''
  if (written.startsWith('=')) return quotedText(written)
  if (written.startsWith('M-'))
    return readBytes(Buffer.from(written.match(/M-(?:\^.|.)/g)!.map((one) => shiftedByte(one.slice(2)))))
  if (written.startsWith('\\\\')) return meaningOf(written.replaceAll(/\\+/g, BACKSLASH)) ?? written
  const { kind, letter, code } = NAMED.exec(written)?.groups ?? {}
  if (letter !== undefined) return kind === 'SMALL' ? letter.toLowerCase() : letter
  return meaningOf(code === undefined ? written : `\\u{${code}}`) ?? written
}

/** The letter of a name without its marks, or the number of a character. */
const NAMED = /(?<kind>SMALL|CAPITAL) LETTER (?<letter>[A-Z])\b|(?:IDEOGRAPH-|%u)(?<code>[0-9A-F]{4,5})/

/** A byte above 127 as `cat -v` shows it: what the byte without its highest bit looks like. */
const shiftedByte = (shown: string): number =>
  0x80 | (shown.length > 1 ? shown.charCodeAt(1) ^ 0x40 : shown.charCodeAt(0))

/** What quoted-printable writes as `=C3=A9`. */
const quotedText = (written: string): string => textOf(written.match(/[0-9A-F]{2}/gi) ?? [], 16)

/** A half of a pair stays one: the other one follows. */
const characterOf = (code: number): string | undefined => (code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined)

/** Bytes are a text in UTF-8 if they can be; otherwise each is a character, as in strings of Python. */
const textOf = (written: readonly string[], radix: number): string =>
  readBytes(Buffer.from(written.map((code) => Number.parseInt(code, radix))))

function readBytes(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return text.includes('\ufffd') ? bytes.toString('latin1') : text
}

// What a text says in its encodings: URL encoding, quoted-printable, escapes of JSON, Python and HTML, base64,
// hexadecimal digits, and numbers with an exponent or with zeros before them; and without tags and invisible
// characters, which can stand in a word. Pure.

/** Encodings in encodings that are followed. */
const MAX_DEPTH = 3
/** Decoders that can change what stands around an encoding, so that each text is read with and without them. */
const QUOTED_PRINTABLE = 1
const ESCAPES = 2
const TAGS = 4
const ALL_OPTIONAL = QUOTED_PRINTABLE | ESCAPES | TAGS
/** Longer texts are not decoded as a whole; `isPartial` says so. */
const MAX_CHARS = 4 << 20
/** In a text; shorter where it is the whole of it. */
const BASE64_RUN = /[A-Za-z0-9+/_-]{16,}={0,2}|^\s*[A-Za-z0-9+/_-]{8,}={0,2}\s*$/g
const HEX_RUN = /(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}){8,}(?![0-9A-Fa-f])/g
const MIN_BYTES = 6
/** As programs write large numbers: with a point or a plus, which identifiers have not. */
const EXPONENT = /(?<![\w.])(\d)(?:\.(\d+)e\+?|e\+)(\d{1,2})(?!\w|\.\d)/gi
/** As in the numbers of accounts, where a cell that reads them with `int` loses the zeros. Shorter ones say nothing. */
const PADDED = /(?<![\w.])0+(?=[1-9]\d{5})/g
const INVISIBLE = /\p{Cf}+/gu
/** Mail in quoted-printable. Without such a sign, `?id=12` would be read so. */
const QUOTED = /quoted-printable|=\r?\n/i
/** Of JSON, and of what Python prints. */
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|U([0-9A-Fa-f]{8})|([nrtbf"'\\/]))/g
const TAG = /<[^<>]{0,1000}>/g
// oxlint-disable-next-line no-control-regex
const NOT_TEXT = /[\0-\x08\x0E-\x1F\uFFFD]/
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

export interface Readings {
  /** The text itself first. */
  texts: string[]
  /** Whether parts could not be read: binary data, or more than is decoded. */
  isPartial: boolean
}

export function readingsOf(text: string): Readings {
  if (!mayBeEncoded(text)) return { texts: [text], isPartial: false }
  const found = { texts: new Set([text]), isPartial: false }
  decode(text, found, 0)
  return { texts: [...found.texts], isPartial: found.isPartial }
}

interface Found {
  texts: Set<string>
  isPartial: boolean
}

const MAY_BE_ENCODED =
  /[%\\&<]|\d(?:\.\d+e|e\+)|(?<![\w.])0+[1-9]\d{5}|=[\r\n]|quoted-printable|\p{Cf}|[A-Za-z0-9+/_-]{16}|^\s*[A-Za-z0-9+/_-]{8,}={0,2}\s*$/iu
const MIN_RUN = 16
const EQUALS = 61
const PLUS = 43
const LETTER_E = 101
const ZERO = 48
const IN_RUN = 1
const SIGN = 2
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCodePoint(code)
  return /[A-Za-z0-9+/_-]/.test(char) ? IN_RUN : /[%\\&<]/.test(char) ? SIGN : 0
})

/** Every text is asked for this, and few are: the expression is for those that one look does not rule out. */
function mayBeEncoded(text: string): boolean {
  let run = 0
  let runs = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    const type = code < 128 ? ASCII[code] : SIGN
    if (
      type === SIGN ||
      code === EQUALS ||
      run === MIN_RUN ||
      ((code | 32) === LETTER_E && isExponent(text, at)) ||
      (code === ZERO && isPadding(text, at))
    )
      return MAY_BE_ENCODED.test(text)
    if (type === IN_RUN && run === 0) runs += 1
    run = type === IN_RUN ? run + 1 : 0
  }
  return (runs === 1 || run === MIN_RUN) && MAY_BE_ENCODED.test(text)
}

function decode(text: string, found: Found, depth: number): void {
  if (text.length > MAX_CHARS) {
    found.isPartial = true
    return
  }
  const readings = new Set([text])
  for (const decoder of DECODERS) readings.add(decoder(text))
  for (let optional = 0; optional <= ALL_OPTIONAL; optional += 1) addCombined(text, optional, readings)
  for (const reading of readings) found.texts.add(reading)
  for (const reading of readings)
    for (const inner of innerTexts(reading, found)) {
      if (found.texts.has(inner)) continue
      found.texts.add(inner)
      if (depth + 1 < MAX_DEPTH && mayBeEncoded(inner)) decode(inner, found, depth + 1)
    }
}

/**
 * Adds what a text is when decoders are applied together, again and again. What they change in a result without need,
 * they change in its copy as well, so that both stay the same. A reading for each sequence of decoders would make more
 * than a hundred of a text that begins with one of each encoding.
 */
function addCombined(text: string, optional: number, readings: Set<string>): void {
  let last = text
  // The sign of it is gone after the first time.
  let isQuoted = false
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    isQuoted ||= (optional & QUOTED_PRINTABLE) > 0 && QUOTED.test(last)
    let next = isQuoted ? unquoted(last) : last
    // First: an address in angle brackets is none before it is decoded.
    if (optional & TAGS) next = withoutTags(next)
    next = withoutPercent(next.replaceAll(INVISIBLE, ''))
    if (optional & ESCAPES) next = withoutEscapes(next)
    next = withoutEntities(next)
    next = withPlainNumbers(next)
    if (next === last) return
    readings.add(next)
    last = next
  }
}

const withoutPercent = (text: string): string =>
  text.includes('%') ? text.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, percentDecoded) : text

const unquoted = (text: string): string =>
  text.replaceAll(/=\r?\n/g, '').replaceAll(/(?:=[0-9A-Fa-f]{2})+/g, percentDecoded)

const withoutEscapes = (text: string): string => (text.includes('\\') ? text.replaceAll(ESCAPE, unescaped) : text)

const withoutEntities = (text: string): string =>
  text.includes('&') ? text.replaceAll(/&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([a-z]{2,4}));/g, entity) : text

const withoutTags = (text: string): string => (text.includes('<') ? text.replaceAll(TAG, '') : text)

const withPlainNumbers = (text: string): string => text.replaceAll(EXPONENT, withoutExponent).replaceAll(PADDED, '')

const DECODERS = [
  withoutPercent,
  (text: string): string => (QUOTED.test(text) ? unquoted(text) : text),
  withoutEscapes,
  withoutEntities,
  withoutTags,
  (text: string): string => withPlainNumbers(text.replaceAll(INVISIBLE, '')),
]

/** The texts that a text has in base64 and in hexadecimal digits. */
function* innerTexts(text: string, found: Found): Generator<string> {
  // Mail has its base64 in lines.
  const joined = /^[A-Za-z0-9+/_-]{16,}[\r\n]/m.test(text) ? text.replaceAll(/[\r\n]+/g, '') : text
  for (const [run] of joined.matchAll(BASE64_RUN)) {
    const decoded = textOf(Buffer.from(run, 'base64'))
    if (decoded !== undefined) yield decoded
    else if (run.length > 256) found.isPartial = true
  }
  for (const [run] of text.matchAll(HEX_RUN)) {
    const decoded = textOf(Buffer.from(run, 'hex'))
    if (decoded !== undefined) yield decoded
  }
}

/** Whether this, an E, stands between a number and what may be its exponent. */
function isExponent(text: string, at: number): boolean {
  let before = at - 1
  while (isDigit(text.charCodeAt(before))) before -= 1
  if (before === at - 1) return false
  return text.charCodeAt(at + 1) === PLUS || (text[before] === '.' && isDigit(text.charCodeAt(at + 1)))
}

/** Whether this, a zero, begins what may be a number of {@link PADDED}. */
function isPadding(text: string, at: number): boolean {
  if (isDigit(text.charCodeAt(at - 1))) return false
  let first = at + 1
  while (text.charCodeAt(first) === ZERO) first += 1
  let end = first
  while (end < first + 6 && isDigit(text.charCodeAt(end))) end += 1
  return end === first + 6
}

export const isDigit = (code: number): boolean => code >= 48 && code <= 57

function withoutExponent(_: string, first: string, rest: string | undefined, exponent: string): string {
  const digits = (rest ?? '').padEnd(Number(exponent), '0')
  const point = Number(exponent)
  return first + digits.slice(0, point) + (digits.length > point ? `.${digits.slice(point)}` : '')
}

function textOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8')
  return bytes.length < MIN_BYTES || NOT_TEXT.test(text) ? undefined : text
}

function percentDecoded(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('=', '%'))
  } catch {
    return encoded
  }
}

function unescaped(whole: string, four?: string, two?: string, eight?: string, letter?: string): string {
  if (letter !== undefined) return /[nrtbf]/.test(letter) ? '\n' : letter
  return characterOf(Number.parseInt((four ?? two ?? eight)!, 16), whole)
}

function entity(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name] ?? whole
  const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)
  return characterOf(code, whole)
}

function characterOf(code: number, encoded: string): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : encoded
}

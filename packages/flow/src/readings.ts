// A text as it is, and in its plain form: without URL encoding, escapes of JSON, Python and HTML, and invisible
// characters, and with numbers written out. What is in another dress counts as unknown, and that is no server's loss.
// Pure.

/** Forms in forms that are followed. */
const MAX_DEPTH = 3
/** A longer text is read as it is. */
const MAX_CHARS = 4 << 20
/** As programs write large numbers: with a point or a plus, which identifiers have not. */
const EXPONENT = /(?<![\w.])(\d)(?:\.(\d+)e\+?|e\+)(\d{1,2})(?!\w|\.\d)/gi
/** As in the numbers of accounts, where a cell that reads them with `int` loses the zeros. Shorter ones say nothing. */
const PADDED = /(?<![\w.])0+(?=[1-9]\d{5})/g
const INVISIBLE = /\p{Cf}+/gu
/** Of JSON, and of what Python prints. */
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|U([0-9A-Fa-f]{8})|([nrtbf"'\\/]))/g
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([a-z]{2,4}));/g
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }
const MAY_HAVE_ANOTHER = /[%\\&]|\d[eE+.]|0\d{6}|\p{Cf}/u

export function readingsOf(text: string): string[] {
  if (text.length > MAX_CHARS || !MAY_HAVE_ANOTHER.test(text)) return [text]
  let plain = text
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const before = plain
    plain = plain
      .replaceAll(INVISIBLE, '')
      .replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, percentDecoded)
      .replaceAll(ESCAPE, unescaped)
      .replaceAll(ENTITY, entity)
      .replaceAll(EXPONENT, withoutExponent)
      .replaceAll(PADDED, '')
    if (plain === before) break
  }
  return plain === text ? [text] : [text, plain]
}

function withoutExponent(_: string, first: string, rest: string | undefined, exponent: string): string {
  const digits = (rest ?? '').padEnd(Number(exponent), '0')
  const point = Number(exponent)
  return first + digits.slice(0, point) + (digits.length > point ? `.${digits.slice(point)}` : '')
}

function percentDecoded(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
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

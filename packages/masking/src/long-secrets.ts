// Finds secrets of any length: private keys and JSON web tokens. Pure.
// A single expression would scan the rest of a hostile text again from each place that looks like a beginning.

/** A range of a text. */
interface Place {
  start: number
  end: number
}

const KEY_LINE = /-----(BEGIN|END) [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----/g
/** The beginning of a key whose end was cut off: headers, which may have hyphens, then text without them. */
const CUT_KEY = /^(?:\r?\n[ \t]{0,40}[A-Za-z][A-Za-z-]{0,39}: [^\r\n]{0,1000}){0,20}[^-]*/

/** Private keys in the formats of PEM and PGP, with all that stands between their first and last lines. */
export function privateKeys(text: string): Place[] {
  const places: Place[] = []
  let begun: RegExpExecArray | undefined
  const cutAt = (end: number): void => {
    if (!begun) return
    const body = begun.index + begun[0].length
    places.push({ start: begun.index, end: body + CUT_KEY.exec(text.slice(body, end))![0].length })
  }
  for (const line of text.matchAll(KEY_LINE)) {
    if (line[1] === 'BEGIN') {
      cutAt(line.index)
      begun = line
    } else if (begun) {
      places.push({ start: begun.index, end: line.index + line[0].length })
      begun = undefined
    }
  }
  cutAt(text.length)
  return places
}

/**
 * Parts have 10 characters or more; the end may be cut off behind a readable second part. For `{10,}`, the engine of
 * expressions would need a stack as long as the text.
 */
const WEB_TOKEN = /eyJ[\w-]{10}[\w-]*\.(?:[\w-]{10}[\w-]*\.[\w-]{10}[\w-]*|eyJ[\w-]{10}[\w-]*(?:\.[\w-]+)?)/y
const WORD = /[\w-]*/y

/** JSON web tokens. */
export function webTokens(text: string): Place[] {
  const places: Place[] = []
  let from = 0
  for (const { index: start } of text.matchAll(/\beyJ/g)) {
    if (start < from) continue
    WEB_TOKEN.lastIndex = start
    const length = WEB_TOKEN.exec(text)?.[0].length
    WORD.lastIndex = start
    // Where one fails, those that begin later in the same word do.
    from = start + (length ?? WORD.exec(text)![0].length)
    if (length !== undefined) places.push({ start, end: from })
  }
  return places
}

// Brackets and strings of JSON that does not parse as a whole: each function looks at each character once. Pure.

const BACKSLASH = 0x5c
const QUOTE = 0x22

/** Follows an object or list over one or more pieces of text. */
export class BracketState {
  #depth = 0
  #isInString = false

  /** @returns where the outermost object or list ends; undefined when it goes on behind the piece */
  push(piece: string, start = 0): number | undefined {
    let depth = this.#depth
    let isInString = this.#isInString
    for (let at = start; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at)
      if (code === QUOTE) isInString = !isInString
      else if (isInString) at += code === BACKSLASH ? 1 : 0
      else if (code === 0x7b || code === 0x5b) depth += 1
      else if ((code === 0x7d || code === 0x5d) && --depth <= 0) return at + 1
    }
    this.#depth = depth
    this.#isInString = isInString
    return undefined
  }
}

/** Writes control characters inside of strings as escapes, which JSON requires: what they mean is certain. */
export function escapeInStrings(text: string): string {
  let written = ''
  let from = 0
  let isInString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isInString = !isInString
    else if (code === BACKSLASH && isInString) at += 1
    else if (code < 0x20 && isInString) {
      written += `${text.slice(from, at)}\\u${code.toString(16).padStart(4, '0')}`
      from = at + 1
    }
  }
  return written === '' ? text : written + text.slice(from)
}

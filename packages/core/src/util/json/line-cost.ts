// Estimates the cost of parsing a line with one pass over its bytes. JSON.parse cannot be interrupted: 60 MB of
// brackets block the process for twenty seconds and take a gigabyte. Must not assume that the line is valid JSON. Pure.

/**
 * Most structural characters (`[ ] { } : ,` outside of strings) on a line: a list of a million numbers has that many.
 * The most expensive such line, 262,144 objects with own keys, takes half a second (Node 20).
 */
export const MAX_STRUCTURE = 1 << 20
/** The same where numbers or keys need a reader of our own, which takes eight times as long as the engine's. */
export const MAX_INEXACT_STRUCTURE = 1 << 18
/** The same of a client's message. A cell is one string; a hundred thousand parts keep others waiting. */
export const MAX_MESSAGE_STRUCTURE = 100_000

/** Deepest nesting of lists and objects, which recursive code here and in servers must support. */
export const MAX_NESTING = 1_000

const OPENS = 1
const CLOSES = 2
const SEPARATES = 3
const BEGINS_STRING = 4
const QUOTE = 0x22
const BACKSLASH = 0x5c
const KINDS = new Uint8Array(256)
for (const [characters, kind] of [
  ['[{', OPENS],
  [']}', CLOSES],
  [':,', SEPARATES],
  ['"', BEGINS_STRING],
] as const) {
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind
}

export interface LineCost {
  structure: number
  /** Why the line costs more to parse than a frame may; missing if it does not. */
  tooCostly?: string
}

/** Linear in the line's length. Stops once a limit is exceeded. */
export function lineCost(line: Buffer, maxStructure = MAX_STRUCTURE): LineCost {
  const cost = new JsonCost(maxStructure)
  const tooCostly = cost.push(line)
  return { structure: cost.structure, ...(tooCostly !== undefined && { tooCostly }) }
}

/** True if a part of JSON that begins with a bracket ends with the matching one: it is then a single value. */
export function isOneBracket(part: Buffer): boolean {
  let nesting = 0
  for (let at = 0; at < part.length; at += 1) {
    const kind = KINDS[part[at]!]!
    if (kind === BEGINS_STRING) at = endOfString(part, at + 1, part.length)
    else if (kind === OPENS) nesting += 1
    else if (kind === CLOSES) nesting -= 1
    if (nesting === 0) return at === part.length - 1
  }
  return false
}

/** Computes the cost of data in pieces, which may be cut anywhere, even in a string. */
export class JsonCost {
  /** Structural characters counted so far. */
  structure = 0
  readonly #maxStructure: number
  #nesting = 0
  #isInString = false
  #isEscaped = false

  constructor(maxStructure = MAX_STRUCTURE) {
    this.#maxStructure = maxStructure
  }

  /** @returns why the data so far costs too much; undefined if it does not */
  push(bytes: Buffer, start = 0, end = bytes.length): string | undefined {
    if (start >= end) return undefined
    const max = this.#maxStructure
    let { structure } = this
    let nesting = this.#nesting
    let at = start
    if (this.#isInString) at = this.#skipString(bytes, start + (this.#isEscaped ? 1 : 0), end) + 1
    for (; at < end; at += 1) {
      const kind = KINDS[bytes[at]!]!
      if (kind === 0) continue
      if (kind === BEGINS_STRING) {
        at = this.#skipString(bytes, at + 1, end)
        continue
      }
      structure += 1
      if (kind === OPENS) nesting += 1
      else if (kind === CLOSES) nesting -= 1
      if (structure > max || nesting > MAX_NESTING) break
    }
    this.structure = structure
    this.#nesting = nesting
    if (structure > max) return `more than ${max} of the characters [ ] { } : , outside of strings`
    if (nesting > MAX_NESTING) return `lists and objects nested more than ${MAX_NESTING} deep`
    return undefined
  }

  /** A JSON string does not continue on the next line. */
  endLine(): void {
    this.#isInString = false
  }

  /** Start over with another text. */
  reset(): void {
    this.structure = 0
    this.#nesting = 0
    this.endLine()
  }

  /** @returns the position of the closing quote of the string that continues at `start`, or the end */
  #skipString(bytes: Buffer, start: number, end: number): number {
    const quote = endOfString(bytes, start, end)
    this.#isInString = quote >= end
    this.#isEscaped = this.#isInString && backslashesBefore(bytes, end, start) % 2 === 1
    return quote
  }
}

/** Bytes of a string to check one by one; for longer ones, a native search for the quote is faster. */
const NEAR_BYTES = 64

/** Returns the position of the closing quote of the string that begins at `start`; the end or more if it has none. */
function endOfString(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end) {
    for (const near = Math.min(at + NEAR_BYTES, end); at < near; at += 1) {
      if (bytes[at] === QUOTE) return at
      if (bytes[at] === BACKSLASH) at += 1
    }
    const quote = bytes.indexOf(QUOTE, at)
    if (quote === -1 || quote >= end) return end
    if (backslashesBefore(bytes, quote, at) % 2 === 0) return quote
    at = quote + 1
  }
  return end
}

/** Counts the backslashes directly before `end`, from `start` on. */
function backslashesBefore(bytes: Buffer, end: number, start: number): number {
  let at = end
  while (at > start && bytes[at - 1] === BACKSLASH) at -= 1
  return end - at
}

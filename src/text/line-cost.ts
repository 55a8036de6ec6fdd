// What a line would cost to parse, found out by looking at its bytes once. JSON.parse cannot be interrupted: a line of 60 MB that consists of brackets
// holds up the whole process for twenty seconds and takes a gigabyte. It must not believe that the line is JSON.

/**
 * The most structural characters of RFC 8259 (`[ ] { } : ,` outside of strings) on a line: a list of a million numbers has as many. Measured with Node 20: the
 * dearest line within it, 262,144 objects each with a key of its own, takes half a second; a million numbers take 40 ms.
 */
export const MAX_STRUCTURE = 1 << 20

/** The most lists and objects inside of each other: what is recursive, here and in servers, has to get along with it. */
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
  /** Structural characters, as far as they were counted. */
  structure: number
  /** Why the line costs more to parse than a frame may: what it has too much of. Missing when it does not. */
  tooCostly?: string
}

/** Linear in the line's length, and never looks beyond what is too much. */
export function lineCost(line: Buffer): LineCost {
  const cost = new JsonCost()
  const tooCostly = cost.push(line)
  return { structure: cost.structure, ...(tooCostly !== undefined && { tooCostly }) }
}

/** Whether a part of JSON that begins with a bracket ends with the one that closes it: then it is one value. */
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

/** What `lineCost` finds out, of what comes in pieces: they may be cut anywhere, also in the middle of a string. */
export class JsonCost {
  /** Structural characters, as far as they were counted. */
  structure = 0
  #nesting = 0
  #isInString = false
  #isEscaped = false

  /** @returns why all of it so far costs too much; undefined when it does not */
  push(bytes: Buffer, start = 0, end = bytes.length): string | undefined {
    if (start >= end) return undefined
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
      if (structure > MAX_STRUCTURE || nesting > MAX_NESTING) break
    }
    this.structure = structure
    this.#nesting = nesting
    if (structure > MAX_STRUCTURE) return `more than ${MAX_STRUCTURE} of the characters [ ] { } : , outside of strings`
    if (nesting > MAX_NESTING) return `lists and objects nested more than ${MAX_NESTING} deep`
    return undefined
  }

  /** A string of JSON does not go on in the next line. */
  endLine(): void {
    this.#isInString = false
  }

  /** Go on with another text. */
  reset(): void {
    this.structure = 0
    this.#nesting = 0
    this.endLine()
  }

  /** @returns the position of the closing quote of the string that goes on at `start`, or the end */
  #skipString(bytes: Buffer, start: number, end: number): number {
    const quote = endOfString(bytes, start, end)
    this.#isInString = quote >= end
    this.#isEscaped = this.#isInString && backslashesBefore(bytes, end, start) % 2 === 1
    return quote
  }
}

/** Bytes of a string that are looked at one by one. Most strings end within them; for the others the search for the next quote is a native one. */
const NEAR_BYTES = 64

/** Where the string ends that begins at `start`: the position of its closing quote, or the end or more. */
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

/** How many stand right before `end`, of those from `start` on. */
function backslashesBefore(bytes: Buffer, end: number, start: number): number {
  let at = end
  while (at > start && bytes[at - 1] === BACKSLASH) at -= 1
  return end - at
}

// What a line would cost to parse, found out by looking at its bytes once. JSON.parse stops for nobody: a line of 60 MB that consists of brackets
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
  let structure = 0
  let nesting = 0
  for (let at = 0; at < line.length; at += 1) {
    const kind = KINDS[line[at]!]!
    if (kind === 0) continue
    if (kind === BEGINS_STRING) {
      at = endOfString(line, at + 1)
      continue
    }
    structure += 1
    if (structure > MAX_STRUCTURE)
      return { structure, tooCostly: `more than ${MAX_STRUCTURE} of the characters [ ] { } : , outside of strings` }
    if (kind === OPENS) nesting += 1
    else if (kind === CLOSES) nesting -= 1
    if (nesting > MAX_NESTING) return { structure, tooCostly: `lists and objects nested more than ${MAX_NESTING} deep` }
  }
  return { structure }
}

/** Bytes of a string that are looked at one by one. Most strings end within them; for the others the search for the next quote is a native one. */
const NEAR_BYTES = 64

/** Where the string ends that begins at `start`: the position of its closing quote, or the line's length. */
function endOfString(line: Buffer, start: number): number {
  let at = start
  while (at < line.length) {
    for (const end = Math.min(at + NEAR_BYTES, line.length); at < end; at += 1) {
      if (line[at] === QUOTE) return at
      if (line[at] === BACKSLASH) at += 1
    }
    const quote = line.indexOf(QUOTE, at)
    if (quote === -1) return line.length
    let backslashes = 0
    while (quote - backslashes > at && line[quote - backslashes - 1] === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return quote
    at = quote + 1
  }
  return line.length
}

// Finds secrets that were not written in one piece: over several lines, behind prefixes, or cut off at either end. Pure.
import { REPLACEMENT } from './encoded-secrets.ts'

/** As much of a secret as may show. */
const PIECE = 8
/** A shorter secret, or one that reads like a path or a sentence, has pieces that ordinary text has, too. */
const MIN_LENGTH = 16
const TOKEN = /^(?=.*\d)(?=.*[a-z])[^\s/\\]+$/i

/** All that a piece of one of these secrets can be, and which pairs of characters it can begin with: most places of a text are passed over. */
export class Pieces {
  readonly #pieces = new Set<string>()
  readonly #beginnings = new Uint8Array(1 << 16)

  constructor(secrets: readonly string[]) {
    for (const secret of secrets) {
      if (secret.length < MIN_LENGTH || !TOKEN.test(secret)) continue
      for (let at = 0; at + PIECE <= secret.length; at += 1) {
        this.#pieces.add(secret.slice(at, at + PIECE))
        this.#beginnings[pairAt(secret, at)] = 1
      }
    }
  }

  /** The text with every piece replaced. */
  redact(text: string): string {
    if (this.#pieces.size === 0 || text.length < PIECE) return text
    const hidden = new Uint8Array(text.length)
    const found = [WHITE_SPACE, WHITE_SPACE_AND_PREFIXES].map((left) => this.#hide(text, left, hidden))
    return found.includes(true) ? withoutHidden(text, hidden) : text
  }

  /** Marks what is found once the parts that `leftOut` matches are taken away. @returns whether anything was */
  #hide(text: string, leftOut: RegExp, hidden: Uint8Array): boolean {
    let joined = ''
    const places: number[] = []
    let at = 0
    const keep = (end: number): void => {
      joined += text.slice(at, end)
      for (; at < end; at += 1) places.push(at)
    }
    for (const match of text.matchAll(leftOut)) {
      keep(match.index)
      at = match.index + match[0].length
    }
    keep(text.length)
    let isFound = false
    for (let start = 0; start + PIECE <= joined.length; start += 1) {
      if (!this.#beginnings[pairAt(joined, start)] || !this.#pieces.has(joined.slice(start, start + PIECE))) continue
      isFound = true
      for (let index = start; index < start + PIECE; index += 1) hidden[places[index]!] = 1
    }
    return isFound
  }
}

const WHITE_SPACE = /\s+/g
/** What a logger puts before each line ends in one of these. */
const WHITE_SPACE_AND_PREFIXES = /^[^\n]{0,200}[:\]|>][^\S\n]+|\s+/gm

function pairAt(text: string, index: number): number {
  return ((text.charCodeAt(index) & 0xff) << 8) | (text.charCodeAt(index + 1) & 0xff)
}

function withoutHidden(text: string, hidden: Uint8Array): string {
  let shown = ''
  for (let at = 0; at < text.length;) {
    const isHidden = hidden[at] === 1
    let end = at + 1
    while (end < text.length && (hidden[end] === 1) === isHidden) end += 1
    shown += isHidden ? REPLACEMENT : text.slice(at, end)
    at = end
  }
  return shown
}

// Finds parts of secrets: split over lines, after prefixes, or cut off at either end. Pure.
import { REPLACEMENT } from './encoded-secrets.ts'

/** At most this many characters of a secret may be shown. */
const PIECE = 8
/** Parts of a shorter secret, or of one that looks like a path or a sentence, also occur in ordinary text. */
const MIN_LENGTH = 16
const TOKEN = /^(?=.*\d)(?=.*[a-z])[^\s/\\]+$/i

/** All pieces of these secrets, and the pairs of characters that begin one, to skip most positions quickly. */
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

  redact(text: string): string {
    if (this.#pieces.size === 0 || text.length < PIECE) return text
    const hidden = new Uint8Array(text.length)
    const found = [WHITE_SPACE, WHITE_SPACE_AND_PREFIXES].map((left) => this.#hide(text, left, hidden))
    return found.includes(true) ? withoutHidden(text, hidden) : text
  }

  /** Marks pieces found after removing what `leftOut` matches. @returns whether any was found */
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
/** A logger's line prefix ends with one of these. */
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

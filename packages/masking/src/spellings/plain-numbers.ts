// Other spaces, hyphens and digits than those of ASCII, which a person reads as the same. Pure.
import { asciiDigit } from '@sandbridge/shared/ascii-digit.ts'

/**
 * The blocks that have such characters. An expression with \p takes several times as long, and every output is
 * searched.
 */
const BLOCKS = /[\xA0\u0580-\u2015\u202F-\u205F\u2E17-\u30A0\uA620-\uABFF\uFE31-\uFF19]+/g

/** What is read in place of each UTF-16 unit, as they are met; 0 for unknown. */
const plainOf = new Uint16Array(0x1_00_00)

/**
 * Returns the text with spaces, hyphens and digits of ASCII in place of others. Each character keeps its position, so
 * digits of two UTF-16 units stay as they are.
 */
export function plainNumbers(text: string): string {
  let plain = ''
  let from = 0
  for (const { 0: run, index } of text.matchAll(BLOCKS)) {
    for (let at = index; at < index + run.length; at += 1) {
      const code = text.charCodeAt(at)
      const read = (plainOf[code] ||= readAs(code))
      if (read === code) continue
      plain += text.slice(from, at) + String.fromCharCode(read)
      from = at + 1
    }
  }
  return from === 0 ? text : plain + text.slice(from)
}

function readAs(code: number): number {
  const char = String.fromCharCode(code)
  if (/\p{Zs}/u.test(char)) return 32
  if (/\p{Pd}/u.test(char)) return 45
  return /\p{Nd}/u.test(char) ? asciiDigit(char).charCodeAt(0) : code
}

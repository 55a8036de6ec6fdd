// Finds secrets in text that was encoded with its surroundings: base64, and percent-encoding. Pure.
import { orUndefined } from '../../util/or-undefined.ts'

export const REPLACEMENT = '[redacted]'

/**
 * Texts that occur in the base64 of any text containing this secret. Base64 encodes groups of three bytes, so there is
 * one form for each position of the secret in a group, without the characters it shares with its neighbours. Both
 * alphabets of RFC 4648.
 */
export function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const start = Math.ceil((before * 8) / 6)
    const form = encoded.slice(start, Math.floor(((before + bytes.length) * 8) / 6))
    return [...new Set([form, form.replaceAll('+', '-').replaceAll('/', '_')])]
  })
}

/** Redacts secrets that show after percent-decoding. Decodes, because encoders differ in what they encode. */
export function redactPercentEncoded(text: string, secrets: readonly string[]): string {
  if (!text.includes('%')) return text
  const { decoded, starts } = decode(text)
  const found = secrets.flatMap((secret) => placesOf(secret, decoded)).toSorted((a, b) => a.start - b.start)
  let shown = ''
  let at = 0
  for (const { start, end } of found) {
    // Secrets may contain each other and overlap.
    if (starts[start]! >= at) shown += text.slice(at, starts[start]) + REPLACEMENT
    at = Math.max(at, starts[end]!)
  }
  return shown + text.slice(at)
}

function placesOf(secret: string, text: string): { start: number; end: number }[] {
  const places: { start: number; end: number }[] = []
  for (let start = text.indexOf(secret); start >= 0; start = text.indexOf(secret, start + secret.length)) {
    places.push({ start, end: start + secret.length })
  }
  return places
}

/** `starts` maps each position of the decoded text, including its end, to the original. */
function decode(text: string): { decoded: string; starts: number[] } {
  const starts: number[] = []
  let decoded = ''
  let at = 0
  const add = (char: string, length: number): void => {
    decoded += char
    for (let unit = 0; unit < char.length; unit += 1) starts.push(at)
    at += length
  }
  for (const [run = '', isEncoded] of text.matchAll(/((?:%[0-9a-f]{2})+)|[^%]+|%/gi)) {
    const plain = isEncoded === undefined ? undefined : orUndefined(() => decodeURIComponent(run))
    if (plain === undefined) for (let i = 0; i < run.length; i += 1) add(run[i]!, 1)
    else for (const char of plain) add(char, Buffer.byteLength(char) * 3)
  }
  starts.push(at)
  return { decoded, starts }
}

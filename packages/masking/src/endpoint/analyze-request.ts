// Requests and responses of Presidio Analyzer. One invalid part makes all of a response invalid. Pure.
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import type { Match } from '../by-patterns.ts'

/** Longest text of one request; a longer text is cut at a space. */
const MAX_REQUEST_CHARS = 100_000
const MAX_MATCHES = 20_000
const BETWEEN = '\n\n'
const LABEL = /^[A-Z][A-Z0-9_]{0,31}$/

/** A part of one text, and its position in the request. */
interface Part {
  text: string
  /** Offset in `text`. */
  offset: number
  start: number
  end: number
}

export interface AnalyzeRequest {
  text: string
  parts: Part[]
}

/** Packs the texts into as few requests as possible. */
export function packed(texts: readonly string[]): AnalyzeRequest[] {
  const requests: AnalyzeRequest[] = []
  for (const text of texts) {
    for (let offset = 0; offset < text.length;) {
      const end = cutAt(text, offset)
      const piece = text.slice(offset, end)
      let request = requests.at(-1)
      if (!request || request.text.length + BETWEEN.length + piece.length > MAX_REQUEST_CHARS)
        requests.push((request = { text: '', parts: [] }))
      const start = request.text === '' ? 0 : request.text.length + BETWEEN.length
      request.parts.push({ text, offset, start, end: start + piece.length })
      request.text += `${request.text === '' ? '' : BETWEEN}${piece}`
      offset = end
    }
  }
  return requests
}

/** Returns the end of a piece that starts at `from`: after a line or word if possible. */
function cutAt(text: string, from: number): number {
  const limit = from + MAX_REQUEST_CHARS
  if (text.length <= limit) return text.length
  for (const gap of ['\n', ' ']) {
    const at = text.lastIndexOf(gap, limit - 1)
    if (at > from + MAX_REQUEST_CHARS / 2) return at + 1
  }
  // Never between the two halves of a surrogate pair.
  return /[\ud800-\udbff]/.test(text[limit - 1]!) ? limit - 1 : limit
}

/** Returns the matches of each text; undefined if the answer is invalid. */
export function readMatches(answer: unknown, request: AnalyzeRequest): Map<string, Match[]> | undefined {
  if (!Array.isArray(answer) || answer.length > MAX_MATCHES) return undefined
  const unitAt = unitOffsets(request.text)
  const found = new Map<string, Match[]>()
  for (const entry of answer as unknown[]) {
    if (!isRecord(entry)) return undefined
    const { start, end, entity_type: label } = entry
    if (typeof label !== 'string' || !LABEL.test(label)) return undefined
    if (!Number.isInteger(start) || !Number.isInteger(end)) return undefined
    const [from, to] = [unitAt(start as number), unitAt(end as number)]
    if (from === undefined || to === undefined || from >= to) return undefined
    for (const part of partsWithin(request.parts, from, to)) {
      const matches = found.get(part.text) ?? []
      const place = { start: Math.max(from, part.start), end: Math.min(to, part.end) }
      const shift = part.offset - part.start
      matches.push({ start: place.start + shift, end: place.end + shift, label })
      found.set(part.text, matches)
    }
  }
  return found
}

/** Finds the parts that a match touches, by binary search: there may be many parts and matches. */
function* partsWithin(parts: readonly Part[], from: number, to: number): Generator<Part> {
  let low = 0
  for (let high = parts.length; low < high;) {
    const middle = (low + high) >> 1
    if (parts[middle]!.end > from) high = middle
    else low = middle + 1
  }
  for (let at = low; at < parts.length && parts[at]!.start < to; at += 1) yield parts[at]!
}

/** Python counts code points, JavaScript UTF-16 code units. Returns undefined for an offset outside the text. */
function unitOffsets(text: string): (characters: number) => number | undefined {
  if (!/[\ud800-\udfff]/.test(text)) {
    return (characters) => (characters >= 0 && characters <= text.length ? characters : undefined)
  }
  const offsets: number[] = []
  let unit = 0
  for (const character of text) {
    offsets.push(unit)
    unit += character.length
  }
  offsets.push(unit)
  return (characters) => offsets[characters]
}

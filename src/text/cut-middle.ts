// Text that fits a number of tokens: head and tail stay, and a line between says what is missing. Pure.
import { estimateTokens, fitsTokens, headWithin, tailWithin } from './estimate-tokens.ts'

/** A cut moves to the end of a line when that costs at most this share of the piece. */
const LINE_SHARE = 0.2

/** Writes the line in the place of `text.slice(start, end)`. */
export type GapLine = (start: number, end: number) => string

const SHORT_GAP: GapLine = () => '…'

/** `text` as it is when it costs at most `maxTokens`, else its head and tail. The line between is part of the cost. */
export function cutMiddle(text: string, maxTokens: number, gapLine: GapLine): string {
  if (fitsTokens(text, maxTokens)) return text
  const gapTokens = estimateTokens(gapLine(text.length, text.length)) + 2
  // Where there is hardly room for more than the line, a piece of the text says more.
  if (gapTokens * 3 > maxTokens && gapLine !== SHORT_GAP) return cutMiddle(text, maxTokens, SHORT_GAP)
  const half = Math.floor((maxTokens - gapTokens) / 2)
  const start = lineEndBefore(text, headWithin(text, half))
  const end = lineStartAfter(text, text.length - tailWithin(text, half))
  const head = text.slice(0, start)
  const tail = text.slice(end)
  const lines = [head.replace(/\n$/, ''), gapLine(start, end), tail]
  return lines.filter((line) => line !== '').join('\n')
}

function lineEndBefore(text: string, position: number): number {
  const lineEnd = text.lastIndexOf('\n', position - 1) + 1
  return lineEnd > 0 && position - lineEnd <= position * LINE_SHARE ? lineEnd : betweenCharacters(text, position)
}

function lineStartAfter(text: string, position: number): number {
  const lineEnd = text.indexOf('\n', position) + 1
  const isNear = lineEnd > 0 && lineEnd - position <= (text.length - position) * LINE_SHARE
  return isNear ? lineEnd : betweenCharacters(text, position)
}

/** A position that does not part the two halves of a surrogate pair. */
export function betweenCharacters(text: string, position: number): number {
  const code = text.charCodeAt(position)
  return code >= 0xdc00 && code <= 0xdfff ? position + 1 : position
}

// Cuts text to a number of tokens: keeps its head and tail, with a line between them that describes the gap. Pure.
import { estimateTokens, fitsTokens, headWithin, tailWithin } from './estimate-tokens.ts'

/** A cut moves to a line end if that costs at most this share of the piece. */
const LINE_SHARE = 0.2

/** Returns the line that replaces `text.slice(start, end)`. */
export type GapLine = (start: number, end: number) => string

const SHORT_GAP: GapLine = () => '…'

/** Returns `text` if it costs at most `maxTokens`, else its head and tail. The gap line counts as part of the cost. */
export function cutMiddle(text: string, maxTokens: number, gapLine: GapLine): string {
  if (fitsTokens(text, maxTokens)) return text
  const gapTokens = estimateTokens(gapLine(text.length, text.length)) + 3
  // If little more than the gap line would fit, use a short gap, so that some text fits.
  if (gapTokens * 3 > maxTokens && gapLine !== SHORT_GAP) return cutMiddle(text, maxTokens, SHORT_GAP)
  const half = Math.floor((maxTokens - gapTokens) / 2)
  const start = lineEndBefore(text, headWithin(text, half))
  const end = lineStartAfter(text, text.length - tailWithin(text, half))
  const head = text.slice(0, start)
  // A piece of a line is marked, so that it does not read like a line of its own.
  const tail = (end === 0 || text[end - 1] === '\n' ? '' : '…') + text.slice(end)
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

/** Moves a position out of the middle of a surrogate pair. */
export function betweenCharacters(text: string, position: number): number {
  const code = text.charCodeAt(position)
  return code >= 0xdc00 && code <= 0xdfff ? position + 1 : position
}

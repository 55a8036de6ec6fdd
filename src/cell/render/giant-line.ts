// Shortens a text that is one giant line, such as a printed JSON value or list: its shape and its head tell a reader
// enough. Head and tail, as shown for a log, would repeat each other. Pure.
import { betweenCharacters, type GapLine } from '../../util/tokens/cut-middle.ts'
import { headWithin } from '../../util/tokens/estimate-tokens.ts'
import { literalShape } from './literal-shape.ts'

/** Tokens of the head. */
const MAX_TOKENS = 600
/** The average line is longer than this. */
const GIANT_CHARS = 20_000
/** Limit for finding the shape. */
const MAX_SCANNED_CHARS = 8_000_000

/** The shape, the head, and where the rest is; undefined when the text is not a giant line. */
export function cutGiantLine(text: string, maxTokens: number, gapLine: GapLine): string | undefined {
  const lineCount = text.split('\n', text.length / GIANT_CHARS + 2).length
  if (text.length < GIANT_CHARS || lineCount > text.length / GIANT_CHARS) return undefined
  const shape = text.length > MAX_SCANNED_CHARS ? undefined : literalShape(text)
  // Without a shape, head and tail are as good.
  if (shape === undefined) return undefined
  const end = betweenCharacters(text, headWithin(text, Math.min(MAX_TOKENS, maxTokens)))
  return `${shape.replace(/\s+/g, ' ')}:\n${text.slice(0, end)}\n${gapLine(end, text.length)}`
}

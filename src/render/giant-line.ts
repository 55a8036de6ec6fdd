// A text that is one giant line, as a careless print of JSON or of a list is: what it is made of and its head say all that a reader gets from it. A log is told by
// its head and its tail; here those would be repetition. Pure.
import { betweenCharacters, type GapLine } from '../text/cut-middle.ts'
import { headWithin } from '../text/estimate-tokens.ts'
import { literalShape } from './literal-shape.ts'

/** What is shown of it, in tokens. */
const MAX_TOKENS = 600
/** Lines are longer than this on average. */
const GIANT_CHARS = 20_000
/** Of a text whose shape is told. */
const MAX_SCANNED_CHARS = 8_000_000

/** Its shape, its head, and where the rest is; undefined when the text is not a giant line. */
export function cutGiantLine(text: string, maxTokens: number, gapLine: GapLine): string | undefined {
  const lineCount = text.split('\n', text.length / GIANT_CHARS + 2).length
  if (text.length < GIANT_CHARS || lineCount > text.length / GIANT_CHARS) return undefined
  const shape = text.length > MAX_SCANNED_CHARS ? undefined : literalShape(text)
  // Words and numbers without a form of their own are as well told by their two ends.
  if (shape === undefined) return undefined
  const end = betweenCharacters(text, headWithin(text, Math.min(MAX_TOKENS, maxTokens)))
  return `${shape}:\n${text.slice(0, end)}\n${gapLine(end, text.length)}`
}

// A text that is one giant line, as a careless print of JSON is: what it is made of and its head say all that a reader gets from it. A log is told by
// its head and its tail; here those would be repetition. Pure.
import { betweenCharacters, type GapLine } from '../text/cut-middle.ts'
import { lineCost } from '../protocol/line-cost.ts'
import { headWithin } from '../text/estimate-tokens.ts'

/** What is shown of it, in tokens. */
const MAX_TOKENS = 600
/** Lines are longer than this on average. */
const GIANT_CHARS = 20_000
/** Of a text that is parsed for its shape. */
const MAX_PARSED_CHARS = 8_000_000
const MAX_KEYS = 12
const MAX_KEY_CHARS = 40

/** Its shape, its head, and where the rest is; undefined when the text is no giant line. */
export function cutGiantLine(text: string, maxTokens: number, gapLine: GapLine): string | undefined {
  const lineCount = text.split('\n', text.length / GIANT_CHARS + 2).length
  if (text.length < GIANT_CHARS || lineCount > text.length / GIANT_CHARS) return undefined
  const shape = shapeOf(text)
  // Words and numbers without a form of their own are as well told by their two ends.
  if (shape === undefined) return undefined
  const end = betweenCharacters(text, headWithin(text, Math.min(MAX_TOKENS, maxTokens)))
  return `${shape}:\n${text.slice(0, end)}\n${gapLine(end, text.length)}`
}

/** `list of 50,000 × {id, name, value}`, when the text is JSON. */
function shapeOf(text: string): string | undefined {
  if (text.length > MAX_PARSED_CHARS || !/^\s*[[{]/.test(text)) return undefined
  if (lineCost(Buffer.from(text)).tooCostly !== undefined) return undefined
  try {
    return described(JSON.parse(text), 0)
  } catch {
    return undefined
  }
}

function described(value: unknown, depth: number): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'empty list'
    const item = depth < 2 ? described(value[0], depth + 1) : '…'
    return `list of ${value.length.toLocaleString('en')} × ${item}`
  }
  if (typeof value !== 'object' || value === null) return NAMES.get(typeof value) ?? 'None'
  const keys = Object.keys(value)
  const shown = keys.slice(0, MAX_KEYS).map((key) => {
    const name = key.slice(0, MAX_KEY_CHARS)
    const inner = (value as Record<string, unknown>)[key]
    return depth < 2 && Array.isArray(inner) ? `${name}: ${described(inner, depth + 1)}` : name
  })
  const more = keys.length - shown.length
  return `{${shown.join(', ')}${more > 0 ? `, … ${more.toLocaleString('en')} more keys` : ''}}`
}

const NAMES = new Map([
  ['string', 'str'],
  ['number', 'number'],
  ['boolean', 'bool'],
])

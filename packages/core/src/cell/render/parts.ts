// Splits a cell's result into parts of a text, both the kept and the cut one, so that positions agree. Pure.
import type { CellError, CellResult } from '../cell-result.ts'
import type { MimeBundle } from '../protocol/frames.ts'
import { textOf } from './bundle.ts'
import { cutMiddle, type GapLine, betweenCharacters } from '../../util/tokens/cut-middle.ts'
import { estimateTokens, surelyFit, headWithin } from '../../util/tokens/estimate-tokens.ts'
import { fromOthers, noteText, openingOfNote } from './notice.ts'
import { plainText } from '../../util/text/terminal-text.ts'
import { literalShape } from './literal-shape.ts'

/** A shorter text may be equal by chance. */
const MIN_CHARS = 16
const ESCAPE = /\\(?:([ntr'"\\])|x([\da-f]{2})|u([\da-f]{4})|U((?:000[\da-f]|0010)[\da-f]{4}))/g
const NAMED: Record<string, string> = { n: '\n', t: '\t', r: '\r' }

/** Tokens of the head. */
const MAX_TOKENS = 600
/** The average line is longer than this. */
const GIANT_CHARS = 20_000
/** Limit for finding the shape. */
const MAX_SCANNED_CHARS = 8_000_000

/** Tokens for the shape of a giant line and for the line about its rest. */
const GAP_TOKENS = 150

export interface Part {
  kind: 'stdout' | 'stderr' | 'display' | 'error' | 'value' | 'note'
  text: string
  /** The value itself, if it has a JSON form. */
  json?: unknown
  /** The number of a display. Its text may be empty. */
  display?: number
}

/** `notes` come last and include those of the result. Everything else is text from others. */
export function partsOf(result: CellResult, notes: string[]): Part[] {
  const { stdout, stderr, displays, displayedAt = [], value, error } = result
  const places = displays.map((_, index) => displayedAt[index] ?? stdout.length)
  const printed = [...places, stdout.length].map((end, index) => stdout.slice(places[index - 1] ?? 0, end))
  const shown: (Part | false | undefined)[] = [
    ...printed.flatMap((text, index): Part[] => [
      { kind: 'stdout', text: plainText(text) },
      ...displays.slice(index, index + 1).map(displayPart(index)),
    ]),
    { kind: 'stderr', text: plainText(stderr) },
    // The traceback of an interrupted cell is shown too: it tells where the time went.
    error && { kind: 'error', text: plainText(errorText(error)) },
    value && { kind: 'value', text: textOf(value) ?? '', ...jsonIn(value) },
  ]
  const told = withoutRepeats(
    shown.filter((part): part is Part => !!part && (isShown(part) || part.display !== undefined)),
    plainText(stdout),
  )
  return [...told.map((part) => ({ ...part, text: fromOthers(part.text) })), ...noteParts(notes)]
}

export function noteParts(notes: readonly string[]): Part[] {
  return notes.map((note): Part => ({ kind: 'note', text: noteText(note) })).filter(isShown)
}

const displayPart =
  (display: number) =>
  (bundle: MimeBundle): Part => ({ kind: 'display', text: textOf(bundle) ?? '', ...jsonIn(bundle), display })

const isShown = ({ text }: Part): boolean => text.trim() !== ''

/** Joins the parts as in a terminal, with the bridge's own text as notices. */
export function joinParts(parts: Part[]): string {
  // String concatenation copies nothing: these texts may have many megabytes.
  return parts
    .filter(isShown)
    .map(partText)
    .reduce((text, part) => (text === '' ? part : `${text}\n${part}`), '')
}

/**
 * Cuts the parts to at most `tokens` together. Each part has the same share; what short parts leave goes to long ones.
 * @param gapLine makes the line that replaces `joinParts(parts).slice(start, end)`
 */
export function cutParts(parts: Part[], tokens: number, gapLine: GapLine): Part[] {
  const texts = parts.map(partText)
  if (surelyFit(texts, tokens - texts.length)) return parts
  const costs = texts.map((text) => estimateTokens(text, tokens) + 1)
  const share = fairShare(costs, tokens)
  let position = 0
  return parts.map((part, index) => {
    const start = position + openingOf(part).length
    if (isShown(part)) position += partText(part).length + 1
    if (costs[index]! <= share) return part
    const [whole, room] = [part.text.trimEnd(), Math.max(share, 0)]
    const gap: GapLine = (from, to) => gapLine(start + from, start + to)
    const giant = cutGiantLine(whole, room - GAP_TOKENS, gap)
    const text = giant !== undefined && estimateTokens(giant) <= room ? giant : cutMiddle(whole, room, gap)
    // A cut part no longer represents the value.
    return { kind: part.kind, text, ...(part.display !== undefined && { display: part.display }) }
  })
}

/** The traceback, the values of the failing line, and the hint. */
function errorText({ name, message, traceback, values, hint }: CellError): string {
  const lines = [(traceback || `${name}: ${message}`).trimEnd(), values && `with ${values}`, hint && `Hint: ${hint}`]
  return lines.filter(Boolean).join('\n')
}

/** The largest share of `total` under max-min fairness: small needs are met in full, larger ones share the rest. */
function fairShare(needs: number[], total: number): number {
  let left = total
  let count = needs.length
  for (const need of needs.toSorted((a, b) => a - b)) {
    if (need > left / count) return Math.floor(left / count)
    left -= need
    count -= 1
  }
  return Infinity
}

function partText(part: Part): string {
  return openingOf(part) + part.text.trimEnd() + (part.kind === 'note' ? ']' : '')
}

function openingOf({ kind, text }: Part): string {
  return kind === 'stderr' ? '[stderr]\n' : kind === 'note' ? openingOfNote(text) : ''
}

/** Removes repeats: a text that was printed and is also the value, or that is displayed twice. */
function withoutRepeats(parts: Part[], printed: string): Part[] {
  const seen = new Set<string>()
  return parts.filter(({ kind, text }) => {
    const key = text.trim()
    if (key !== '' && seen.has(key) && (kind === 'value' || kind === 'display')) return false
    seen.add(key)
    return !(kind === 'value' && wasPrintedLast(printed, text))
  })
}

function jsonIn(bundle: Record<string, unknown>): { json?: unknown } {
  const json = bundle['application/json']
  return json === undefined ? {} : { json }
}

// Shortens one giant line, such as printed JSON: head and tail, as for a log, would repeat each other.

/** The shape, the head, and where the rest is; undefined when the text is not a giant line. */
function cutGiantLine(text: string, maxTokens: number, gapLine: GapLine): string | undefined {
  const lineCount = text.split('\n', text.length / GIANT_CHARS + 2).length
  if (text.length < GIANT_CHARS || lineCount > text.length / GIANT_CHARS) return undefined
  const shape = text.length > MAX_SCANNED_CHARS ? undefined : literalShape(text)
  // Without a shape, head and tail are as good.
  if (shape === undefined) return undefined
  const end = betweenCharacters(text, headWithin(text, Math.min(MAX_TOKENS, maxTokens)))
  return `${shape.replace(/\s+/g, ' ')}:\n${text.slice(0, end)}\n${gapLine(end, text.length)}`
}

// Detects that a cell printed its value before it showed it, despite what print does differently.

/** @param value the text that the kernel shows for a value */
export function wasPrintedLast(printed: string, value: string): boolean {
  const end = printed.trimEnd()
  return asPrinted(value).some((text) => text.trim().length >= MIN_CHARS && endsWithLines(end, text.trimEnd()))
}

/** The texts that `print` may have written for it. */
function asPrinted(value: string): string[] {
  const text = value.trimEnd()
  const quote = text.charAt(0)
  // A str is shown as its repr.
  if ((quote === "'" || quote === '"') && text.endsWith(quote)) return [text, plainText(unescaped(text.slice(1, -1)))]
  if (!text.includes('\n')) return [text]
  // A wide container is wrapped, and a data frame is followed by its shape: see wrapping.py and tables.py.
  return [text, text.replace(/,\n +/g, ', '), text.replace(/\n\[\d+ rows × \d+ columns\]$/, '')]
}

function unescaped(repr: string): string {
  return repr.replace(ESCAPE, (_, sign?: string, ...codes: (string | undefined)[]) =>
    sign === undefined ? String.fromCodePoint(parseInt(codes.slice(0, 3).find(Boolean)!, 16)) : (NAMED[sign] ?? sign),
  )
}

function endsWithLines(text: string, end: string): boolean {
  return text.endsWith(end) && (text.length === end.length || text[text.length - end.length - 1] === '\n')
}

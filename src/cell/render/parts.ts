// Splits a cell's result into the parts of a text, in display order, and joins them. Pure.
// The full text that is kept and the cut one that is shown come from the same parts, so positions in one are valid in
// the other.
import type { CellError, CellResult } from '../cell-result.ts'
import { textOf } from './bundle.ts'
import { cutMiddle, type GapLine } from '../../util/tokens/cut-middle.ts'
import { estimateTokens, surelyFit } from '../../util/tokens/estimate-tokens.ts'
import { cutGiantLine } from './giant-line.ts'
import { fromOthers, noteText, openingOfNote } from './notice.ts'
import { wasPrintedLast } from './printed-last.ts'
import { plainText } from '../../util/text/terminal-text.ts'

/** Tokens for the shape of a giant line and for the line about its rest. */
const GAP_TOKENS = 150

export interface Part {
  kind: 'stdout' | 'stderr' | 'display' | 'error' | 'value' | 'note'
  text: string
  /** The value itself, if it has a JSON form. */
  json?: unknown
}

/** `notes` come last and include those of the result. Everything else is text from others. */
export function partsOf(result: CellResult, notes: string[]): Part[] {
  const { stdout, stderr, displays, value, error } = result
  const shown: (Part | false | undefined)[] = [
    { kind: 'stdout', text: plainText(stdout) },
    ...displays.map((bundle): Part => ({ kind: 'display', text: textOf(bundle) ?? '', ...jsonIn(bundle) })),
    { kind: 'stderr', text: plainText(stderr) },
    // The traceback of an interrupted cell is shown too: it tells where the time went.
    error && { kind: 'error', text: plainText(errorText(error)) },
    value && { kind: 'value', text: textOf(value) ?? '', ...jsonIn(value) },
  ]
  const told = withoutRepeats(shown.filter((part): part is Part => !!part && isShown(part)))
  return [...told.map((part) => ({ ...part, text: fromOthers(part.text) })), ...noteParts(notes)]
}

export function noteParts(notes: readonly string[]): Part[] {
  return notes.map((note): Part => ({ kind: 'note', text: noteText(note) })).filter(isShown)
}

const isShown = ({ text }: Part): boolean => text.trim() !== ''

/** Joins the parts as in a terminal, with the bridge's own text as notices. */
export function joinParts(parts: Part[]): string {
  // String concatenation copies nothing: these texts may have many megabytes.
  return parts.map(partText).reduce((text, part) => (text === '' ? part : `${text}\n${part}`), '')
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
    position += partText(part).length + 1
    if (costs[index]! <= share) return part
    const [whole, room] = [part.text.trimEnd(), Math.max(share, 0)]
    const gap: GapLine = (from, to) => gapLine(start + from, start + to)
    const giant = cutGiantLine(whole, room - GAP_TOKENS, gap)
    const text = giant !== undefined && estimateTokens(giant) <= room ? giant : cutMiddle(whole, room, gap)
    // A cut part no longer represents the value.
    return { kind: part.kind, text }
  })
}

/** The traceback, the values of the failing line, and the hint. */
function errorText({ name, message, traceback, values, hint }: CellError): string {
  const lines = [(traceback || `${name}: ${message}`).trimEnd(), values && `with ${values}`, hint && `Hint: ${hint}`]
  return lines.filter(Boolean).join('\n')
}

/**
 * The largest share of `total` under max-min fairness: small needs are met in full, larger ones share the rest equally.
 */
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
function withoutRepeats(parts: Part[]): Part[] {
  const seen = new Set<string>()
  const printed = parts.find(({ kind }) => kind === 'stdout')?.text ?? ''
  return parts.filter(({ kind, text }) => {
    const key = text.trim()
    if (seen.has(key) && (kind === 'value' || kind === 'display')) return false
    seen.add(key)
    return !(kind === 'value' && wasPrintedLast(printed, text))
  })
}

function jsonIn(bundle: Record<string, unknown>): { json?: unknown } {
  const json = bundle['application/json']
  return json === undefined ? {} : { json }
}

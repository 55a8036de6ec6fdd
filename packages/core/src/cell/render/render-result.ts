// Renders a cell's result as an MCP tool result within the budget. Pure.
import { encode as encodeToon } from '@toon-format/toon'
import type { Artifact, CellResult } from '../cell-result.ts'
import { type MediaBlock, mediaOf } from './bundle.ts'
import { cutMiddle, type GapLine } from '../../util/tokens/cut-middle.ts'
import { estimateTokens, fitsTokens } from '../../util/tokens/estimate-tokens.ts'
import { cutParts, joinParts, noteParts, type Part, partsOf } from './parts.ts'
import { fromOthers, noticeLine } from './notice.ts'
import { mapTexts } from '../../util/json/json.ts'
import { shownText } from '../../util/text/terminal-text.ts'
import { BridgeError, messageOf, shortageHint } from '../../errors.ts'

type OutputMode = 'compact' | 'toon' | 'json'

type ContentBlock = { type: 'text'; text: string } | MediaBlock | ResourceLink

export interface RenderedResult {
  content: ContentBlock[]
  /** The same as data: its fields that are not empty. For clients that show it, if both together keep to the budget. */
  structuredContent?: Record<string, unknown>
  isError: boolean
}

export interface RenderOptions {
  mode: OutputMode
  /** Estimated tokens of the whole result; images are not counted. */
  outputTokens: number
  /** Adds the result as data, where both fit. */
  withData?: boolean
  /** The client passes an error's images to the model as text, so a result with images is not marked as an error. */
  errorsAsJson?: boolean
  /** The client passes an error result to the model twice, so no result is marked as an error. */
  errorsTwice?: boolean
  /** A new session: its handle, and what the handle keeps. */
  session?: { handle: string; keeps: string }
  /** A note that is not stored with the output, for example about the call's arguments. */
  note?: string
}

/** Maximum rounds of cutting. Each removes the excess of the previous one; one or two are usual. */
const MAX_ROUNDS = 8
/** For the message as a separate field; the traceback contains it, too. */
const MAX_MESSAGE_CHARS = 500
const MAX_NAME_CHARS = 100
const NO_OUTPUT = '(no output)'

export function renderResult(result: ShownResult, options: RenderOptions): RenderedResult {
  const { outputTokens, withData = false, errorsAsJson = false, errorsTwice = false, note } = options
  const media = mediaOf(result.displays, result.value)
  const saved = linksTo(result.artifacts ?? [], outputTokens)
  const budget = outputTokens - saved.tokens
  const more = [...(note === undefined ? [] : [note]), ...media.notes, ...saved.notes]
  const { texts, data } = withinBudget(result, [...result.parts, ...noteParts(more)], options, budget)
  const isSent = withData && fitsTokens(texts.map(({ text }) => text).join('\n') + JSON.stringify(data), budget)
  return {
    content: [...inPlace(texts, media), ...saved.links],
    ...(isSent && { structuredContent: data }),
    isError: result.status !== 'ok' && !errorsTwice && !(errorsAsJson && media.blocks.length > 0),
  }
}

/** A result with all its parts, uncut: it is stored, and the shown text is cut from it. */
export interface ShownResult extends CellResult {
  parts: Part[]
}

/** @param endsSession no cell follows in its session, so nothing is told about what the next one has */
export function withParts(result: CellResult, { endsSession = false } = {}): ShownResult {
  return { ...result, parts: partsOf(result, [...statusNotes(result, endsSession), ...result.notes]) }
}

type Data = Record<string, unknown>

/** A text, and the display after it. */
interface TextBefore {
  text: string
  display?: number | undefined
}

/** Texts with the images and sounds of each display between them. */
function inPlace(texts: readonly TextBefore[], { blocks, of }: ReturnType<typeof mediaOf>): ContentBlock[] {
  const content: ContentBlock[] = []
  let said = ''
  const say = (): void => {
    // An image is output.
    if (said !== '' && !(said === NO_OUTPUT && blocks.length > 0)) content.push({ type: 'text', text: said })
    said = ''
  }
  let next = 0
  for (const { text, display } of texts) {
    if (text !== '') said = said === '' ? text : `${said}\n${text}`
    if (display === undefined || !of.includes(display)) continue
    say()
    while (of[next]! <= display) content.push(blocks[next++]!)
  }
  say()
  return [...content, ...blocks.slice(next)]
}

/** The text up to and with each display, and the rest. */
function untilDisplays(parts: Part[]): TextBefore[] {
  const ends = parts.flatMap(({ display }, index) => (display === undefined ? [] : [index]))
  const pieces = [...ends, parts.length - 1].map((end, index) => parts.slice((ends[index - 1] ?? -1) + 1, end + 1))
  return pieces.map((piece) => ({ text: joinParts(piece), display: piece.at(-1)?.display }))
}

/** The result as texts of at most `tokens`, and the same as data. */
function withinBudget(
  result: CellResult,
  parts: Part[],
  { mode, session }: Pick<RenderOptions, 'mode' | 'session'>,
  tokens: number,
): { texts: TextBefore[]; data: Data } {
  const gapLine = gapLineFor(result, parts)
  // Not a part, because it must not be cut.
  const wayBack = session ? `\n${noticeLine(`To keep ${session.keeps}, pass session="${session.handle}".`)}` : ''
  const handle = session ? { session: session.handle } : {}
  let room = tokens
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const cut = cutParts(parts, room, gapLine)
    const isWhole = cut.every((part, index) => part.text === parts[index]!.text)
    const shown = isWhole ? parts : [...cut, ...wayToTheRest(result)]
    const data = { ...dataOf(result, shown, mode), ...handle }
    const text = mode === 'compact' ? (joinParts(shown) || NO_OUTPUT) + wayBack : written(data, mode)
    if (fitsTokens(text, tokens)) {
      if (mode !== 'compact' || joinParts(shown) === '') return { texts: [{ text }], data }
      return { texts: [...untilDisplays(shown), { text: wayBack.trimStart() }], data }
    }
    const over = estimateTokens(text) - tokens
    // The cost of a part as JSON, with escaped quotes, is known only after it is written.
    room = Math.min(room - over - 10, Math.floor((room * tokens) / (tokens + over)))
  }
  // There are too many parts to show even one line of each.
  const rest = Math.max(tokens - estimateTokens(wayBack), 0)
  const output = cutMiddle(joinParts(parts), Math.floor(rest / (mode === 'compact' ? 1 : 3)), gapLine)
  const data = { status: result.status, output, ...handle }
  return { texts: [{ text: mode === 'compact' ? output + wayBack : written(data, mode) }], data }
}

/** The line that says where the text of a gap can be read. */
function gapLineFor(result: CellResult, parts: Part[]): GapLine {
  const { cell, outputUri } = result
  if (cell === undefined || !outputUri) return (start, end) => noticeLine(`${count(end - start)} characters left out`)
  let positions: PythonPositions | undefined
  return (start, end) => {
    positions ??= new PythonPositions(joinParts(parts))
    const slice = `runtime.output(${cell})[${positions.of(start)}:${positions.of(end)}]`
    return noticeLine(`${count(end - start)} of ${count(positions.text.length)} characters left out: ${slice}`)
  }
}

const count = (number: number) => number.toLocaleString('en')

function wayToTheRest({ cell, outputUri }: CellResult): Part[] {
  if (cell === undefined || !outputUri) return [{ kind: 'note', text: 'Print less, or a part of it.' }]
  const text = `Truncated. Read more with print(runtime.output(${cell})[a:b]) or print(runtime.grep(${cell}, r"pattern")); resource: ${outputUri}`
  return [{ kind: 'note', text }]
}

function dataOf({ status, error }: CellResult, parts: Part[], mode: OutputMode): Data {
  const textsOf = (kind: Part['kind']) =>
    parts.flatMap((part) =>
      part.kind === kind && part.text !== '' ? [mode === 'toon' ? shorter(part) : part.text] : [],
    )
  const printed = parts.filter(({ kind }) => kind === 'stdout')
  const stdout = printed.length > 1 ? joinParts(printed) : printed[0]?.text
  const [stderr] = textsOf('stderr')
  const [value] = textsOf('value')
  const displays = textsOf('display')
  const [traceback] = textsOf('error')
  const notes = textsOf('note')
  const message = error && fromOthers(error.message).slice(0, MAX_MESSAGE_CHARS)
  return {
    status,
    ...(stdout !== undefined && { stdout }),
    ...(stderr !== undefined && { stderr }),
    ...(displays.length > 0 && { displays }),
    ...(value !== undefined && { value }),
    ...(error && {
      error: {
        name: fromOthers(error.name).slice(0, MAX_NAME_CHARS),
        ...(message && { message }),
        ...((error.traceback || error.hint) && { traceback }),
      },
    }),
    ...(notes.length > 0 && { notes }),
  }
}

/** TOON is much shorter than JSON for a table of records, and longer for nested data: the shorter one is used. */
function shorter(part: Part): unknown {
  if (part.json === undefined) return part.text
  const value = mapTexts(part.json, shownText)
  const json = JSON.stringify(value)
  return encodeToon({ value }).length <= encodeToon({ value: json }).length ? value : json
}

/** Data as text for a model, in a mode other than `compact`. Texts are in quotes, so that none begins a line. */
export function written(data: Data, mode: 'toon' | 'json'): string {
  const json = shownText(JSON.stringify(data))
  if (mode === 'json') return json
  const toon = shownText(encodeToon(data))
  return toon.length <= json.length ? toon : json
}

function statusNotes({ status, stateLost, carriedOver, timeoutMs }: CellResult, endsSession: boolean): string[] {
  if (endsSession) {
    if (status === 'timeout') return [`Timed out after ${timeoutMs / 1000} s. Pass a larger --timeout.`]
    return status === 'interrupted' ? ['Interrupted.'] : []
  }
  const state = carriedOver
    ? 'The next cell starts a fresh sandbox.'
    : stateLost
      ? 'All variables are gone; the next cell starts a fresh session.'
      : 'Variables, imports and functions are kept.'
  if (status === 'timeout') {
    return [
      `Timed out after ${timeoutMs / 1000} s and was interrupted. ${state} Do less per cell, or pass a larger timeout.`,
    ]
  }
  if (status === 'interrupted') return [`Interrupted. ${state}`]
  if (status === 'killed') return [state]
  return []
}

class PythonPositions {
  readonly text: string
  /** Most texts have no such character, and then nothing must be counted. */
  readonly #hasPairs: boolean
  /** The last requested position and the pairs before it: most requests move forward. */
  #last = 0
  #pairs = 0

  constructor(text: string) {
    this.text = text
    this.#hasPairs = /[\ud800-\udbff]/.test(text)
  }

  of(position: number): number {
    if (!this.#hasPairs) return position
    if (position < this.#last) {
      this.#last = 0
      this.#pairs = 0
    }
    for (let index = this.#last; index < position; index += 1) {
      if ((this.text.charCodeAt(index) & 0xfc00) === 0xd800) this.#pairs += 1
    }
    this.#last = position
    return position - this.#pairs
  }
}

interface ResourceLink {
  type: 'resource_link'
  uri: string
  name: string
  mimeType: string
  size: number
  description: string
}

/** Share of the budget. Most of it is for the text of the cell. */
const LINKS_SHARE = 0.25
const MAX_LINKS = 50

/** Links to the newest versions, as many as fit, and a note about the others. `tokens` is the cost of the links. */
function linksTo(
  artifacts: Artifact[],
  outputTokens: number,
): { links: ResourceLink[]; tokens: number; notes: string[] } {
  const newest = [...new Map(artifacts.map((artifact) => [artifact.name, artifact])).values()]
  const links: ResourceLink[] = []
  let tokens = 0
  for (const artifact of newest.slice(0, MAX_LINKS)) {
    const link = linkTo(artifact)
    const cost = estimateTokens(JSON.stringify(link))
    // A long link does not keep shorter ones out.
    if (tokens + cost > outputTokens * LINKS_SHARE) continue
    tokens += cost
    links.push(link)
  }
  const rest = newest.length - links.length
  if (rest === 0) return { links, tokens, notes: [] }
  const what = `${rest}${links.length > 0 ? ' more' : ''} artifact${rest === 1 ? ' was' : 's were'} saved`
  return { links, tokens, notes: [`${what}: print(runtime.artifacts())`] }
}

function linkTo({ uri, name, contentType, sizeBytes, version }: Artifact): ResourceLink {
  return {
    type: 'resource_link',
    uri,
    name,
    mimeType: contentType,
    size: sizeBytes,
    description: `Saved by this cell, version ${version}`,
  }
}

/** Per message and hint. Each has a sentence or two; anything longer is quoted data. */
const MAX_TOKENS = 500

/** @param more further text for the reader */
export function renderFailure(
  error: unknown,
  {
    mode,
    outputTokens,
    withData = false,
    more,
  }: Pick<RenderOptions, 'mode' | 'outputTokens' | 'withData'> & { more?: string },
): RenderedResult {
  const share = Math.min(MAX_TOKENS, Math.floor(outputTokens / 2))
  // A message may quote a server.
  const short = (text: string) => cutMiddle(fromOthers(text), share, () => '…')
  const isOurs = BridgeError.isInstance(error)
  const message = short(isOurs ? error.message : `sandbridge failed: ${messageOf(error)}`)
  const hint =
    short([isOurs ? error.hint : shortageHint(messageOf(error)), more].filter(Boolean).join(' ')) || undefined
  const plain = hint === undefined ? message : `${message}\n${hint}`
  if (!isOurs) return { isError: true, content: [{ type: 'text', text: plain }] }
  const data = { status: 'error', error: { code: error.code, message, ...(hint !== undefined && { hint }) } }
  const text = mode === 'compact' ? plain : written(data, mode)
  const isSent = withData && fitsTokens(text + JSON.stringify(data), outputTokens)
  return { isError: true, content: [{ type: 'text', text }], ...(isSent && { structuredContent: data }) }
}

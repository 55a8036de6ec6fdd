// A cell's result → the MCP tool result that the model reads. Says how the cell ended in the same words everywhere. Pure.
import { encode as encodeToon } from '@toon-format/toon'
import type { MimeBundle } from '../protocol/frames.ts'
import type { CellResult } from '../session/cell-result.ts'
import { cutMiddle } from './cut-middle.ts'

export type OutputMode = 'compact' | 'toon' | 'json'

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'resource_link'; uri: string; name: string; mimeType: string; size: number; description: string }

export interface RenderedResult {
  content: ContentBlock[]
  /** Only the fields that are not empty. */
  structuredContent: Record<string, unknown>
  isError: boolean
}

export interface RenderOptions {
  mode: OutputMode
  /** Most tokens that the text may cost, by estimate. */
  outputTokens: number
}

export function renderResult(result: CellResult, { mode, outputTokens }: RenderOptions): RenderedResult {
  const structuredContent = structured(withinBudget(result, outputTokens))
  const text = mode === 'compact' ? compact(structuredContent) : asData(structuredContent, mode)
  return { content: [{ type: 'text', text }, ...images(result), ...links(result)], structuredContent, isError: result.status !== 'ok' }
}

interface Structured extends Record<string, unknown> {
  status: CellResult['status']
  stdout?: string
  stderr?: string
  value?: string
  displays?: string[]
  error?: { name: string; message: string; traceback?: string }
  notes?: string[]
}

function structured(result: CellResult): Structured {
  const notes = [...statusNotes(result), ...result.notes]
  const value = textOf(result.value)
  const displays = result.displays.map(textOf).filter((text) => text !== undefined)
  return {
    status: result.status,
    ...(result.stdout && { stdout: result.stdout }),
    ...(result.stderr && { stderr: result.stderr }),
    ...(displays.length > 0 && { displays }),
    ...(value !== undefined && { value }),
    // The traceback of an interrupted cell is shown too: it says where the time went.
    ...(result.error && { error: withoutEmpty(result.error) }),
    ...(notes.length > 0 && { notes }),
  }
}

function statusNotes({ status, stateLost, carriedOver, timeoutMs }: CellResult): string[] {
  const state = carriedOver
    ? 'The next cell starts a fresh sandbox.'
    : stateLost
    ? 'All variables are gone; the next cell starts a fresh session.'
    : 'Variables, imports and functions are kept.'
  if (status === 'timeout') {
    return [
      `Timed out after ${timeoutMs / 1000} s and was interrupted. ${state} Do less at once, or pass a larger timeout.`,
    ]
  }
  if (status === 'interrupted') return [`Interrupted. ${state}`]
  if (status === 'killed') return [state]
  return []
}

/** What a person would expect to see in a terminal, with the bridge's own words in brackets. */
function compact({ stdout, stderr, displays, value, error, notes }: Structured): string {
  const parts = [
    stdout,
    ...(displays ?? []),
    stderr && `[stderr]\n${stderr}`,
    error && (error.traceback ?? `${error.name}: ${error.message}`),
    value,
    ...(notes ?? []).map((note) => `[${note}]`),
  ]
  return parts.flatMap((part) => (part ? [part.trimEnd()] : [])).join('\n') || '(no output)'
}

/** The whole result as data: TOON only where it is the shorter one. */
function asData(result: Structured, mode: 'toon' | 'json'): string {
  const json = JSON.stringify(result)
  if (mode === 'json') return json
  const toon = encodeToon(result)
  return toon.length <= json.length ? toon : json
}

function images(result: CellResult): ContentBlock[] {
  const bundles = [...result.displays, ...(result.value ? [result.value] : [])]
  return bundles.flatMap((bundle) =>
    IMAGE_TYPES.flatMap((mimeType) => {
      const data = bundle[mimeType]
      return typeof data === 'string' ? [{ type: 'image' as const, data, mimeType }] : []
    }).slice(0, 1),
  )
}

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** What the cell has saved, so that a client can offer it to its user. */
function links({ artifacts = [] }: CellResult): ContentBlock[] {
  const newest = new Map(artifacts.map((artifact) => [artifact.name, artifact]))
  return [...newest.values()].slice(0, MAX_LINKS).map(({ uri, name, contentType, sizeBytes, version }) => ({
    type: 'resource_link' as const,
    uri,
    name,
    mimeType: contentType,
    size: sizeBytes,
    description: `Saved by this cell, version ${version}`,
  }))
}

const MAX_LINKS = 50

function textOf(bundle: MimeBundle | undefined): string | undefined {
  const text = bundle?.['text/markdown'] ?? bundle?.['text/plain']
  return typeof text === 'string' ? text : undefined
}

function withoutEmpty<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '')) as T
}

/** Shares the budget out: an error first, since it is short and matters most, then the value, then what was printed. */
function withinBudget(result: CellResult, outputTokens: number): CellResult {
  let left = outputTokens
  const take = (text: string, share = 1) => {
    const cut = cutMiddle(text, Math.floor(left * share))
    left -= cut.tokens
    return cut.text
  }
  const takeBundle = (bundle: MimeBundle): MimeBundle =>
    Object.fromEntries(Object.entries(bundle).map(([type, data]) => [type, isText(type, data) ? take(data) : data]))
  return {
    ...result,
    ...(result.error && {
      error: {
        ...result.error,
        message: take(result.error.message, 0.1),
        traceback: take(result.error.traceback, 0.5),
      },
    }),
    ...(result.value && { value: takeBundle(result.value) }),
    displays: result.displays.map(takeBundle),
    stderr: take(result.stderr, 0.3),
    stdout: take(result.stdout),
  }
}

function isText(type: string, data: unknown): data is string {
  return type.startsWith('text/') && typeof data === 'string'
}

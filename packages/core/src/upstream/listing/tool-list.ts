// Reads a server's tool list: every page, without strict validation, so that one invalid tool loses no other.
import { BridgeError, messageOf } from '../../errors.ts'
import { fieldsOf, isNestedDeeperThan, isRecord } from '../../util/json/json.ts'
import type { LooseResult } from '../connection/sdk.ts'
import { kindOf } from '../reading/words.ts'
import type { SkippedTool, UpstreamTool } from '../upstream.ts'
import { orUndefined } from '../../util/or-undefined.ts'

/** Limits for a server whose pages never end. */
const MAX_PAGES = 200
const MAX_TOOLS = 10_000
/** Limit of a kept list, in characters of JSON. A server with a hundred tools has a tenth of a megabyte. */
const MAX_LIST_CHARS = 16 * 1024 * 1024
/** Of one tool: what reads it takes time for every field and word. The longest that are known have a tenth of that. */
const MAX_TOOL_CHARS = 256 * 1024
/** What reads a schema calls itself for each level. Real schemas have about twenty. */
const MAX_LEVELS = 200
const MAX_URI_CHARS = 1_000
/** Of entries that are left out, so many are named. */
const MAX_SKIPPED = 50
const MAX_NAME_CHARS = 200
/** Of a refused cursor. */
const INVALID_PARAMS = -32_602

export interface ToolList {
  tools: UpstreamTool[]
  /** Names of tools that run only as a task (protocol revision 2025-11-25). */
  taskTools: Set<string>
  /** Entries that no cell can call. */
  skipped: SkippedTool[]
  /** The list exceeds the limits: these are its first tools. */
  isCut: boolean
  /** A page links to an earlier one, so there may be tools that it does not lead to. */
  isCircular?: true
}

/**
 * Reads the list with `request`, which fetches one page and returns the server's result unchanged.
 * @throws BridgeError UPSTREAM_PROTOCOL when the response is not a list, or the pages do not end.
 */
export async function readToolList(
  server: string,
  request: (cursor: string | undefined) => Promise<LooseResult>,
  era: 'legacy' | 'modern' = 'legacy',
): Promise<ToolList> {
  const tools = new Map<string, UpstreamTool>()
  const taskTools = new Set<string>()
  const skipped: SkippedTool[] = []
  const skip = (name: string, reason: string): void => {
    if (skipped.length < MAX_SKIPPED) skipped.push({ name: name.slice(0, MAX_NAME_CHARS), reason })
  }
  const listed = (more: Pick<ToolList, 'isCut'> & Partial<ToolList>): ToolList => {
    return { tools: [...tools.values()], taskTools, skipped, ...more }
  }
  let chars = 0
  let cursor: string | undefined
  const cursors = new Set<string>()
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await request(cursor).catch((error: unknown) => {
      if (page === 0 || fieldsOf(error)['code'] !== INVALID_PARAMS) throw error
      skip('', `page ${page + 1} of the list was refused: ${messageOf(error)}`)
      return { tools: [] }
    })
    const entries = entriesOf(result, 'tools', 'tools/list', server)
    const next = nextCursorOf(result, era)
    // Some proxies lose the cursor: each page is the first one, whatever cursor it brings.
    const isAgain = entries.length > 0 && entries.every((entry) => tools.has(String(fieldsOf(entry)['name'])))
    if (isAgain && next !== undefined) return listed({ isCut: false, isCircular: true })
    for (const entry of entries) {
      const tool = toTool(entry)
      const own = tool ? charsOf(tool) : 0
      const problem = tool ? problemOf(tool, own, tools) : 'it has no name'
      if (!tool || problem !== undefined) {
        skip(tool?.name ?? '', problem!)
        continue
      }
      chars += own
      if (chars > MAX_LIST_CHARS) {
        skip(tool.name, 'the list is longer than 16 MB, and it and all after it are left out')
        return listed({ isCut: true })
      }
      tools.set(tool.name, tool)
      if (fieldsOf(fieldsOf(entry)['execution'])['taskSupport'] === 'required') taskTools.add(tool.name)
    }
    if (tools.size > MAX_TOOLS) throw protocolError(server, `it lists more than ${MAX_TOOLS} tools`, LIMITS)
    if (next === undefined) return listed({ isCut: false })
    if (cursors.has(next)) return listed({ isCut: false, isCircular: true })
    cursors.add(next)
    cursor = next
  }
  throw protocolError(server, `its tool list has more than ${MAX_PAGES} pages`, LIMITS)
}

const LIMITS = `The bridge reads up to ${MAX_TOOLS} tools in ${MAX_PAGES} pages. Configure the server to offer fewer tools.`

/** @param hint missing where the server violates the protocol */
function protocolError(server: string, what: string, hint?: string, listed = 'tools'): BridgeError {
  const message = `The ${listed} of server '${server}' cannot be listed: ${what}`
  return new BridgeError('UPSTREAM_PROTOCOL', message, hint === undefined ? {} : { hint })
}

/** 0 for one whose levels are too many to be written. */
function charsOf(tool: UpstreamTool): number {
  return orUndefined(() => JSON.stringify(tool).length) ?? 0
}

/** Why no cell can call a tool; undefined when it can be called. */
function problemOf(tool: UpstreamTool, chars: number, others: ReadonlyMap<string, UpstreamTool>): string | undefined {
  if (others.has(tool.name)) return 'it has the name of an earlier tool, which counts'
  if (chars > MAX_TOOL_CHARS) return `its definition has ${chars} characters; ${MAX_TOOL_CHARS} are read`
  return isNestedDeeperThan(MAX_LEVELS, tool) ? `its schema is nested deeper than ${MAX_LEVELS} levels` : undefined
}

/**
 * Where the list goes on. From revision 2026-07-28 on, an empty text is a cursor; servers before it mean the end. A
 * number goes back as it came.
 */
export function nextCursorOf(page: LooseResult, era: 'legacy' | 'modern'): string | undefined {
  const { next_cursor: named, nextCursor = named } = page
  if (typeof nextCursor === 'number' && nextCursor > 0) return nextCursor as unknown as string
  return typeof nextCursor === 'string' && (nextCursor !== '' || era === 'modern') ? nextCursor : undefined
}

/** Of a tool, as JSON. An icon may hold its picture. */
const MAX_ICON_CHARS = 10_000

/** The entries of one page. @throws BridgeError UPSTREAM_PROTOCOL for anything but a list */
export function entriesOf(page: LooseResult, key: string, method: string, server: string): unknown[] {
  const entries = page[key]
  if (Array.isArray(entries)) return entries
  // Nothing, and an empty list as Lua and PHP write it.
  if (entries === null || (isRecord(entries) && Object.keys(entries).length === 0)) return []
  throw protocolError(server, `\`${key}\` of ${method} is ${kindOf(entries)}`, undefined, key)
}

/** Copies only the fields that are used. Schemas are not checked here; the catalog handles invalid ones. */
function toTool(entry: unknown): UpstreamTool | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined
  const raw = entry as Record<string, unknown>
  if (typeof raw.name !== 'string' || raw.name === '') return undefined
  const tool: UpstreamTool = { name: raw.name }
  if (typeof raw.title === 'string') tool.title = raw.title
  if (typeof raw.description === 'string') tool.description = raw.description
  const { input_schema: input, inputSchema = input, output_schema: output, outputSchema = output } = raw
  if (inputSchema !== undefined && inputSchema !== null) tool.inputSchema = inputSchema
  if (outputSchema !== undefined && outputSchema !== null) tool.outputSchema = outputSchema
  const { resourceUri, visibility } = fieldsOf(fieldsOf(raw._meta)['ui'])
  // A tool that only the server's own app may call, not a model (MCP Apps 2026-01-26, Visibility).
  if (Array.isArray(visibility) && !visibility.includes('model')) tool.isOfApps = true
  if (typeof resourceUri === 'string' && resourceUri.startsWith('ui://') && resourceUri.length <= MAX_URI_CHARS)
    tool.appUri = resourceUri
  if (Array.isArray(raw.icons) && JSON.stringify(raw.icons).length <= MAX_ICON_CHARS) tool.icons = raw.icons
  const annotations = toAnnotations(raw.annotations)
  if (annotations) tool.annotations = annotations
  return tool
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

function toAnnotations(value: unknown): UpstreamTool['annotations'] {
  if (typeof value !== 'object' || value === null) return undefined
  const raw = value as Record<string, unknown>
  const annotations: NonNullable<UpstreamTool['annotations']> = {}
  if (typeof raw.title === 'string') annotations.title = raw.title
  for (const hint of HINTS) {
    const given = raw[hint]
    if (typeof given === 'boolean') annotations[hint] = given
  }
  return annotations
}

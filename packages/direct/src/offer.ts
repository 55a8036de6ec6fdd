// Offers tools beside run_python (those that entries name), or in its place all of them, or two that find and call.
import { type CallToolResult, isSpecType, type Server, type Tool } from '@modelcontextprotocol/server'
import type { Ability } from '@sandbridge/core/calls'
import { fromOthers, withHiddenShown } from '@sandbridge/core/cell/render'
import { parse, settingContext, settingsOf } from '@sandbridge/core/config/settings'
import type { Offer, OfferParts } from '@sandbridge/core/serve/mcp'
import { readArguments } from '@sandbridge/core/serve'
import { fieldsOf, isRecord, itemsOf } from '@sandbridge/core/util/json/json.ts'
import { exactMember } from '@sandbridge/core/util/json/source-json.ts'
import { withTimeout } from '@sandbridge/core/util/async'
import { DirectTools } from './direct-tools.ts'
import { CALL_TOOL, foundTools, SEARCH_TOOLS, searchCall, toolNamed } from './search-tools.ts'
import { DIRECT_SETTINGS } from './settings.ts'

/** How long the first list waits for servers that were never asked. `list_changed` tells of those that answer later. */
const LIST_WAIT_MS = 3_000
const NO_CODE =
  'Calls the tools of every MCP server the user has configured, under rules that the user has set, and records each call.'

export function offerTools({ settings, tools: own, hasDirect, getConversation }: OfferParts): Offer | undefined {
  const { toolMode } = settingsOf(settings, DIRECT_SETTINGS)
  // The address of a client over HTTP may say it.
  const mode = (own && parse(DIRECT_SETTINGS.toolMode, own, settingContext({}, { home: '/' }))) ?? toolMode
  if (mode === 'code' && hasDirect === false) return undefined
  let client: Server | undefined
  const onChange = (): void => void client?.sendToolListChanged().catch(() => {})
  const connected = async (abilities: readonly Ability[] = []) => {
    const { bridge, tenant } = await getConversation()
    tenant.clientOffers(abilities)
    const { catalog, upstreams } = (await tenant.now()).connected
    return { catalog, upstreams, isMasked: bridge.maskers !== undefined }
  }
  const listed = new DirectTools(mode !== 'code', connected, onChange)
  const search = mode === 'search'
  let waitMs = LIST_WAIT_MS
  return {
    capabilities: { tools: { listChanged: true } },
    ...(mode !== 'code' && { inPlaceOfCode: NO_CODE }),
    answer(server) {
      client = server
      const before = server.onclose
      server.onclose = () => {
        before?.()
        listed.close()
      }
    },
    async tools(abilities): Promise<Tool[]> {
      if (search) return [SEARCH_TOOLS, CALL_TOOL]
      return withTimeout(listed.list(abilities), waitMs, () => {
        waitMs = 0
        return listed.known()
      })
    },
    has: async (name, abilities) =>
      search ? name === SEARCH_TOOLS.name || name === CALL_TOOL.name : listed.has(name, abilities),
    async callOf(name, args, abilities) {
      if (name === SEARCH_TOOLS.name) {
        const { args: read, note } = readArguments(args, { name, ...SEARCH_TOOLS.inputSchema })
        return { ...searchCall(read), note, resultOf: async (found) => foundTools(found, await listed.named()) }
      }
      const { tool, given, note } = search ? toolNamed(args) : { tool: name, given: args }
      await listed.has(tool, abilities)
      const call = listed.call(tool, given)
      return { ...call, note: [note, call.note].filter(Boolean).join(' ') || undefined, resultOf: asResult }
    },
  }
}

/** A server's result as it came, but for text that hides, or looks like a note of the bridge. */
function asResult(reply: unknown): CallToolResult {
  const { content, ...rest } = fieldsOf(reply)
  const structuredContent = exactMember(reply, 'structuredContent') ?? rest['structuredContent']
  return {
    ...rest,
    ...(structuredContent !== undefined && { structuredContent: fieldsOf(seen(structuredContent, withHiddenShown)) }),
    content: itemsOf(content).map((block) => {
      const shown = seen(block, fromOthers)
      // A client refuses a whole result for a block that it does not know.
      return isSpecType.ContentBlock(shown) ? shown : { type: 'text', text: JSON.stringify(shown) }
    }),
  }
}

/** Data with every text and name as a reader sees it; bytes are none. */
function seen(data: unknown, shown: (text: string) => string): unknown {
  if (typeof data === 'string') return shown(data)
  if (Array.isArray(data)) return data.map((item) => seen(item, shown))
  if (!isRecord(data)) return data
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      shown(name),
      name === 'data' || name === 'blob' ? value : seen(value, shown),
    ]),
  )
}

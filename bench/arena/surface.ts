// The ways in which a model can reach the servers of a task: what it is offered, and what its calls return.
import { setMaxListeners } from 'node:events'
import { rm } from 'node:fs/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Catalog } from '../../packages/core/src/calls/catalog/catalog.ts'
import type { UpstreamTool } from '../../packages/core/src/upstream/upstream.ts'
import {
  openTestBridge,
  type RemoteEntry,
  type ServerEntry,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { connectBare } from '@sandbridge/core/test/support/bridges/bare-client.ts'
import { proposals } from '../../packages/direct/src/listing-notes.ts'
import { catalogOf } from '../catalog-of.ts'
import type { World } from './task.ts'

/**
 * All tools listed; a tool that searches, whose finds are listed from then on; the tool of Sandbridge; and what
 * Sandbridge lists in its place, or beside it as `sandbridge servers` proposes after ten such tasks.
 */
export const WAYS = ['direct', 'search', 'sandbridge', 'listed', 'found', 'proposed'] as const
export type Way = (typeof WAYS)[number]

const BRIDGES: Partial<Record<Way, Record<string, string>>> = {
  sandbridge: {},
  listed: { MCP_BRIDGE_TOOLS: 'direct' },
  found: { MCP_BRIDGE_TOOLS: 'search' },
  proposed: {},
}

/** A tool as a model reads it. */
export interface Definition {
  name: string
  description: string
  inputSchema: unknown
}

export interface ToolResult {
  text: string
  isError: boolean
}

export interface Surface {
  /** What the servers say about themselves. */
  instructions: string
  /** Those that the model has now, in the order in which they came. */
  tools: Definition[]
  call(name: string, args: Record<string, unknown>): Promise<ToolResult>
  /** Reads the lists of tools again, as a client does when they have changed. */
  refresh(): Promise<void>
  close(): Promise<void>
}

type Servers = Record<string, ServerEntry | RemoteEntry>

/** The name of a server's tool where all servers' tools stand in one list. */
export const listedName = (server: string, tool: string): string => `${server}__${tool}`

export const SEARCH_TOOL: Definition = {
  name: 'search_tools',
  description: 'Finds tools by what they do, in 2-4 short wordings. The tools found can be called from then on.',
  inputSchema: {
    type: 'object',
    properties: { queries: { type: 'array', items: { type: 'string' } } },
    required: ['queries'],
  },
}

/** Starts the servers of a task, or the built bridge in front of them. */
export async function openSurface(way: Way, world: World): Promise<Surface> {
  const { servers } = world
  const env = BRIDGES[way]
  if (env === undefined) return listed(servers, way === 'search')
  return sandbridge(way === 'proposed' ? withProposal(world) : servers, env)
}

async function sandbridge(servers: Servers, env: Record<string, string>): Promise<Surface> {
  const bridge = await openTestBridge({ servers, clientName: 'arena', env: { MCP_BRIDGE_POOL: '0', ...env } })
  const surface: Surface = {
    instructions: bridge.client.getInstructions() ?? '',
    tools: [],
    call: (name, args) => bridge.callTool(name, args),
    refresh: async () => {
      // A server that says that its list has changed is asked first.
      if (env === BRIDGES.listed && surface.tools.length > 0) await new Promise((resolve) => setTimeout(resolve, 1_000))
      const { tools } = await bridge.client.listTools()
      surface.tools = tools.map(definitionOf)
    },
    close: async () => {
      await bridge.client.close()
      await rm(bridge.home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  await surface.refresh()
  return surface
}

/** With the tools listed that are proposed when the same was done ten times in cells. */
function withProposal({ servers, exchanges }: World): Servers {
  const once = exchanges.flatMap(({ steps }) => steps.flat())
  const calls = Array.from({ length: 10 }, (_, cell) =>
    once.map(({ server, tool }) => ({ cell: String(cell), server, tool })),
  )
  const said = proposals(calls.flat(), []).join('\n')
  const entries = Object.entries(servers).map(([name, entry]) => {
    const [, tool] = new RegExp(`\\["(.+)"\\] in the entry of ${name} `).exec(said) ?? []
    return [name, tool === undefined ? entry : { ...entry, direct: [tool] }] as const
  })
  return Object.fromEntries(entries)
}

async function listed(servers: Servers, bySearch: boolean): Promise<Surface> {
  const clients = new Map<string, Client>()
  for (const [name, entry] of Object.entries(servers)) clients.set(name, await connect(entry))
  let all: Definition[] = []
  // The same search that cells have, so that the ways differ in nothing else.
  let catalog: Catalog
  const search = async (queries: string[]): Promise<ToolResult> => {
    const found = await catalog.search(queries, { limit: foundAtOnce(queries) })
    const names = found.map(({ server, tool }) => listedName(server, tool))
    for (const one of all)
      if (names.includes(one.name) && !surface.tools.some(({ name }) => name === one.name)) surface.tools.push(one)
    return { text: names.join('\n') || 'No tool found', isError: false }
  }
  const said = [...clients.values()].flatMap((client) => client.getInstructions() ?? [])
  const surface: Surface = {
    instructions: bySearch ? '' : said.join('\n\n'),
    tools: bySearch ? [SEARCH_TOOL] : [],
    call: async (name, args) => {
      if (bySearch && name === SEARCH_TOOL.name) return search(args['queries'] as string[])
      const [server = '', tool = ''] = name.split('__')
      const client = clients.get(server)
      if (client === undefined) return { text: `Unknown tool: ${name}`, isError: true }
      try {
        const { content, isError } = await client.callTool({ name: tool, arguments: args }, { timeout: 120_000 })
        const texts = (content as { type: string; text?: string }[]).map(({ type, text }) => text ?? `[${type}]`)
        return { text: texts.join('\n'), isError: isError === true }
      } catch (error) {
        return { text: String(error), isError: true }
      }
    },
    refresh: async () => {
      const tools = new Map<string, UpstreamTool[]>()
      for (const [name, client] of clients) tools.set(name, (await client.listTools()).tools as UpstreamTool[])
      catalog = catalogOf(tools)
      all = [...tools].flatMap(([server, list]) =>
        list.map((tool) => ({ ...definitionOf(tool), name: listedName(server, tool.name) })),
      )
      if (!bySearch) surface.tools = all
    },
    close: async () => {
      await Promise.all([...clients.values()].map((client) => client.close()))
    },
  }
  return surface
}

/** How many tools a search returns: five, as in cells, and more when it is for more needs. */
export const foundAtOnce = (queries: readonly string[]): number => Math.max(5, queries.length)

async function connect(entry: ServerEntry | RemoteEntry): Promise<Client> {
  if ('command' in entry) return (await connectBare(entry)).client
  const client = new Client({ name: 'bare', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(entry.url)))
  setMaxListeners(0)
  return client
}

function definitionOf({
  name,
  description = '',
  inputSchema,
}: {
  name: string
  description?: string | undefined
  inputSchema?: unknown
}): Definition {
  return { name, description, inputSchema }
}

// The methods for saved tools: functions that cells keep for later sessions, and their place in the search for tools.
import * as z from 'zod'
import { CatalogTool } from '../catalog/catalog-tool.ts'
import type { Detail, ToolDoc } from '../catalog/tool-doc.ts'
import { SAVED_TOOLS_MODULE, savedToolLine, savedToolSummary, type SavedTool } from '../state/saved-tool.ts'
import { parseSavedTool, type SavedToolStore } from '../state/saved-tool-store.ts'
import { type CallContext, method } from './method.ts'

const name = z.string().max(1_000)
const version = z.int().min(1).max(1_000_000_000).nullish()

export const savedToolMethods = {
  save_tool: method(z.object({ tool: z.unknown() }), async ({ tool }, { savedTools, checkSavedTool }) => {
    const content = parseSavedTool(tool)
    return shown(await savedTools.save(content, () => checkSavedTool(content)))
  }),

  /** What the import in a cell runs. */
  load_saved_tool: method(z.object({ name, version }), ({ name: wanted, version: number }, { savedTools }) =>
    savedTools.find(wanted, number ?? undefined),
  ),

  list_saved_tools: method(z.object({}), async (_, { savedTools }) => {
    const { tools, broken } = await savedTools.list()
    return [...tools.map(shown), ...broken]
  }),

  show_tool: method(z.object({ name, version }), async ({ name: wanted, version: number }, { savedTools }) => ({
    ...(await savedTools.find(wanted, number ?? undefined)),
    versions: await savedTools.versions(wanted),
  })),

  delete_tool: method(z.object({ name }), async ({ name: wanted }, { savedTools }) => {
    await savedTools.remove(wanted)
    return null
  }),
}

/** Search the tools of servers and, unless only some servers are asked for, the saved ones, in one ranking. */
export async function searchTools(
  query: string,
  options: { limit: number; servers: string[]; withSaved: boolean; detail: Detail },
  { catalog, savedTools, signal }: CallContext,
): Promise<ToolDoc[]> {
  const { withSaved, ...rest } = options
  if (!withSaved) return catalog.search(query, rest, signal)
  const { tools } = await savedTools.list()
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  catalog.setOtherTools(tools.map(asCatalogTool))
  const found = await catalog.search(query, { ...rest, withOthers: true }, signal)
  return found.map((doc) => {
    const saved = doc.server === SAVED_TOOLS_MODULE ? byName.get(doc.tool) : undefined
    return saved ? savedToolDoc(saved) : doc
  })
}

/** As the names of a session's servers and tools are listed in the summary. */
export async function savedToolLines(savedTools: SavedToolStore): Promise<string[]> {
  const { tools, broken } = await savedTools.list()
  return [
    ...tools.map((tool) => savedToolLine(tool)),
    ...broken.map((tool) => `${tool.name} is broken: ${tool.problem}`),
  ]
}

function savedToolDoc(tool: SavedTool): ToolDoc {
  return {
    server: SAVED_TOOLS_MODULE,
    serverAlias: SAVED_TOOLS_MODULE,
    tool: tool.name,
    toolAlias: tool.name,
    description: savedToolSummary(tool),
    line: savedToolLine(tool),
  }
}

function shown({ name: toolName, version: number, description, signature, createdAt, ...tool }: SavedTool) {
  const line = savedToolLine({ name: toolName, description, signature, ...tool })
  return { name: toolName, version: number, description, signature, createdAt, line }
}

function asCatalogTool({ name: toolName, description }: SavedTool): CatalogTool {
  return new CatalogTool(SAVED_TOOLS_MODULE, SAVED_TOOLS_MODULE, toolName, {
    name: toolName,
    description,
    inputSchema: { type: 'object' },
  })
}

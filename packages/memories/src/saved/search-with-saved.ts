// Ranks the tools of servers together with saved tools, for cells and for the terminal.
import { CatalogTool } from '@sandbridge/core/calls/catalog'
import type { Catalog } from '@sandbridge/core/calls/catalog'
import type { SearchOptions } from '@sandbridge/core/calls/catalog'
import type { Wordings } from '@sandbridge/core/calls/catalog'
import type { ToolDoc } from '@sandbridge/core/calls/catalog'
import type { LoadableTools } from './loadable-tools.ts'
import { SAVED_TOOLS_MODULE, savedToolLine, savedToolSummary, type SavedTool } from './saved-tool.ts'
import type { BrokenTool } from './saved-tool-store.ts'

/** @returns the results, best first, the saved tools among them, and those that do not load */
export async function searchWithSaved(
  query: Wordings,
  options: SearchOptions,
  catalog: Catalog,
  loadableTools: LoadableTools,
  signal?: AbortSignal,
): Promise<{ docs: ToolDoc[]; saved: SavedTool[]; broken: BrokenTool[] }> {
  const { tools, broken } = await loadableTools.list()
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const found = await catalog.search(query, { ...options, others: tools.map(asCatalogTool) }, signal)
  const saved: SavedTool[] = []
  const docs = found.map((doc) => {
    const tool = doc.server === SAVED_TOOLS_MODULE ? byName.get(doc.tool) : undefined
    if (!tool) return doc
    saved.push(tool)
    return { ...savedToolDoc(tool), ...(doc.weak !== undefined && { weak: doc.weak }) }
  })
  return { docs, saved, broken }
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

function asCatalogTool({ name, description }: SavedTool): CatalogTool {
  return new CatalogTool(SAVED_TOOLS_MODULE, SAVED_TOOLS_MODULE, name, {
    name,
    description,
    inputSchema: { type: 'object' },
  })
}

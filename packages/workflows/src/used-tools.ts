// The tools of a workflow by their servers' definitions, when it is saved and before it runs. Calls none.
import { hash } from 'node:crypto'
import type { Catalog, CatalogTool } from '@sandbridge/core/calls/catalog'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { WorkflowDetails } from '@sandbridge/memories/saved/saved-tool.ts'
import { sortedJson } from '@sandbridge/core/util/json'

export type UsedTool = WorkflowDetails['uses'][number]

/** A missing or invalid annotation counts as the worst case, which is its default. */
function describeUse(tool: CatalogTool): UsedTool {
  const { inputSchema, outputSchema, annotations = {} } = tool.definition
  const readOnly = annotations.readOnlyHint === true
  return {
    server: tool.server,
    tool: tool.name,
    hash: hash('sha256', sortedJson([inputSchema, outputSchema])).slice(0, 32),
    readOnly,
    destructive: !readOnly && annotations.destructiveHint !== false,
    idempotent: readOnly || annotations.idempotentHint === true,
    openWorld: annotations.openWorldHint !== false,
  }
}

/** The named tools without duplicates. A tool that is not found has no hash. */
export async function usedTools(
  calls: readonly { server: string; tool: string }[],
  catalog: Catalog,
  signal?: AbortSignal,
): Promise<UsedTool[]> {
  const uses = new Map<string, UsedTool>()
  for (const { server, tool } of calls) {
    const use = await find(server, tool, catalog, signal)
    uses.set(JSON.stringify([use.server, use.tool]), use)
  }
  return [...uses.values()]
}

/** The used tools with these names (`server__tool`). Two tools can have one name. */
export function usesNamed(uses: readonly UsedTool[], names: readonly string[]): UsedTool[] {
  return uses.filter(({ server, tool }) => names.includes(`${server}__${tool}`))
}

export interface Drift {
  /** One sentence each. */
  changed: string[]
  /** Missing tools and servers, without which the workflow cannot run. */
  gone: string[]
}

/** What has changed since the workflow was saved. */
export async function driftOf(
  { uses, packages }: WorkflowDetails,
  catalog: Catalog,
  packagesNow: readonly string[],
): Promise<Drift> {
  const changed: string[] = []
  const gone: string[] = []
  for (const before of uses) {
    if (before.hash === undefined) continue
    const { server, tool } = before
    const name = catalog.resolveServer(server)
    if (name === undefined) {
      gone.push(`Server '${server}' is not configured.`)
      continue
    }
    const now = await find(name, tool, catalog)
    if (now.hash === undefined) gone.push(`Server '${server}' no longer has the tool '${tool}'.`)
    else if (now.hash !== before.hash) changed.push(`The parameters or the result of ${server}.${tool} have changed.`)
    else if (before.readOnly && !now.readOnly) changed.push(`${server}.${tool} no longer says that it changes nothing.`)
  }
  for (const one of packages) {
    if (!packagesNow.includes(one))
      changed.push(`Cells do not have the package ${one}. Run: sandbridge packages add ${one}`)
  }
  return { changed: [...new Set(changed)], gone: [...new Set(gone)] }
}

async function find(server: string, tool: string, catalog: Catalog, signal?: AbortSignal): Promise<UsedTool> {
  try {
    return describeUse(await catalog.findTool(server, tool, signal))
  } catch (error) {
    if (!BridgeError.isInstance(error) || error.code === 'CANCELLED') throw error
    return { server, tool, readOnly: false, destructive: true, idempotent: false, openWorld: true }
  }
}

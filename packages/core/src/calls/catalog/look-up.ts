// Finds a tool by the name that a cell used, and makes the error for an unknown name. Pure.
import { BridgeError } from '../../errors.ts'
import { CatalogOffering } from './model/catalog-offering.ts'
import type { CatalogTool } from './model/catalog-tool.ts'
import { serverMethod } from './model/server-methods.ts'
import type { ServerRecord } from './server-record.ts'
import { foldName } from '../../util/text/python-name.ts'

/** Finds a tool by its names, otherwise a method of every server, which goes first with a leading `_`. */
export function lookUp(record: ServerRecord, name: string): CatalogTool | undefined {
  const exact = record.named(name)
  if (exact !== undefined) return exact
  const method = serverMethod(record.name, record.alias, name)
  if (method !== undefined && name.startsWith('_')) return method
  const folded = foldName(name)
  const same = (record.tools ?? []).filter((tool) => foldName(tool.name) === folded)
  return same.length === 1 ? same[0] : method
}

/** @param line formats the best suggestion */
export function unknownTool(
  record: ServerRecord,
  wrong: string,
  meant: CatalogTool[],
  line: string | undefined,
): BridgeError {
  const { name: server, tools = [] } = record
  const [leftOut, unnamed] = [record.whyLeftOut(wrong), record.whyLeftOut('')]
  const [entry, why] = leftOut === undefined ? ['an entry', unnamed] : ['it', leftOut]
  const said = why === undefined ? '' : `: ${entry} is left out of the list, because ${why}`
  const none = tools.length === 0 ? 'The server has no tools.' : `Its tools: await runtime.list_tools("${server}")`
  const hint = meant.length === 0 ? none : `Did you mean ${meant.map((tool) => tool.alias).join(' or ')}? ${line}`
  return new BridgeError('PROXY_TOOL_UNKNOWN', `Server '${server}' has no tool '${wrong.slice(0, 200)}'${said}`, {
    hint,
    ...(meant.length === 0 && tools.length > 0 && { userHint: `Its tools: sandbridge tools ${server}` }),
    data: { server, suggestions: meant.map((tool) => tool.name) },
  })
}

export function isOffering(tool: CatalogTool): tool is CatalogOffering {
  return tool instanceof CatalogOffering
}

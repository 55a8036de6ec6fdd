// Estimates the tokens of tool definitions for a model that is given all of them. Pure.
import { estimateTokens } from '../../../util/tokens/estimate-tokens.ts'
import type { CatalogTool } from '../model/catalog-tool.ts'

const counted = new WeakMap<CatalogTool, number>()

export function listingTokens(tools: readonly CatalogTool[]): number {
  return tools.reduce((sum, tool) => sum + tokensOf(tool), 0)
}

function tokensOf(tool: CatalogTool): number {
  const { name, description, inputSchema } = tool.definition
  const known = counted.get(tool) ?? estimateTokens(JSON.stringify({ name, description, inputSchema }))
  counted.set(tool, known)
  return known
}

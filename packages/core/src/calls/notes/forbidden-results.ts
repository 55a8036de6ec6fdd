// Says that a tool returned what its own output schema forbids: code was written by that schema. The value reaches the
// code as it is.
import type { ToolResult } from '../../upstream/upstream.ts'
import { isRecord } from '../../util/json/json.ts'
import { onOneLine } from '../../util/text/server-words.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import { structuredOf } from '../catalog/model/result-parts.ts'
import { violation } from '../catalog/signature/violation.ts'

const MAX_CHARS = 300

/**
 * A sentence about this result; undefined for one that fits, and for a tool that the session has been told of.
 * @param told by the session
 */
export function forbiddenNote(
  told: Set<string>,
  { server, name, definition }: CatalogTool,
  result: ToolResult,
): string | undefined {
  const { outputSchema } = definition
  if (!isRecord(outputSchema) || result.isError === true) return undefined
  const tool = `${server}.${name}`
  const key = `result ${tool}`
  if (told.has(key)) return undefined
  const value = structuredOf(result, true)
  const wrong =
    value === undefined ? 'it has no structured content' : violation(value, outputSchema, outputSchema, 'result')
  if (wrong === undefined) return undefined
  told.add(key)
  const words = onOneLine(`A result of ${tool} does not fit its output schema: ${wrong}`).slice(0, MAX_CHARS)
  return `${words.replace(/[.!?]$/, '')}. The code got it as it is.`
}

// Says that a tool returned what its output schema forbids, by which code was written. The value stays as it is.
import type { ToolResult } from '../../upstream/upstream.ts'
import { isRecord } from '../../util/json/json.ts'
import { onOneLine } from '../../util/text/server-words.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import { structuredOf } from '../catalog/model/result-parts.ts'
import { violation } from '../catalog/signature/violation.ts'

const MAX_CHARS = 300

/** About this result; undefined for one that fits, and for a tool that the session has been told of (`told`). */
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

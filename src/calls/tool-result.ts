// An upstream's tool result on its way into the sandbox: without what would only be sent twice, and with a failed call
// as an error. Pure.
import { cleanWords } from '../util/text/server-words.ts'
import { BridgeError } from '../errors.ts'
import { isRecord, parseJson } from '../util/json/json.ts'
import { hasRoundedInteger } from '../util/json/rounded-integers.ts'
import type { ToolResult } from '../upstream/upstream.ts'
import type { CatalogTool } from './catalog/model/catalog-tool.ts'
import { blocksOf, isText, structuredOf } from './catalog/model/result-parts.ts'

/** The sandbox leaves much larger texts as they are. */
const MAX_PARSED_CHARS = 2 ** 19

/** The words of a failed call that are shown to the model. The whole is in the error's data. */
const MAX_MESSAGE_CHARS = 4_000

/**
 * The result as the reply carries it. Text blocks beside `structuredContent` are left out unless `raw`: the
 * specification has servers repeat the structured value as text for old clients (2025-06-18, Tools, Structured
 * Content), and large results would cross the pipe twice.
 * @throws BridgeError TOOL_FAILED when the tool itself says that it failed
 */
export function resultForSandbox(
  { server, name: tool, definition }: Pick<CatalogTool, 'server' | 'name' | 'definition'>,
  result: ToolResult,
  raw: boolean,
): ToolResult {
  if (raw) return result
  const content = blocksOf(result.content)
  const structuredContent = structuredOf(result, isRecord(definition.outputSchema))
  if (result.isError === true) {
    throw new BridgeError('TOOL_FAILED', failureMessage(server, tool, content), {
      hint: '',
      data: { server, tool, content, ...(structuredContent !== undefined && { structuredContent }) },
    })
  }
  // As it is, so that a large one keeps the JSON that it came as.
  if (content === result.content && Object.keys(result).length === 1) return result
  return structuredContent === undefined || isExactAsText(structuredContent, content)
    ? { content }
    : { content: content.filter((block) => !isText(block)), structuredContent }
}

/**
 * Whether integers of structured content were rounded when it was parsed here, and the text that repeats it has them
 * exactly: the sandbox parses that, and Python rounds none.
 */
function isExactAsText(structured: unknown, content: readonly unknown[]): boolean {
  const [block] = content
  if (!hasRoundedInteger(structured) || content.length !== 1 || !isText(block)) return false
  if (block.text.length > MAX_PARSED_CHARS || !/^\s*[{[]/.test(block.text)) return false
  const repeated = parseJson(block.text)
  if (repeated === undefined) return false
  const json = JSON.stringify(repeated)
  // Values that are no objects are boxed in one.
  const inside = isRecord(structured) ? Object.values(structured) : []
  return [structured, ...(inside.length === 1 ? inside : [])].some((one) => JSON.stringify(one) === json)
}

function failureMessage(server: string, tool: string, content: unknown[]): string {
  const text = content.flatMap((block) => (isText(block) ? [block.text] : [])).join('\n')
  const words = text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}…` : text
  return cleanWords(words) || `${server}.${tool} failed without a message`
}

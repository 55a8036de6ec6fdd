// An upstream's tool result on its way into the sandbox: without what would only be sent twice, and with a failed call
// as an error. Pure.
import { cleanWords } from '../util/text/server-words.ts'
import { BridgeError } from '../errors.ts'
import type { ToolResult } from '../upstream/upstream.ts'

/** The words of a failed call that are shown to the model. The whole is in the error's data. */
const MAX_MESSAGE_CHARS = 4_000

/**
 * The result as the reply carries it. Text blocks beside `structuredContent` are left out unless `raw`: the
 * specification has servers repeat the structured value as text for old clients (2025-06-18, Tools, Structured
 * Content), and large results would cross the pipe twice.
 * @throws BridgeError TOOL_FAILED when the tool itself says that it failed
 */
export function resultForSandbox(server: string, tool: string, result: ToolResult, raw: boolean): ToolResult {
  if (raw) return result
  const content = blocksOf(result.content)
  const { structuredContent } = result
  if (result.isError) {
    throw new BridgeError('TOOL_FAILED', failureMessage(server, tool, content), {
      hint: '',
      data: { server, tool, content, ...(structuredContent !== undefined && { structuredContent }) },
    })
  }
  // As it is, so that a large one keeps the JSON that it came as.
  if (content === result.content && Object.keys(result).length === 1) return result
  return structuredContent === undefined
    ? { content }
    : { content: content.filter((block) => !isText(block)), structuredContent }
}

/** Some servers answer with a text where the specification has a list of blocks. */
function blocksOf(content: unknown): unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

function failureMessage(server: string, tool: string, content: unknown[]): string {
  const text = content.flatMap((block) => (isText(block) ? [block.text] : [])).join('\n')
  const words = text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}…` : text
  return cleanWords(words) || `${server}.${tool} failed without a message`
}

function isText(block: unknown): block is { type: 'text'; text: string } {
  return (
    typeof block === 'object' &&
    block !== null &&
    'type' in block &&
    block.type === 'text' &&
    'text' in block &&
    typeof block.text === 'string'
  )
}

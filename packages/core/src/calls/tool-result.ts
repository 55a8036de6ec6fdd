// A tool result on its way into the sandbox: nothing is sent twice, and a failed call is an error. Pure.
import { cleanWords, onOneLine } from '../util/text/server-words.ts'
import { BridgeError } from '../errors.ts'
import { isRecord } from '../util/json/json.ts'
import { memberJson, parseExact } from '../util/json/parse-exact.ts'
import { keepSource, sourceOf } from '../util/json/source-json.ts'
import type { ToolResult } from '../upstream/upstream.ts'
import type { CatalogTool } from './catalog/model/catalog-tool.ts'
import { blocksOf, inBox, isNeverBox, isText, promisesText, structuredOf } from './catalog/model/result-parts.ts'
import { textsBeside } from './texts-beside.ts'

/** The words of a failed call that are shown to the model. The whole is in the error's data. */
const MAX_MESSAGE_CHARS = 4_000
const MAX_NAME_CHARS = 200

/**
 * The result as the reply carries it. Text blocks that repeat `structuredContent` are left out unless `raw`: the
 * specification has servers repeat the structured value as text for old clients (2025-06-18, Tools, Structured
 * Content), and large results would cross the pipe twice. `isWhole` says that structured content is no box, although it
 * looks like one; `isText`, that the value is promised to be a text.
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
  const source = sourceOf(result)
  const json = source && structuredContent !== undefined ? memberJson(String(source), 'structuredContent') : undefined
  if (result.isError === true) {
    const exact = json === undefined ? structuredContent : parseExact(json)
    throw new BridgeError('TOOL_FAILED', failureMessage(server, tool, content, exact), {
      hint: '',
      data: { server, tool, content, ...(exact !== undefined && { structuredContent: exact }) },
    })
  }
  const staysText = promisesText(definition.outputSchema)
  // As it is, so that a large one keeps the JSON that it came as.
  if (content === result.content && Object.keys(result).length === 1 && !staysText) return result
  if (structuredContent === undefined) return { content, ...(staysText && { isText: true }) }
  const isWhole = inBox(structuredContent) !== undefined && isNeverBox(definition.outputSchema)
  const texts = content.filter(isText).map(({ text }) => text)
  const others = textsBeside(structuredContent, texts)
  const parts = {
    content: content.filter((block) => !isText(block)),
    ...(isWhole && { isWhole }),
    ...(staysText && { isText: true }),
    ...(others.length > 0 && { texts: others }),
  }
  const reply = { ...parts, structuredContent }
  if (json !== undefined) keepSource(reply, `${JSON.stringify(parts).slice(0, -1)},"structuredContent":${json}}`)
  return reply
}

/** Text, links and files beside structured content are no part of the value that code gets, unless both have them. */
export function leftOutNotes(tool: CatalogTool, { content, structuredContent, texts }: ToolResult): string[] {
  if (structuredContent === undefined) return []
  const notes = Array.isArray(texts)
    ? [
        `${shownName(tool)} returned text that its data does not repeat: \`.texts\` of the value in Python, or raw=True.`,
      ]
    : []
  const addresses = blocksOf(content).flatMap((block) => {
    const { uri } = isRecord(block) ? (isRecord(block['resource']) ? block['resource'] : block) : {}
    return typeof uri === 'string' ? [uri] : []
  })
  if (addresses.length === 0) return notes
  const json = JSON.stringify(structuredContent)
  const leftOut = addresses.filter((uri) => !json.includes(JSON.stringify(uri)))
  if (leftOut.length === 0) return notes
  const count = leftOut.length
  return [...notes, `${shownName(tool)} returned links or files beside its data, which only raw=True has (${count}).`]
}

function shownName({ server, name }: CatalogTool): string {
  return onOneLine(`${server}.${name}`).slice(0, MAX_NAME_CHARS)
}

/** Of its texts; without one, of the files and the data that say it. */
function failureMessage(server: string, tool: string, content: unknown[], structured: unknown): string {
  const texts = content.flatMap((block) => (isText(block) ? [block.text] : []))
  const files = content.map((block) =>
    isRecord(block) && isRecord(block['resource']) ? block['resource']['text'] : '',
  )
  const data = structured === undefined ? '' : JSON.stringify(structured)
  const [text = ''] = [texts, files, [data]].map((parts) => parts.join('\n')).filter((joined) => joined.trim() !== '')
  const words = text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}…` : text
  return cleanWords(words) || `${server}.${tool} failed without a message`
}

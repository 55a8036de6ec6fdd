// An upstream's tool result on its way into the sandbox: without what would only be sent twice, and with a failed call
// as an error. Pure.
import { cleanWords, onOneLine } from '../util/text/server-words.ts'
import { BridgeError } from '../errors.ts'
import { isRecord, parseJson } from '../util/json/json.ts'
import { lineCost } from '../util/json/line-cost.ts'
import { hasRoundedInteger } from '../util/json/rounded-integers.ts'
import { keepSource, sourceOf } from '../util/json/source-json.ts'
import type { ToolResult } from '../upstream/upstream.ts'
import type { CatalogTool } from './catalog/model/catalog-tool.ts'
import { blocksOf, inBox, isNeverBox, isText, structuredOf } from './catalog/model/result-parts.ts'

/** The words of a failed call that are shown to the model. The whole is in the error's data. */
const MAX_MESSAGE_CHARS = 4_000
const MAX_NAME_CHARS = 200

/**
 * The result as the reply carries it. Text blocks beside `structuredContent` are left out unless `raw`: the
 * specification has servers repeat the structured value as text for old clients (2025-06-18, Tools, Structured
 * Content), and large results would cross the pipe twice. `isWhole` says that structured content is no box, although it
 * looks like one.
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
    throw new BridgeError('TOOL_FAILED', failureMessage(server, tool, content, structuredContent), {
      hint: '',
      data: { server, tool, content, ...(structuredContent !== undefined && { structuredContent }) },
    })
  }
  // As it is, so that a large one keeps the JSON that it came as.
  if (content === result.content && Object.keys(result).length === 1) return result
  if (structuredContent === undefined) return { content }
  const isWhole = inBox(structuredContent) !== undefined && isNeverBox(definition.outputSchema)
  const parts = { content: content.filter((block) => !isText(block)), ...(isWhole && { isWhole }) }
  const reply = { ...parts, structuredContent }
  const exact = exactJson(structuredContent, content.filter(isText))
  if (exact !== undefined) keepSource(reply, `${JSON.stringify(parts).slice(0, -1)},"structuredContent":${exact}}`)
  return reply
}

/** What code should know of a value before it takes it for the server's; undefined for almost every one. */
export function roundedNote(tool: CatalogTool, reply: ToolResult): string | undefined {
  if (sourceOf(reply) !== undefined || !hasRoundedInteger(reply)) return undefined
  return `Integers beyond 2**53 in a result of ${shownName(tool)} were rounded: do not use them as ids. Its texts, if any, have them exactly: raw=True.`
}

/** Links and files beside structured content are no part of the value that code gets, unless both have them. */
export function leftOutNote(tool: CatalogTool, { content, structuredContent }: ToolResult): string | undefined {
  if (structuredContent === undefined) return undefined
  const addresses = blocksOf(content).flatMap((block) => {
    const { uri } = isRecord(block) ? (isRecord(block['resource']) ? block['resource'] : block) : {}
    return typeof uri === 'string' ? [uri] : []
  })
  if (addresses.length === 0) return undefined
  const json = JSON.stringify(structuredContent)
  const leftOut = addresses.filter((uri) => !json.includes(JSON.stringify(uri)))
  if (leftOut.length === 0) return undefined
  return `${shownName(tool)} returned links or files beside its data, which only raw=True has (${leftOut.length}).`
}

function shownName({ server, name }: CatalogTool): string {
  return onOneLine(`${server}.${name}`).slice(0, MAX_NAME_CHARS)
}

/**
 * The JSON of structured content as the texts beside it have it, where integers were rounded when it was parsed here:
 * Python rounds none. Undefined where nothing was rounded, and where the texts are no repetition.
 */
function exactJson(structured: unknown, blocks: readonly { text: string }[]): string | undefined {
  if (!hasRoundedInteger(structured)) return undefined
  const texts = blocks.map(({ text }) => text)
  const repeats = (value: unknown, text: string | undefined): boolean => {
    const repeated = text === undefined ? undefined : parseJson(text)
    return repeated !== undefined && JSON.stringify(repeated) === JSON.stringify(value)
  }
  const found = texts.length === 1 && repeats(structured, texts[0]) ? texts[0] : boxedJson(structured, texts, repeats)
  // Line breaks are outside of strings, and end a frame.
  const json = found?.replaceAll(/[\r\n]+/g, ' ')
  return json === undefined || lineCost(Buffer.from(json)).tooCostly !== undefined ? undefined : json
}

/** Values that are no objects are boxed in one, and each item of a list may have a text of its own. */
function boxedJson(
  structured: unknown,
  texts: readonly string[],
  repeats: (value: unknown, text: string | undefined) => boolean,
): string | undefined {
  const [[key, inside] = [], ...others] = isRecord(structured) ? Object.entries(structured) : []
  if (key === undefined || others.length > 0) return undefined
  const box = (json: string | undefined): string => `{${JSON.stringify(key)}:${json}}`
  if (texts.length === 1 && repeats(inside, texts[0])) return box(texts[0])
  const isEach = Array.isArray(inside) && inside.length === texts.length
  return isEach && inside.every((item, index) => repeats(item, texts[index])) ? box(`[${texts.join(',')}]`) : undefined
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

// A tool result on its way into the sandbox: nothing is sent twice, and a failed call is an error. Pure.
import { cleanWords, onOneLine } from '../util/text/server-words.ts'
import { BridgeError } from '../errors.ts'
import { fieldsOf, isRecord, parseJson } from '../util/json/json.ts'
import { memberJson, parseExact, tryParseExact } from '../util/json/parse-exact.ts'
import { keepSource, sourceOf } from '../util/json/source-json.ts'
import { kindOf, readable, SENT_ERROR } from '../upstream/reading/words.ts'
import type { ToolResult } from '../upstream/upstream.ts'
import type { CatalogTool } from './catalog/model/catalog-tool.ts'
import {
  blocksOf,
  inBox,
  isMedia,
  isNeverBox,
  mediaInBox,
  isText,
  promisesText,
  structuredOf,
} from './catalog/model/result-parts.ts'
import { violation } from './catalog/signature/violation.ts'
import { parsePythonLiteral } from '../util/text/python-value.ts'

/** The words of a failed call that are shown to the model. The whole is in the error's data. */
const MAX_MESSAGE_CHARS = 4_000
const MAX_NAME_CHARS = 200

/**
 * The result as the reply carries it. Text blocks that repeat `structuredContent` are left out unless `raw`: the
 * specification has servers repeat the structured value as text for old clients (2025-06-18, Tools, Structured
 * Content), and large results would cross the pipe twice. `isWhole` says that structured content is no box, although it
 * looks like one; `isText`, that the value is promised to be a text; `isTyped`, that its type is promised.
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
    throw new BridgeError('TOOL_FAILED', failureMessage(server, tool, content, exact, othersOf(result)), {
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
  const others = textsBeside(structuredContent, texts, json)
  const parts = {
    content: content.filter((block) => !isText(block)),
    ...(isWhole && { isWhole }),
    ...(isRecord(definition.outputSchema) &&
      content.some(isMedia) && { isTyped: !mediaInBox(definition.outputSchema) }),
    ...(staysText && { isText: true }),
    ...(others.length > 0 && { texts: others }),
  }
  const reply = { ...parts, structuredContent }
  if (json !== undefined) keepSource(reply, `${JSON.stringify(parts).slice(0, -1)},"structuredContent":${json}}`)
  return reply
}

const KNOWN = new Set(['content', 'structuredContent', 'isError', '_meta', 'resultType', 'ttlMs', 'cacheScope'])

/** Fields of a result that the specification does not have. */
function othersOf(result: ToolResult): Record<string, unknown> {
  return Object.fromEntries(Object.entries(result).filter(([name, value]) => !KNOWN.has(name) && value !== null))
}

/**
 * What is beside structured content is no part of the value that code gets, unless both have it.
 * @param reply what `resultForSandbox` made of the result
 */
export function leftOutNotes(tool: CatalogTool, result: ToolResult, reply: ToolResult): string[] {
  if (reply === result) return []
  const { content, structuredContent, texts } = reply
  const others = Object.keys(othersOf(result))
  const blocks = structuredContent === undefined ? [] : blocksOf(content)
  const json = blocks.length === 0 ? '' : JSON.stringify(structuredContent)
  const isMore = (text: unknown): boolean => typeof text === 'string' && !json.includes(JSON.stringify(text))
  const links = blocks.filter((block) => !isMedia(block) && isMore(resourceOf(block)['uri'])).length
  const beside = [
    ...(Array.isArray(texts) ? [`text that its data does not repeat${where('texts', structuredContent)}`] : []),
    ...(blocks.some((block) => isMedia(block) && isMore(resourceOf(block)['data'] ?? resourceOf(block)['blob']))
      ? [`images or sounds beside its data${where('media', structuredContent)}`]
      : []),
    ...(links > 0 ? [`links or files beside its data, which only raw=True has (${links}).`] : []),
    ...(others.length > 0 ? [fieldsText(others)] : []),
  ]
  if (beside.length === 0) return beside
  const name = onOneLine(`${tool.server}.${tool.name}`).slice(0, MAX_NAME_CHARS)
  return beside.map((what) => `${name} returned ${what}`)
}

function fieldsText(names: readonly string[]): string {
  // A name may be a sentence.
  const plain = names.filter((name) => /^[\w.-]{1,40}$/.test(name)).slice(0, 5)
  const text = `fields beside its content, which only raw=True has (${names.length})`
  return `${[text, plain.join(', ')].filter(Boolean).join(': ')}.`
}

/** What has room for it: a number has none, and a text of JavaScript. */
function where(attribute: string, data: unknown): string {
  const [, value] = inBox(data) ?? ['', data]
  const kind = value === null ? 'null' : typeof value
  if (kind !== 'object' && kind !== 'string') return ', which only raw=True has.'
  return `: \`.${attribute}\` of the value${kind === 'string' ? ' in Python' : ''}, or raw=True.`
}

/** The embedded resource of a block, or the block itself. */
function resourceOf(block: unknown): Record<string, unknown> {
  const { resource, ...own } = isRecord(block) ? block : {}
  return isRecord(resource) ? resource : own
}

/** Of its texts, else of files or other blocks, and what only its data and other fields say. */
function failureMessage(server: string, tool: string, content: unknown[], data: unknown, others: object): string {
  const texts = content.flatMap((block) => (isText(block) ? [block.text] : []))
  const files = content.map((block) => resourceOf(block)['text'])
  const json = data === undefined ? '' : JSON.stringify(data)
  const rest = content.filter((block) => !isMedia(block) && resourceOf(block)['blob'] === undefined)
  const ways = [texts.join('\n'), files.join('\n'), json, readable(rest, MAX_MESSAGE_CHARS)]
  const said = ways.find((words) => words.trim() !== '') ?? ''
  const text = [said, unsaid([data, others], said)].filter(Boolean).join('\n')
  const words = text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}…` : text
  return cleanWords(words) || `${server}.${tool} failed without a message`
}

/** The texts and numbers of data, with their names, that a text does not have. */
function unsaid(data: unknown, text: string): string {
  const head = text.slice(0, MAX_MESSAGE_CHARS)
  let left = MAX_PARTS
  const json: unknown = JSON.stringify(data, (_, part: unknown) => {
    if (typeof part === 'object') return left > 0 ? part : undefined
    const words = typeof part === 'string' || typeof part === 'number' ? String(part).trim() : ''
    return left-- > 0 && !head.includes(words) ? part : undefined
  })
  return readable(parseJson(String(json)), MAX_MESSAGE_CHARS)
}

const MAX_CHARS = 300

/** About this result; undefined for one that fits, and for a tool that the session has been told of (`told`). */
export function forbiddenNote(
  told: Set<string>,
  { server, name, definition }: CatalogTool,
  result: ToolResult,
): string | undefined {
  const { outputSchema } = definition
  const sent = fieldsOf(result._meta)[SENT_ERROR]
  if (sent === undefined && (!isRecord(outputSchema) || result.isError === true)) return undefined
  const tool = `${server}.${name}`
  const key = `${sent === undefined ? 'result' : 'isError'} ${tool}`
  if (told.has(key)) return undefined
  const wrong = sent === undefined ? misfit(result, outputSchema) : `has an \`isError\` that is ${kindOf(sent)}`
  if (wrong === undefined) return undefined
  told.add(key)
  const words = onOneLine(`A result of ${tool} ${wrong}`).slice(0, MAX_CHARS)
  const done = sent === undefined ? 'The code got it as it is' : `It is read as ${result.isError === true}`
  return `${words.replace(/[.!?]$/, '')}. ${done}.`
}

function misfit(result: ToolResult, outputSchema: unknown): string | undefined {
  const value = structuredOf(result, true)
  const wrong =
    value === undefined ? 'it has no structured content' : violation(value, outputSchema, outputSchema, 'result')
  return wrong && `does not fit its output schema: ${wrong}`
}

/** More characters are compared with large integers rounded. */
const MAX_EXACT = 256 * 1024
/** The most fields or items of the data that are each compared with a text. */
const MAX_PARTS = 100

/**
 * The texts; none if each repeats the data or a part of it.
 * @param json of the data, where it says more than the data
 */
export function textsBeside(rounded: unknown, texts: readonly string[], json?: string): string[] {
  const said = texts.filter((text) => text.trim() !== '')
  if (said.length === 0) return []
  const isExact = [json ?? '', ...said].every((text) => text.length <= MAX_EXACT)
  const data = isExact && json !== undefined ? parseExact(json) : rounded
  const fields = typeof data === 'object' && data !== null ? Object.values(data) : []
  const [only] = fields
  const items = fields.length === 1 && Array.isArray(only) ? only : []
  const parts = [data, ...fields.slice(0, MAX_PARTS), ...items.slice(0, MAX_PARTS)]
  return said.every((text) => parts.some(repeatedBy(text, isExact))) ? [] : said
}

function repeatedBy(text: string, isExact: boolean): (part: unknown) => boolean {
  const words = text.trim()
  const shown = unwrapped(words)
  const value =
    (isExact ? tryParseExact(shown) : parseJson(shown)) ??
    (shown.length > MAX_EXACT ? undefined : parsePythonLiteral(shown))
  // Python servers print True and None.
  const word = words.toLowerCase().replace(/^none$/, 'null')
  return (part) => {
    if (typeof part === 'string' && part.trim() === words) return true
    if (value !== undefined) return covers(part, value)
    return (typeof part !== 'object' || part === null) && String(part).toLowerCase() === word
  }
}

/** Whether the data has all that the value has. Many servers leave out of the text what is null. */
function covers(data: unknown, value: unknown): boolean {
  if (Array.isArray(value))
    return Array.isArray(data) && data.length === value.length && value.every((item, at) => covers(data[at], item))
  // A number of Python's notation is rounded.
  if (!isRecord(value)) return data === value || (typeof data === 'bigint' && Number(data) === value)
  return (
    isRecord(data) && Object.keys(value).every((key) => covers(Object.hasOwn(data, key) ? data[key] : null, value[key]))
  )
}

/** A text without a byte order mark and a Markdown fence around all of it. */
function unwrapped(text: string): string {
  const bare = text.replace(/^\uFEFF/, '')
  const fence = /^\s*(`{3,}|~{3,})[^\n`]*\n/.exec(bare)
  if (!fence) return bare
  const end = bare.trimEnd()
  return end.endsWith(`\n${fence[1]}`) ? end.slice(fence[0].length, -fence[1]!.length) : bare
}

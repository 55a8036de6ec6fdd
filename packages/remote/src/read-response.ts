// Reads the response of a remote server to a message, whatever its content type says, and what it says of a failure.
import { isUtf8 } from 'node:buffer'
import { STATUS_CODES } from 'node:http'
import { decodeOther, encodingOf } from '@sandbridge/core/util/bytes'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { onOneLine } from '@sandbridge/core/util/text'
import { quote, readable, readText } from '@sandbridge/core/upstream/reading'
import type { Awaited, OnDropped, OpenRequests } from '@sandbridge/core/upstream/reading'
import { wholeLines } from './bounded-body.ts'

/** How much of the text of a failure is read as words. */
const MAX_WORDS_CHARS = 8_000

const JSON_TYPE = 'application/json'
const IS_JSON = /^application\/json\s*(?:;|$)/
const UTF_8 = new TextDecoder()

/** A message that was sent in a request, as far as its response can be about it. */
export interface Sent {
  method: string | undefined
  id: string | number | undefined
}

/** Undefined for a request that sends no message of MCP, such as one to an authorization server. */
export function sentIn(init: RequestInit | undefined): Sent | undefined {
  if (init?.method !== 'POST' || typeof init.body !== 'string' || !init.body.includes('"jsonrpc"')) return undefined
  const message = parseJson(init.body)
  if (!isRecord(message) || message['jsonrpc'] !== '2.0') return undefined
  const { method, id } = message as { method?: string; id?: string | number }
  return { method, id: method === undefined ? undefined : id }
}

/** Whether the request sends a notification, which no one waits for. */
export function isNotification(init: RequestInit | undefined): boolean {
  const sent = sentIn(init)
  return sent?.method !== undefined && sent.id === undefined
}

/** The text of a response. Without a body, some servers have a sentence in place of the standard words for a status. */
export async function textOf(response: Response): Promise<string> {
  const bytes = new Uint8Array(await response.arrayBuffer())
  const { status, statusText, headers } = response
  if (bytes.byteLength === 0) return statusText === STATUS_CODES[status] ? '' : statusText
  return decodedText(bytes, headers.get('content-type'))
}

/** UTF-8, else in the charset that its type names. */
function decodedText(bytes: Uint8Array, type: string | null): string {
  const unicode = encodingOf(bytes)
  const [, named = 'latin1'] = /charset=["']?([\w-]+)/i.exec(type ?? '') ?? []
  const charset = unicode === 'utf-8' ? named : unicode
  if (isUtf8(bytes) && !/^utf-?16/i.test(charset)) return UTF_8.decode(bytes)
  try {
    const decoder = new TextDecoder(charset, { fatal: true })
    if (decoder.encoding !== 'windows-1252') return decoder.decode(bytes)
  } catch {
    // It is read like a text without a charset.
  }
  return decodeOther(bytes)
}

/** Lines of events in UTF-8, as the standard has them: some servers write in the charset that their type names. */
export async function* linesInUtf8(body: AsyncIterable<Buffer>, type: string | null): AsyncGenerator<Buffer> {
  for await (const chunk of wholeLines(fromUtf16(body)))
    yield isUtf8(chunk) ? chunk : Buffer.from(decodedText(chunk, type))
}

/** In UTF-16, the end of a line is no byte of its own. */
async function* fromUtf16(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: typeof UTF_8 | false | undefined
  for await (const chunk of body) {
    const encoding = encodingOf(chunk)
    decoder ??= encoding === 'utf-8' ? false : new TextDecoder(encoding)
    yield decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk
  }
}

/**
 * What is open in the response to a request. The body is parsed only where something in the response is odd.
 * @param isBody the response is no stream, which may have late replies to other requests
 */
export function exchangeOf(open: OpenRequests, init: RequestInit | undefined, isBody: boolean): Awaited {
  let sent: Sent | undefined
  const only = (): string | number | undefined => (sent ??= sentIn(init))?.id
  return {
    methodOf: (id) => open.methodOf(id),
    isAsked: (id) => open.isAsked(id),
    wasAsked: (id, result) => (isBody ? open.methodOf(id) !== undefined : open.wasAsked(id, result)),
    only,
    unnamed: only,
    isExchange: true,
  }
}

/**
 * The messages of a response that is no event stream, for the client package; undefined when it has none.
 * @param text the body of the response
 */
export function readBody(response: Response, text: string, open: Awaited, onDropped: OnDropped): Response | undefined {
  // The data of events that are not called a stream.
  const events = /^\s*[{[]/.test(text) ? [] : [...text.matchAll(/^data: ?(.*)$/gm)].map(([, data]) => data!)
  const found = [text, ...events].flatMap((part) => {
    const { messages, doubtful } = readText(part, open, onDropped)
    return [...messages, ...doubtful]
  })
  if (found.length === 0) return undefined
  const json = (): Promise<unknown> => Promise.resolve(found.length === 1 ? found[0] : found)
  if (response.status === 200 && IS_JSON.test(response.headers.get('content-type') ?? ''))
    return Object.assign(response, { json })
  const headers = new Headers(response.headers)
  headers.set('content-type', JSON_TYPE)
  return Object.assign(new Response(null, { status: 200, headers }), { json })
}

/** Why a body has no message. */
export function whyNoMessage(status: number, text: string): string {
  if (text.trim() === '') return `it is empty (HTTP ${status})`
  return `it is not ${parseJson(text) === undefined ? 'JSON' : 'JSON-RPC'}: ${quote(text)}`
}

/** What the body of a failed response says to its reader, on one line: a problem document, a page or plain text. */
export function wordsIn(text: string): string {
  const value = parseJson(text)
  const isRpc = isRecord(value) && value['jsonrpc'] !== undefined && isRecord(value['error'])
  if (value !== undefined) return readable(isRpc ? value['error'] : value, MAX_WORDS_CHARS)
  return onOneLine(/^\s*<[!?a-z]/i.test(text) ? withoutTags(text) : text).slice(0, MAX_WORDS_CHARS)
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", apos: "'", nbsp: ' ' }

function withoutTags(page: string): string {
  return page
    .slice(0, 2 * MAX_WORDS_CHARS)
    .replace(/<(script|style)\b[^]*?<\/\1\s*>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(#39|\w{2,4});/g, (entity, name: string) => ENTITIES[name] ?? entity)
}

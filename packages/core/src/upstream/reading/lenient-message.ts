// The one lenient pass over what servers and clients send, before any schema sees it: a message is read as far as its
// meaning is certain; what is dropped is said once; what a server wrote for its reader always reaches the reader. Pure.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isRecord, parseJson } from '../../util/json/json.ts'
import { discoverResult, initializeResult } from './handshake-results.ts'
import type { Awaited } from './open-requests.ts'
import { isAbsent, isEmptyList, toParams } from './request-params.ts'
import { kindOf, LISTS, type OnDropped, readable, SENT_ERROR } from './words.ts'

/** JSON-RPC error code for a reply that cannot be read; from the range for implementations. */
export const UNREADABLE = -32_066

/** Each answer to a request repeats its id. */
const MAX_ID_CHARS = 64 * 1024
const MAX_ERROR_CHARS = 64 * 1024
/** How much of a reply that cannot be read is quoted. */
export const QUOTED_CHARS = 500
const INTERNAL_ERROR = -32_603
const METHOD_NOT_FOUND = -32_601

/** Methods whose result says only that the request was done. */
const EMPTY = new Set(['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'tasks/cancel'])

/**
 * The message that a value certainly is: the value itself where it needs no change; undefined where it is none.
 * @param open the requests that it may answer
 */
export function toMessage(value: unknown, open: Awaited, onDropped: OnDropped): JSONRPCMessage | undefined {
  if (!isRecord(value)) return undefined
  const method = open.methodOf(idOf(value.id))
  const isReply = !(isNothing(value.result) && isNothing(value.error)) && method !== undefined
  if (typeof value.method === 'string' && !isReply) return toRequest(value, onDropped)
  const hasError = !isNothing(value.error) && !('result' in value && saysNothing(value.error))
  if (!hasError && !('result' in value)) return unreadableReply(value, open)
  // A reply to nothing is a line of a log, unless it says that it is a message.
  if (value.jsonrpc === undefined && method === undefined)
    if (!hasNoId(value) || open.only() === undefined) return undefined
  // So is one with more beside a text or number, unless nothing else can come.
  if (
    value.jsonrpc === undefined &&
    !hasError &&
    !isRecord(value.result) &&
    !open.isExchange &&
    Object.keys(without(IN_REPLIES, value)).length > 0
  )
    return undefined
  const id = hasNoId(value) ? undefined : askedId(value.id, open)
  const isItsOwn = method !== undefined || isNothing(value.jsonrpc) || hasNoId(value)
  const mistaken = isItsOwn || open.wasAsked(id ?? value.id, value.result) ? undefined : open.only()
  if (hasError) return toError(value, mistaken ?? id, open)
  if (mistaken !== undefined) return unreadable(mistaken, `no request has its id: ${inJson(value)}`)
  if (id === undefined) return withoutId(value, open, onDropped)
  const result = toResult(value.result, method, onDropped)
  if (result === undefined) {
    const quoted = typeof value.result === 'object' ? '' : `: ${readable(value.result, QUOTED_CHARS)}`
    return unreadable(id, `\`result\` of ${method ?? 'the reply'} is ${kindOf(value.result)}${quoted}`)
  }
  if (result === value.result && id === value.id && value.jsonrpc === '2.0' && Object.keys(value).length === 3)
    return value as unknown as JSONRPCMessage
  for (const key of Object.keys(value)) {
    if (!['jsonrpc', 'id', 'result'].includes(key) && value[key] !== null)
      onDropped(`a reply to ${method ?? 'a request'} has \`${key.slice(0, 100)}\` beside its result`)
  }
  return { jsonrpc: '2.0', id, result }
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}

/** An error that is there because the server's language has no missing fields: it is empty. */
function saysNothing(error: unknown): boolean {
  if (!isRecord(error)) return error === false || error === '' || error === 0 || isEmptyList(error)
  return [0, '', null, undefined].includes(error.code as never) && readable({ ...error, code: '' }, 1) === ''
}

/** What is wrong with a reply, as the error of the request that it answers. */
export function unreadable(id: string | number, why: string): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: UNREADABLE, message: why } }
}

/** What other values than true and false certainly mean; any other says that there is an error. */
const MEANS = new Map([
  ...['true', '1', 'yes'].map((word) => [word, true] as const),
  ...['false', '0', 'no', '', 'null', 'none'].map((word) => [word, false] as const),
])

function toRequest(value: Record<string, unknown>, onDropped: OnDropped): JSONRPCMessage | undefined {
  if (value.jsonrpc === undefined || value.jsonrpc === null) return undefined
  const { method, id, params } = value
  const hasId = id !== undefined && id !== null
  if (hasId && idOf(id) === undefined) return undefined
  const say = (what: string): void => onDropped(`${what} of ${String(method).slice(0, 100)}`)
  const given = isRecord(params) || method !== 'initialize' ? params : {}
  const read = isRecord(given) ? toParams(method as string, given, say) : undefined
  const count = 2 + Number('id' in value) + Number('params' in value)
  const isMeant = read === params && value.jsonrpc === '2.0' && hasId === 'id' in value
  if (isMeant && count === Object.keys(value).length) return value as unknown as JSONRPCMessage
  if (!isRecord(params) && !isAbsent(params)) say(`\`params\`, which is ${kindOf(params)},`)
  for (const name of Object.keys(value)) {
    const isKnown = name === 'jsonrpc' || name === 'id' || name === 'method' || name === 'params'
    if (!isKnown && value[name] !== null) say(`\`${name.slice(0, 100)}\` beside the params`)
  }
  const message = { jsonrpc: '2.0', ...(hasId && { id }), method, ...(read !== undefined && { params: read }) }
  return message as unknown as JSONRPCMessage
}

function idOf(id: unknown): string | number | undefined {
  if (typeof id === 'string' && id.length <= MAX_ID_CHARS) return id
  return Number.isInteger(id) ? (id as number) : undefined
}

/** The id as it was sent: some servers send a number back as a text. */
function askedId(given: unknown, open: Awaited): string | number | undefined {
  const id = idOf(given)
  return typeof id === 'string' && open.methodOf(Number(id)) !== undefined ? Number(id) : id
}

const IN_REPLIES = new Set(['jsonrpc', 'id', 'result', 'error', 'method', 'params'])
const IN_ERRORS = new Set(['code', 'message', 'data'])

/** An error counts, whatever result stands beside it. */
function toError(
  value: Record<string, unknown>,
  id: string | number | undefined,
  open: Awaited,
): JSONRPCMessage | undefined {
  const answered = id ?? ownerOf(value, open)
  if (answered === undefined) return undefined
  const given = value.error
  const { code, message, data } = isRecord(given) ? given : {}
  const isText = typeof message === 'string'
  // What a server wrote outside of `data` is for its reader, too.
  const more = { ...without(IN_REPLIES, value), ...(isText && without(IN_ERRORS, given)) }
  const isMore = Object.keys(more).length > 0
  const isUsual = value.jsonrpc === '2.0' && Object.keys(value).length === 3 && !isMore
  if (isUsual && isText && Number.isSafeInteger(code) && answered === value.id)
    return value as unknown as JSONRPCMessage
  const number = typeof code === 'string' && /^-?\d{1,9}$/.test(code) ? Number(code) : code
  // A code that is a word is part of the message: it often says more.
  const word = Number.isSafeInteger(number) ? undefined : code
  const rest = isRecord(given) ? without(new Set(['code', 'data']), given) : given
  const said = isText ? message : readable(rest, MAX_ERROR_CHARS)
  const words = [word, said].filter((part) => part !== undefined && part !== null && part !== '').join(': ')
  const beside = isNothing(data) ? more : isRecord(data) ? { ...more, ...data } : { data, ...more }
  return {
    jsonrpc: '2.0',
    id: answered,
    error: {
      code: Number.isSafeInteger(number) ? (number as number) : INTERNAL_ERROR,
      message: words === '' || words === 'true' ? readable(more, MAX_ERROR_CHARS) || 'no reason given' : words,
      ...(isMore ? { data: beside } : !isNothing(data) && { data }),
    },
  }
}

function without(known: ReadonlySet<string>, value: unknown): Record<string, unknown> {
  const entries = Object.entries(isRecord(value) ? value : {})
  return Object.fromEntries(entries.filter(([key, inner]) => !known.has(key) && !isNothing(inner)))
}

/** Undefined for a value that is no result of this method. */
function toResult(
  result: unknown,
  method: string | undefined,
  onDropped: OnDropped,
): Record<string, unknown> | undefined {
  const given = inObject(result, method)
  if (given === undefined) return undefined
  if (given._meta !== undefined && !isRecord(given._meta)) {
    if (given._meta !== null) onDropped(`\`_meta\` of ${method ?? 'a result'} is ${kindOf(given._meta)}`)
    delete given._meta
  }
  if (method === 'tools/call') return callResult(given, onDropped)
  if (method === 'initialize') return initializeResult(given, onDropped)
  if (method === 'server/discover') return discoverResult(given, onDropped)
  return given
}

function callResult(given: Record<string, unknown>, onDropped: OnDropped): Record<string, unknown> {
  const { isError, content } = given
  if (isError === null) return { ...given, isError: false }
  if (isError !== undefined && typeof isError !== 'boolean') {
    const words = readable(isError, MAX_ERROR_CHARS)
    const meant = MEANS.get(words.toLowerCase())
    onDropped(`\`isError\` of tools/call is ${kindOf(isError)}, read as ${meant ?? true}`)
    const meta = { ...(given._meta as object | undefined), [SENT_ERROR]: isError }
    const more = meant === undefined ? { content: [content ?? [], { type: 'text', text: words }].flat() } : {}
    return { ...given, ...more, isError: meant ?? true, _meta: meta }
  }
  if (!Array.isArray(content)) return given
  const isMarked = isError === undefined && content.some(isErrorBlock)
  if (!isMarked && !content.some(isValueBlock)) return given
  return { ...given, ...(isMarked && { isError: true }), content: content.map((one) => asText(one)) }
}

/** Results that servers write without the object around them. */
function inObject(result: unknown, method = ''): Record<string, unknown> | undefined {
  if (isRecord(result)) return method === 'tools/call' ? ofCall(result) : result
  // Encoded twice.
  const inner = typeof result === 'string' && method !== 'tools/call' ? parseJson(result) : undefined
  if (typeof inner === 'object' && inner !== null) return inObject(inner, method)
  if (result === null) return EMPTY.has(method) ? {} : undefined
  const list = Object.hasOwn(LISTS, method) ? LISTS[method] : undefined
  if (Array.isArray(result)) {
    if (EMPTY.has(method) && result.length === 0) return {}
    if (list !== undefined) return { [list]: result }
    if (method !== 'tools/call') return undefined
    return isContent(result) ? { content: result } : { content: [], structuredContent: result }
  }
  if (EMPTY.has(method)) return {}
  return typeof result === 'string' && method === 'tools/call'
    ? { content: [{ type: 'text', text: result }] }
    : undefined
}

function isContent(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => isRecord(item) && typeof item.type === 'string')
}

/** Some frameworks mark no result as an error, but a block of it. */
function isErrorBlock(block: unknown): block is Record<string, unknown> {
  return isRecord(block) && block.type === 'error'
}

/** Some servers forget that a number is no text. */
function isValueBlock(block: unknown): block is Record<string, unknown> {
  return isRecord(block) && block.type === 'text' && ['number', 'boolean'].includes(typeof block.text)
}

function asText(block: unknown): unknown {
  if (isValueBlock(block)) return { ...block, text: String(block.text) }
  if (!isErrorBlock(block)) return block
  const rest = without(new Set(['type']), block)
  return { type: 'text', text: typeof rest.text === 'string' ? rest.text : readable(rest, MAX_ERROR_CHARS) }
}

const OF_CALLS = ['content', 'structuredContent', 'task', 'resultType']

/** Some servers return an object of their own in place of the result of a call: it is the content. */
function ofCall(result: Record<string, unknown>): Record<string, unknown> {
  if ('structured_content' in result || 'is_error' in result) {
    const { structured_content: structuredContent, is_error: isError, ...rest } = result
    return ofCall({ ...(structuredContent !== undefined && { structuredContent }), isError, ...rest })
  }
  if (OF_CALLS.some((name) => name in result)) return result
  const { isError, _meta, ...own } = result
  // A result in a field of another, as before revision 2024-11-05.
  const inner = own.toolResult ?? own.result
  if (isRecord(inner) && isContent(inner.content) && Object.keys(own).length === 1)
    return ofCall({ ...(isError === true && { isError }), ...inner })
  return Object.keys(own).length === 0 ? result : { isError, _meta, content: [], structuredContent: own }
}

/** A result without an id belongs to the request of its exchange. Elsewhere it may be a late one to another. */
function withoutId(value: Record<string, unknown>, open: Awaited, onDropped: OnDropped): JSONRPCMessage | undefined {
  const id = ownerOf(value, open)
  if (id === undefined) return undefined
  if (open.isExchange) return toMessage({ ...value, id }, open, onDropped)
  return unreadable(id, `it has no id: ${inJson(value)}`)
}

/** A reply to an open request without a result and an error; undefined for anything else. */
function unreadableReply(value: Record<string, unknown>, open: Awaited): JSONRPCMessage | undefined {
  const id = idOf(value.id)
  if (id === undefined || value.jsonrpc === undefined || open.methodOf(id) === undefined) return undefined
  return unreadable(id, `it has no result and no error: ${inJson(value)}`)
}

/** The request of a reply without an id: with nothing in it, or of an unknown method, it may answer a notification. */
function ownerOf(value: Record<string, unknown>, open: Awaited): string | number | undefined {
  const { error, result } = value
  const mayBeNotice = isRecord(error) ? error.code === METHOD_NOT_FOUND : !error && readable(result, 1) === ''
  return !hasNoId(value) ? undefined : mayBeNotice ? open.unnamed() : open.only()
}

/** Some languages have an empty text for what is not there. */
function hasNoId({ id }: Record<string, unknown>): boolean {
  return isNothing(id) || id === ''
}

function inJson(value: Record<string, unknown>): string {
  return JSON.stringify(value).slice(0, QUOTED_CHARS)
}

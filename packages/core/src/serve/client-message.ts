// What a client sends, as a message of MCP or as the error that answers it. A relay has no MCP package. Pure.
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { BracketState } from '../upstream/reading/brackets.ts'
import { toMessage } from '../upstream/reading/lenient-message.ts'
import type { Awaited } from '../upstream/reading/open-requests.ts'
import { isAbsent, toArguments } from '../upstream/reading/request-params.ts'
import { quote, whyNot } from '../upstream/reading/read-text.ts'
import { kindOf, type OnDropped, DroppedError } from '../upstream/reading/words.ts'
import { exactJson, markBigInts } from '../util/json/parse-exact.ts'
import { unmarked } from '../util/json/exact-numbers.ts'
import { isRecord, parseJson } from '../util/json/json.ts'
import type { Log } from '../util/log.ts'

const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
const ENDS_CHARS = 300

/** An error response. JSON-RPC 2.0 has the id null for what has none. */
export interface Refusal {
  jsonrpc: '2.0'
  id: string | number | null
  error: { code: number; message: string }
}

/** Either a message, or what its sender is answered; neither for what is no message and needs no answer. */
export interface ClientMessage {
  message?: JSONRPCMessage | undefined
  refusal?: Refusal
}

/** An id beyond 2^53 becomes a text, which `lineOf` writes as the number. */
export function toClientMessage(given: unknown, open: Awaited, onDropped: OnDropped): ClientMessage {
  if (!isRecord(given)) return { refusal: refusal(null, `a message is an object, not ${kindOf(given)}`) }
  const value = typeof given['id'] === 'bigint' ? { ...given, id: markBigInts(given['id']) } : given
  const problem = problemOf(value)
  if (problem !== undefined) return { refusal: refusal(answerId(value), problem) }
  const { jsonrpc } = value
  return {
    message: toMessage(
      jsonrpc === undefined || jsonrpc === null ? { ...value, jsonrpc: '2.0' } : value,
      open,
      onDropped,
    ),
  }
}

/** What is wrong with a request; undefined for one that can be read, and for a response. */
function problemOf({ id, method, ...rest }: Record<string, unknown>): string | undefined {
  if (typeof method === 'string') {
    const { params } = rest
    if (!isRecord(params) && !isAbsent(params)) return `\`params\` is an object, not ${kindOf(params)}`
    const args = isRecord(params) ? toArguments(params['arguments']) : undefined
    if (args !== undefined && !isRecord(args)) return `\`arguments\` is an object, not ${shown(args)}`
    if (id === undefined || requestId({ id }) !== null) return undefined
    // A notification with every field written.
    if (id === null && method.startsWith('notifications/')) return undefined
    return `an id is a text or a whole number, not ${shown(id)}`
  }
  if (method !== undefined && method !== null) return `a method is a text, not ${shown(method)}`
  return 'result' in rest || 'error' in rest ? undefined : 'it has no method'
}

function shown(value: unknown): string {
  return `${kindOf(value)}: ${quote(exactJson(value))}`
}

/** @returns what a client is answered that sent a text which is not JSON, or bytes which are no text */
export function refusalOfText(text: string, why = whyNot(text)): Refusal {
  const message = `Parse error: this is ${why}: ${quote(text)}`
  return { jsonrpc: '2.0', id: idIn(text), error: { code: PARSE_ERROR, message } }
}

export function refusal(id: Refusal['id'], problem: string): Refusal {
  return { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message: `Invalid request: ${problem}` } }
}

/** A message as a client gets it. */
export function lineOf(message: object): string {
  return unmarked(exactJson(message))
}

/** Null for what has no id. */
export function requestId({ id }: Record<string, unknown>): string | number | null {
  if (typeof id === 'bigint') return markBigInts<unknown>(id) as string
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : null
}

/** What the refusal of a request can repeat of its id. */
function answerId({ id }: Record<string, unknown>): Refusal['id'] {
  return typeof id === 'number' ? id : requestId({ id })
}

const QUOTED = String.raw`(?:"(?:[^"\\]|\\.){0,200}"|'[^'\\]{0,200}')`
const METHOD = /["']method["']\s*:/
const ID = String.raw`["']id["']\s*:\s*(${QUOTED}|-?\d{1,15}(?![\d.eE]))`
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:["'](?:jsonrpc|method)["']\s*:\s*${QUOTED}\s*,\s*)*${ID}`)
const ID_LAST = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*["']jsonrpc["']\s*:\s*["']2\.0["']\s*)?\}\s*$`)

/** The id of a request that is not JSON; null where it is not certain. Its sender waits for an answer. */
function idIn(text: string): Refusal['id'] {
  const isClosed = new BracketState().push(text) === text.length
  return idAtEnds(text.slice(0, ENDS_CHARS), isClosed ? text.slice(-ENDS_CHARS) : '')
}

/** The id of a request, of which these are the first and last characters; null where it is not certain. */
export function idAtEnds(head: string, tail: string): Refusal['id'] {
  if (!METHOD.test(head) && !METHOD.test(tail)) return null
  const id = (ID_FIRST.exec(head) ?? ID_LAST.exec(tail))?.[1]
  if (id === undefined) return null
  if (id.startsWith("'")) return id.slice(1, -1)
  const parsed = parseJson(id)
  return typeof parsed === 'string' || typeof parsed === 'number' ? parsed : null
}

const MAX_DROPPED = 20

/** The error handler of a client's connection. What was left out of its messages is said once. */
export function clientErrors(log: Log, about: object = {}): (error: Error) => void {
  const dropped = new Set<string>()
  return (error) => {
    const { message: what } = error
    if (!(error instanceof DroppedError)) return log.debug('MCP', { error, ...about })
    if (dropped.has(what) || dropped.size === MAX_DROPPED) return
    dropped.add(what)
    log.warning('Left out what a client should not have sent', { what, ...about })
  }
}

// Reads the messages in a text of a server: one line of a process, the body of an HTTP response, or the data of an
// event. Log text on the same line, escape sequences, several messages and raw line breaks in strings are read as far
// as it is certain what they mean. A reply that cannot be read fails its request at once. Pure.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isRecord, parseJson } from '../../util/json/json.ts'
import { parseExact } from '../../util/json/parse-exact.ts'
import { carriesSource, carrySource } from '../../util/json/source-json.ts'
import { onOneLine } from '../../util/text/server-words.ts'
import { BracketState, escapeInStrings } from './brackets.ts'
import { QUOTED_CHARS, toMessage, UNREADABLE, unreadable } from './lenient-message.ts'
import type { Awaited, RequestId } from './open-requests.ts'
import type { OnDropped } from './words.ts'

/** Where a message may begin behind other text. */
const MESSAGE_START = /\{\s*"(?:jsonrpc|id|result|error|method)"\s*:/g
/** Where the next value begins in a text without anything else. */
const VALUE_START = /\s*[[{]/y
const MAX_FALSE_STARTS = 4
/** Also as Python prints a dict. */
const REPLY = /["'](?:result|error)["']\s*:/
const METHOD = /["']method["']\s*:/
const VERSION = /["']jsonrpc["']\s*:/
const ID = /["']id["']\s*:\s*(?:["']?)(\d{1,15})/
const ENDS_CHARS = 300

export interface Reading {
  messages: JSONRPCMessage[]
  /** Errors for requests that the text seems to answer: a better answer may follow. */
  doubtful: JSONRPCMessage[]
  /** The text is one message or batch and was not changed. */
  isAsSent: boolean
  /** Something in it is no message, and is for the log. */
  hasMore: boolean
}

export function readText(text: string, open: Awaited, onDropped: OnDropped): Reading {
  const given = parsed(text)
  const value = typeof given === 'string' ? parsed(given) : given
  if (value !== undefined) return ofValues(Array.isArray(value) ? value.flat() : [value], open, onDropped)
  const escaped = escapeInStrings(text)
  const repaired = escaped === text ? undefined : parsed(escaped)
  if (repaired !== undefined) return { ...ofValues([repaired], open, onDropped), isAsSent: false }
  const { values, rest } = valuesIn(escaped, MESSAGE_START, MAX_FALSE_STARTS)
  const hasMore = rest !== ''
  // With other text around it, a message may be one that a log quotes: only a reply to an open request is certain.
  const found = hasMore ? values.filter((one) => isRecord(one) && !('method' in one) && open.methodOf(one.id)) : values
  const reading = ofValues(found, open, onDropped)
  if (reading.messages.length > 0) return { ...reading, isAsSent: false, hasMore }
  const id = answeredBy(text, open)
  const doubtful = id === undefined ? [] : [unreadable(id, `it is ${whyNot(text)}: ${quote(text)}`)]
  return { messages: [], doubtful, isAsSent: false, hasMore: true }
}

/** A result keeps its source where that says more, and an error its integers. */
function parsed(text: string): unknown {
  const value = parseJson(text)
  if (isRecord(value) && isRecord(value.error)) return parseExact(text)
  carrySource(value, text)
  return value
}

/** The beginning of a text, for an error. */
export function quote(text: string): string {
  const line = onOneLine(text.slice(0, 4 * QUOTED_CHARS))
  return line.length > QUOTED_CHARS ? `${line.slice(0, QUOTED_CHARS)}…` : line
}

function ofValues(values: unknown[], open: Awaited, onDropped: OnDropped): Reading {
  const messages: JSONRPCMessage[] = []
  const doubtful: JSONRPCMessage[] = []
  let isAsSent = true
  for (const value of values) {
    const message = toMessage(value, open, onDropped)
    if (message !== value) isAsSent = false
    if (!message) continue
    const cancelled = cancelledBy(message, open)
    if (cancelled) doubtful.push(cancelled)
    if (carriesSource(message)) isAsSent = false
    const isCertain = !('error' in message) || (isOf(message, value) && message.error.code !== UNREADABLE)
    ;(isCertain ? messages : doubtful).push(message)
  }
  return { messages, doubtful, isAsSent, hasMore: messages.length + doubtful.length < values.length }
}

/** Servers may cancel only requests of their own. One that cancels ours sends no reply to it. */
function cancelledBy(message: JSONRPCMessage, open: Awaited): JSONRPCMessage | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const { requestId, reason } = message.params ?? {}
  if (open.methodOf(requestId) === undefined || open.isAsked(requestId)) return undefined
  const why = typeof reason === 'string' && reason !== '' ? `: ${reason.slice(0, QUOTED_CHARS)}` : ''
  return unreadable(requestId as RequestId, `it cancelled the request${why}`)
}

/** A text as the error, without a version, may be that of a log. */
function isOf(message: { id?: unknown }, value: unknown): boolean {
  return (
    isRecord(value) &&
    String(value.id) === String(message.id) &&
    (value.jsonrpc !== undefined || typeof value.error !== 'string')
  )
}

/** The values at the beginning of a text, one behind the other, and the text that follows them. */
export function leadingValues(text: string): { texts: string[]; rest: string } {
  return valuesIn(escapeInStrings(text), VALUE_START, 1)
}

/** The JSON objects in a text, and what else is in it. */
function valuesIn(
  text: string,
  valueStart: RegExp,
  maxFalseStarts: number,
): { values: unknown[]; texts: string[]; rest: string } {
  const values: unknown[] = []
  const texts: string[] = []
  let rest = ''
  let from = 0
  valueStart.lastIndex = 0
  for (let falseStarts = 0; falseStarts < maxFalseStarts;) {
    const start = valueStart.exec(text)?.index
    if (start === undefined) break
    const end = new BracketState().push(text, start)
    const value = end === undefined ? undefined : parsed(text.slice(start, end))
    if (value === undefined) {
      falseStarts += 1
      continue
    }
    values.push(value)
    texts.push(text.slice(start, end).trim())
    rest += text.slice(from, start)
    from = end!
    valueStart.lastIndex = from
  }
  return { values, texts, rest: (rest + text.slice(from)).trim() }
}

/** The open request that a text answers which is not JSON; undefined when it is no reply, or that is not certain. */
export function answeredBy(text: string, open: Awaited): RequestId | undefined {
  const head = text.slice(0, ENDS_CHARS)
  if (!(REPLY.test(text) || VERSION.test(head)) || METHOD.test(head)) return undefined
  for (const end of [head, text.slice(-ENDS_CHARS)]) {
    const id = Number(ID.exec(end)?.[1])
    if (open.methodOf(id) !== undefined) return id
  }
  return VERSION.test(head) && !ID.test(head) ? open.only() : undefined
}

/** What a text is that cannot be parsed. */
export function whyNot(text: string): string {
  const constant = /[:[,]\s*(NaN|-?Infinity)\s*[,}\]]/.exec(text)?.[1]
  return constant === undefined ? 'not JSON' : `not JSON, which has no ${constant}`
}

// The requests that a server has not answered: what a reply without an id, or one that cannot be read, belongs to.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isRecord } from '../../util/json/json.ts'
import { LISTS } from './words.ts'

/** Of results that tell which method they are of. */
const FIELDS: Record<string, string> = { ...LISTS, initialize: 'protocolVersion' }
const BILLION = 1_000_000_000
const MAX_ASKED = 10_000

export type RequestId = string | number

/** What is known of open requests where a reply is read. */
export interface Awaited {
  /** The method of an open request; undefined for an id that no open request has. */
  methodOf(id: unknown): string | undefined
  /**
   * Whether a request may have had this id and this result: a reply with them may be late, or a second one.
   * @param result missing for an error, which is late only where nothing was waited for any more
   */
  wasAsked(id: unknown, result?: unknown): boolean
  /** Whether the server has sent a request with this id: what it says of it may be about its own. */
  isAsked(id: unknown): boolean
  /** The request that any reply must belong to; undefined when there is none, or more than one. */
  only(): RequestId | undefined
  /** The same where a reply may be one to a notification, which some servers answer. */
  unnamed(): RequestId | undefined
  /** Every reply here belongs to that one: it comes in the HTTP response to it. */
  readonly isExchange?: boolean
}

export class OpenRequests implements Awaited {
  readonly #methods = new Map<RequestId, string>()
  /** Ids are counted up, those of calls from a billion on. */
  readonly #ranges = new Map<number, { first: number; last: number }>()
  /** What the results of requests had to have that are no calls, by id. */
  readonly #fields = new Map<RequestId, string>()
  readonly #texts = new Set<string>()
  readonly #cancelled = new Set<RequestId>()
  /** Of requests that the server has sent. */
  readonly #asked = new Set<RequestId>()
  /** A notification was sent after the latest reply. */
  #mayBeNotice = false

  /** The bridge sends this message. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) {
      this.#methods.set(message.id, message.method)
      const { id, method } = message
      if (Object.hasOwn(FIELDS, method)) this.#fields.set(id, FIELDS[method]!)
      if (typeof id !== 'number') return void this.#texts.add(id)
      const range = this.#ranges.get(Math.floor(id / BILLION))
      if (range) range.last = Math.max(range.last, id)
      else this.#ranges.set(Math.floor(id / BILLION), { first: id, last: id })
      return
    }
    this.#mayBeNotice = true
    if (message.method === 'notifications/cancelled') this.over(message.params?.['requestId'])
  }

  received(message: JSONRPCMessage): void {
    if ('method' in message) {
      if ('id' in message && this.#asked.size < MAX_ASKED) this.#asked.add(message.id)
      return
    }
    this.#mayBeNotice = false
    this.over(message.id)
    this.#cancelled.delete(asNumber(message.id) as RequestId)
  }

  /** This request is no longer waited for. */
  over(id: unknown): void {
    if (!this.#methods.delete(id as RequestId)) this.#methods.delete(asNumber(id) as RequestId)
    this.#cancelled.add(asNumber(id) as RequestId)
  }

  methodOf(id: unknown): string | undefined {
    return this.#methods.get(id as RequestId) ?? this.#methods.get(asNumber(id) as RequestId)
  }

  isAsked(id: unknown): boolean {
    return this.#asked.size >= MAX_ASKED || this.#asked.has(id as RequestId)
  }

  wasAsked(id: unknown, result?: unknown): boolean {
    const number = asNumber(id)
    if (typeof number !== 'number') return this.#texts.has(id as string)
    const range = this.#ranges.get(Math.floor(number / BILLION))
    if (!range || !Number.isInteger(number) || number < range.first || number > range.last) return false
    if (result === undefined) return this.#cancelled.has(number)
    const field = this.#fields.get(number)
    return field === undefined || !isRecord(result) || field in result
  }

  only(): RequestId | undefined {
    return this.#methods.size === 1 ? this.#methods.keys().next().value : undefined
  }

  unnamed(): RequestId | undefined {
    const id = this.#mayBeNotice ? undefined : this.only()
    this.#mayBeNotice = false
    return id
  }
}

/** Some servers send the number back as a text. */
function asNumber(id: unknown): unknown {
  return typeof id === 'string' && /^\s*\d+(?:\.0+)?\s*$/.test(id) ? Number(id) : id
}

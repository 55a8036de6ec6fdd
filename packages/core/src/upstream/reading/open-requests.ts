// The requests that a server has not answered: what a reply without an id, or one that cannot be read, belongs to.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'

export type RequestId = string | number

/** What is known of open requests where a reply is read. */
export interface Awaited {
  /** The method of an open request; undefined for an id that no open request has. */
  methodOf(id: unknown): string | undefined
  /** Whether a request may have had this id: a reply with it may be late, or a second one. */
  wasAsked(id: unknown): boolean
  /** The request that any reply must belong to; undefined when there is none, or more than one. */
  only(): RequestId | undefined
  /** The same where a reply may be one to a notification, which some servers answer. */
  unnamed(): RequestId | undefined
  /** Every reply here belongs to that one: it comes in the HTTP response to it. */
  readonly isExchange?: boolean
}

export class OpenRequests implements Awaited {
  readonly #methods = new Map<RequestId, string>()
  /** Ids of requests are counted up. */
  #highest = -1
  readonly #texts = new Set<string>()
  /** A notification was sent after the latest reply. */
  #mayBeNotice = false

  /** The bridge sends this message. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) {
      this.#methods.set(message.id, message.method)
      if (typeof message.id === 'number') this.#highest = Math.max(this.#highest, message.id)
      else this.#texts.add(message.id)
      return
    }
    this.#mayBeNotice = true
    if (message.method === 'notifications/cancelled') this.over(message.params?.['requestId'])
  }

  received(message: JSONRPCMessage): void {
    if ('method' in message) return
    this.#mayBeNotice = false
    this.over(message.id)
  }

  /** This request is no longer waited for. */
  over(id: unknown): void {
    if (!this.#methods.delete(id as RequestId)) this.#methods.delete(asNumber(id) as RequestId)
  }

  methodOf(id: unknown): string | undefined {
    return this.#methods.get(id as RequestId) ?? this.#methods.get(asNumber(id) as RequestId)
  }

  wasAsked(id: unknown): boolean {
    const number = asNumber(id)
    if (typeof number !== 'number') return this.#texts.has(id as string)
    return Number.isInteger(number) && number >= 0 && number <= this.#highest
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

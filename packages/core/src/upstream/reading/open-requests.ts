// The requests that a server has not answered: what a reply without an id, or one that cannot be read, belongs to.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'

export type RequestId = string | number

/** What is known of open requests where a reply is read. */
export interface Awaited {
  /** The method of an open request; undefined for an id that no open request has. */
  methodOf(id: unknown): string | undefined
  /** The request that any reply must belong to; undefined when there is none, or more than one. */
  only(): RequestId | undefined
  /** Every reply here belongs to that one: it comes in the HTTP response to it. */
  readonly isExchange?: boolean
}

export class OpenRequests implements Awaited {
  readonly #methods = new Map<RequestId, string>()

  /** The bridge sends this message. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) return
    if ('id' in message) this.#methods.set(message.id, message.method)
    else if (message.method === 'notifications/cancelled') this.over(message.params?.['requestId'])
  }

  received(message: JSONRPCMessage): void {
    if (!('method' in message)) this.over(message.id)
  }

  /** This request is no longer waited for. */
  over(id: unknown): void {
    if (!this.#methods.delete(id as RequestId) && typeof id === 'string') this.#methods.delete(Number(id))
  }

  methodOf(id: unknown): string | undefined {
    // Some servers send the id back as a text.
    return this.#methods.get(id as RequestId) ?? (typeof id === 'string' ? this.#methods.get(Number(id)) : undefined)
  }

  only(): RequestId | undefined {
    return this.#methods.size === 1 ? this.#methods.keys().next().value : undefined
  }
}

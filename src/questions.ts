// What upstreams ask while a cell calls them — folders, an answer from the user, a completion — and who can answer: the client whose cell it is.
// A question that nobody can answer is declined at once, with a reason; none is left hanging, and none is answered by us.
import { BridgeError } from './errors.ts'
import type { UpstreamRequests } from './upstream/requests.ts'

export type QuestionMethod = 'roots/list' | 'elicitation/create' | 'sampling/createMessage'

export interface Question {
  method: QuestionMethod
  params: Record<string, unknown>
}

/** The client behind one cell, as far as it can be asked. */
export interface Asker {
  canAnswer(question: Question): boolean
  /** The client's result for that method. Rejects when the cell is over. */
  ask(question: Question, signal: AbortSignal | undefined): Promise<Record<string, unknown>>
  /** Waits for the user to do something elsewhere: the cell's time limit stands still meanwhile. */
  hold<T>(work: Promise<T>): Promise<T>
}

interface OpenCall {
  asker: Asker
  /** Calls of the same session may hear each other's questions. */
  session: object
}

export class Questions {
  /** For each server, the calls of cells that are open to it, the latest last. */
  readonly #calls = new Map<string, OpenCall[]>()
  /** What any client has said it can answer; what servers are told that we can. */
  readonly #offered = new Set<QuestionMethod>()

  /** A client declares its capabilities, perhaps again with every request. This counts for servers that start from now on. */
  clientOffers(methods: Iterable<QuestionMethod>): void {
    for (const method of methods) this.#offered.add(method)
  }

  /** Calls a server on behalf of a cell; what the server asks meanwhile goes to that cell's client. */
  async during<T>(
    server: string,
    { asker, session }: { asker: Asker | undefined; session: object },
    work: () => Promise<T>,
  ): Promise<T> {
    if (!asker) return work()
    const calls = this.#calls.get(server) ?? []
    const call: OpenCall = { asker, session }
    calls.push(call)
    this.#calls.set(server, calls)
    try {
      return await work()
    } finally {
      calls.splice(calls.indexOf(call), 1)
    }
  }

  /** What upstreams are offered, by what the client offers. */
  requests(): UpstreamRequests {
    return {
      ...(this.#offered.has('roots/list') && { roots: (server) => this.#roots(server) }),
      ...(this.#offered.has('elicitation/create') && {
        elicit: (server, params, signal) => this.#elicit(server, params, signal),
      }),
      ...(this.#offered.has('sampling/createMessage') && {
        sample: (server, params, signal) => this.#ask(server, { method: 'sampling/createMessage', params }, signal),
      }),
    }
  }

  async #roots(server: string): Promise<{ uri: string; name?: string }[]> {
    // A server asks for roots whenever it likes; outside of a call there is no client to ask, and no root is the safe answer.
    const { roots } = await this.#ask(server, { method: 'roots/list', params: {} }, undefined).catch(() => ({
      roots: [],
    }))
    return Array.isArray(roots) ? (roots as { uri: string; name?: string }[]) : []
  }

  async #elicit(
    server: string,
    params: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    // The person who reads it must know who is asking.
    const message = `MCP server '${server}' asks: ${typeof params['message'] === 'string' ? params['message'] : ''}`
    const question: Question = { method: 'elicitation/create', params: { ...params, message } }
    if (!this.#askerFor(server, question)) return { action: 'decline' }
    return this.#ask(server, question, signal)
  }

  #ask(server: string, question: Question, signal: AbortSignal | undefined): Promise<Record<string, unknown>> {
    const asker = this.#askerFor(server, question)
    if (asker) return asker.ask(question, signal)
    const reason = `Nobody can answer ${question.method} of server '${server}' now`
    return Promise.reject(new BridgeError('CANCELLED', reason))
  }

  /** A question does not say which call it is for. While two sessions call a server, it could reach the wrong one: then nobody is asked. */
  #askerFor(server: string, question: Question): Asker | undefined {
    const calls = this.#calls.get(server) ?? []
    if (new Set(calls.map(({ session }) => session)).size > 1) return undefined
    return calls.findLast(({ asker }) => asker.canAnswer(question))?.asker
  }
}

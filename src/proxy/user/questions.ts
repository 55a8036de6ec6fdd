// What upstreams ask while a cell calls them — folders, an answer from the user, a completion — and who can answer: the client whose cell it is.
// A question that nobody can answer is declined at once, and the log says why; none is left hanging, and none is answered by us.
import { BridgeError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { UpstreamRequests } from '../../upstream/connection/requests.ts'

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
  readonly #log: Pick<Log, 'info'>

  constructor(log: Pick<Log, 'info'>) {
    this.#log = log
  }

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
        sample: (server, params, signal) => this.#sample(server, params, signal),
      }),
    }
  }

  /** A server asks for roots whenever it likes. Outside of a call there is no client to ask: an empty list might be taken for no bounds at all. */
  async #roots(server: string): Promise<{ uri: string; name?: string }[]> {
    const { roots } = await this.#ask(server, { method: 'roots/list', params: {} }, undefined)
    return Array.isArray(roots) ? (roots as { uri: string; name?: string }[]) : []
  }

  #elicit(server: string, params: Record<string, unknown>, signal: AbortSignal): Promise<Record<string, unknown>> {
    // The person who reads it must know who is asking.
    const message = `MCP server '${server}' asks: ${textOf(params['message'])}`
    const question: Question = { method: 'elicitation/create', params: { ...params, message } }
    // Declining has no field for a reason (MCP 2025-11-25 and 2026-07-28, Elicitation, Response Actions): it is in the log.
    return this.#ask(server, question, signal, { action: 'decline' })
  }

  #sample(server: string, params: Record<string, unknown>, signal: AbortSignal): Promise<Record<string, unknown>> {
    // The same: clients show a request before they pass it on. Its messages are a conversation, which a line of ours would change.
    const systemPrompt =
      `This request comes from MCP server '${server}'.\n\n${textOf(params['systemPrompt'])}`.trimEnd()
    return this.#ask(server, { method: 'sampling/createMessage', params: { ...params, systemPrompt } }, signal)
  }

  /** @param declined the answer when there is nobody to ask; without it that is an error */
  #ask(
    server: string,
    question: Question,
    signal: AbortSignal | undefined,
    declined?: Record<string, unknown>,
  ): Promise<Record<string, unknown>> {
    const asker = this.#askerFor(server, question)
    if (typeof asker !== 'string') return asker.ask(question, signal)
    this.#log.info('A question of a server was declined', { server, method: question.method, reason: asker })
    if (declined) return Promise.resolve(declined)
    return Promise.reject(
      new BridgeError('CANCELLED', `Nobody can answer ${question.method} of server '${server}': ${asker}`),
    )
  }

  /** A question does not say which call it is for. While two sessions call a server, it could reach the wrong one: then nobody is asked. */
  #askerFor(server: string, question: Question): Asker | string {
    const calls = this.#calls.get(server) ?? []
    if (calls.length === 0) return 'no cell with a client that can be asked is calling the server'
    if (new Set(calls.map(({ session }) => session)).size > 1) return 'several sessions are calling the server'
    return (
      calls.findLast(({ asker }) => asker.canAnswer(question))?.asker ?? 'the client of the cell does not offer that'
    )
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

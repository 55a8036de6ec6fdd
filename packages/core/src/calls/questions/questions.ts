// Requests of upstreams during a cell's call — folders, an answer, a completion — go to that cell's client. One that no
// client can answer is declined at once, and logged. The bridge never answers one itself.
import { fromOthers } from '../../cell/render/notice.ts'
import { BridgeError } from '../../errors.ts'
import type { Origin } from '../../observe/events/event.ts'
import { type EventStream, NO_EVENTS } from '../../observe/events/event-stream.ts'
import { newId } from '../../observe/events/new-id.ts'
import type { Log } from '../../util/log.ts'
import { fieldsOf, mapTexts } from '../../util/json/json.ts'
import { cleanWords, isPlainlySeen, paragraphs } from '../../util/text/server-words.ts'
import type { UpstreamRequests } from '../../upstream/connection/requests.ts'
import type { Abortable } from '../../util/async/cancellation.ts'
import { type Caller, type Callers, setCaller } from '../../upstream/lifecycle/callers.ts'

type QuestionMethod = 'roots/list' | 'elicitation/create' | 'sampling/createMessage'

/** What a client can be asked; `sampling.tools` for a completion whose model may call the server's tools. */
export type Ability = QuestionMethod | 'sampling.tools'

export interface Question {
  method: QuestionMethod
  params: Record<string, unknown>
}

/** The client of one cell, for questions. */
export interface Asker {
  canAnswer(question: Question): boolean
  /** Returns the client's result for that method. Rejects when the cell has ended. */
  ask(question: Question, signal: AbortSignal | undefined): Promise<Record<string, unknown>>
  /** Waits while the user does something elsewhere: the cell's time limit is paused meanwhile. */
  hold<T>(work: Promise<T>): Promise<T>
}

interface OpenCall {
  /** Missing for a cell whose client cannot be asked. */
  asker: Asker | undefined
  origin: Origin | undefined
  /** Identifies the session. Calls of one session may receive each other's questions. */
  caller: Caller
}

/** Most questions of one server that the client of one cell has open at once. A client may show each to its user. */
const MAX_OPEN = 64
/** Most characters of a request's params, as JSON. The completion that a server asks for may hold images. */
const MAX_CHARS: Partial<Record<QuestionMethod, number>> = {
  'elicitation/create': 100_000,
  'sampling/createMessage': 10_000_000,
}

export class Questions {
  /** Open calls of cells by server, latest last. */
  readonly #calls = new Map<string, Set<OpenCall>>()
  /** How many questions are open at the client of a cell, by server. */
  readonly #open = new WeakMap<Asker, Map<string, number>>()
  /** Identifies a session where servers are called. */
  readonly #callers = new WeakMap<object, Caller>()
  readonly #log: Pick<Log, 'info'>
  readonly #events: EventStream

  constructor(log: Pick<Log, 'info'>, events = NO_EVENTS) {
    this.#log = log
    this.#events = events
  }

  /**
   * Until it is left, questions of the server go to that cell's client. @param work the signal of the call
   * @returns a function to call when the call has ended; calling it again does nothing
   */
  enter(
    server: string,
    { asker, session, origin }: { asker: Asker | undefined; session: object; origin?: Origin | undefined },
    work: Abortable,
  ): () => void {
    let caller = this.#callers.get(session)
    if (!caller) this.#callers.set(session, (caller = {}))
    setCaller(work, caller)
    let calls = this.#calls.get(server)
    if (!calls) this.#calls.set(server, (calls = new Set()))
    const call: OpenCall = { asker, caller, origin }
    calls.add(call)
    return () => void calls.delete(call)
  }

  /** Asks a client, and emits events about it. @param source the server that asks, and the cell during which it asks */
  async ask(
    asker: Asker,
    { server, origin }: { server: string | undefined; origin: Origin | undefined },
    question: Question,
    signal: AbortSignal | undefined,
  ): Promise<Record<string, unknown>> {
    if (!this.#events.active) return asker.ask(question, signal)
    const { method, params } = question
    const { cell, log, session, client } = origin ?? {}
    const about = { id: newId(), parent: cell, run: log?.run, session, client, method, server }
    const askedAt = performance.now()
    const end = (answer: string) =>
      this.#events.emit({ type: 'question.answered', ...about, answer, durationMs: performance.now() - askedAt })
    this.#events.emit({
      type: 'question.asked',
      ...about,
      message: textOf(params['message'] ?? params['systemPrompt']),
    })
    try {
      const result = await asker.ask(question, signal)
      end(typeof result['action'] === 'string' ? result['action'] : 'accept')
      return result
    } catch (error) {
      end('unanswered')
      throw error
    }
  }

  /** The requests that a server may send. @param callers its callers @param offered what its clients support */
  requests(callers: Pick<Callers, 'sole'>, offered: ReadonlySet<Ability>): UpstreamRequests {
    return {
      ...(offered.has('roots/list') && { roots: (server) => this.#roots({ server, callers }) }),
      ...(offered.has('elicitation/create') && {
        elicit: (server, params, signal) => this.#elicit({ server, callers }, params, signal),
      }),
      ...(offered.has('sampling/createMessage') && {
        sample: (server, params, signal) => this.#sample({ server, callers }, params, signal),
        samplesWithTools: offered.has('sampling.tools'),
      }),
    }
  }

  /** Asked outside a call this rejects: an empty list of roots could be read as "no restriction". */
  async #roots(source: Source): Promise<{ uri: string; name?: string }[]> {
    const { roots } = await this.#ask(source, { method: 'roots/list', params: {} }, undefined)
    return Array.isArray(roots) ? (roots as { uri: string; name?: string }[]) : []
  }

  #elicit(source: Source, params: Record<string, unknown>, signal: AbortSignal): Promise<Record<string, unknown>> {
    const method = 'elicitation/create'
    // Cleaning a long text takes long.
    if (tooLong({ method, params })) return this.#ask(source, { method, params }, signal, { action: 'decline' })
    // Names the server, so that the user knows where the question comes from.
    const message = `MCP server '${source.server}' asks: ${textOf(params['message'])}`
    const form = cleanForm(params['requestedSchema'])
    if (form === 'unseen') {
      this.#tellDeclined(source, { server: source.server, reason: UNSEEN_CHOICES })
      return Promise.resolve({ action: 'decline' })
    }
    const shown = { ...params, message, ...(form !== undefined && { requestedSchema: form }) }
    // Declining has no field for a reason (MCP Elicitation, Response Actions), so the reason is logged.
    return this.#ask(source, { method, params: shown }, signal, { action: 'decline' })
  }

  #sample(source: Source, params: Record<string, unknown>, signal: AbortSignal): Promise<Record<string, unknown>> {
    const method = 'sampling/createMessage'
    if (tooLong({ method, params })) return this.#ask(source, { method, params }, signal)
    // Names the server in the system prompt: clients show a request before they pass it on.
    const systemPrompt =
      `This request comes from MCP server '${source.server}'.\n\n${textOf(params['systemPrompt'])}`.trimEnd()
    const cleaned = fieldsOf(mapTexts(params, (text) => fromOthers(cleanWords(text))))
    return this.#ask(source, { method, params: { ...cleaned, systemPrompt } }, signal)
  }

  /** @param declined the result when no client can be asked; without it that is an error */
  #ask(
    source: Source,
    question: Question,
    signal: AbortSignal | undefined,
    declined?: Record<string, unknown>,
  ): Promise<Record<string, unknown>> {
    const { server } = source
    const found = tooLong(question) ?? this.#askerFor(source, question)
    if (typeof found !== 'string') {
      const { asker, origin } = found
      this.#count(asker, server, 1)
      return this.ask(asker, { server, origin }, question, signal).finally(() => this.#count(asker, server, -1))
    }
    this.#tellDeclined(source, { server, method: question.method, reason: found })
    if (declined) return Promise.resolve(declined)
    return Promise.reject(
      new BridgeError('CANCELLED', `No client can answer ${question.method} from server '${server}': ${found}`),
    )
  }

  /** A question does not name its call: it is declined when it could be another session's, even a cancelled one's. */
  #askerFor({ server, callers }: Source, question: Question): { asker: Asker; origin: Origin | undefined } | string {
    const sole = callers.sole()
    if (sole === 'several') return 'the request may belong to a call of another session'
    const calls = this.#callsOf(server, sole)
    const askers = calls.flatMap(({ asker, origin }) => (asker ? { asker, origin } : []))
    if (askers.length === 0) return "no active cell's client supports this request"
    const able = askers.findLast(({ asker }) => asker.canAnswer(question))
    if (!able) return "the cell's client does not support this request"
    // Clients answer requests for folders themselves.
    if (question.method === 'roots/list' || (this.#open.get(able.asker)?.get(server) ?? 0) < MAX_OPEN) return able
    return `${MAX_OPEN} requests of the server are open`
  }

  #count(asker: Asker, server: string, by: 1 | -1): void {
    const counts = this.#open.get(asker) ?? new Map<string, number>()
    this.#open.set(asker, counts.set(server, (counts.get(server) ?? 0) + by))
  }

  #callsOf(server: string, caller: object | 'none'): OpenCall[] {
    return [...(this.#calls.get(server) ?? [])].filter((call) => call.caller === caller)
  }

  /** Logs to the run that the request belongs to, if that is certain. */
  #tellDeclined({ server, callers }: Source, fields: Record<string, unknown>): void {
    const sole = callers.sole()
    const origin = sole === 'several' ? undefined : this.#callsOf(server, sole).at(-1)?.origin
    ;(origin?.log ?? this.#log).info('A request of a server was declined', fields)
  }
}

/** The server that asks. */
interface Source {
  server: string
  callers: Pick<Callers, 'sole'>
}

const UNSEEN_CHOICES = 'a field or choice of its form has invisible characters'

/** Why a request is too long to be passed on; undefined when it is not. */
function tooLong({ method, params }: Question): string | undefined {
  const most = MAX_CHARS[method] ?? Infinity
  return JSON.stringify(params).length > most ? `the request is longer than ${most} characters` : undefined
}

/** Nothing in it is like a notice of the bridge, or moves the name of the server out of sight. */
function textOf(value: unknown): string {
  return fromOthers(paragraphs(value, Infinity)).replace(/[^\S\n]{9,}/g, ' '.repeat(8))
}

/** Forms are flat (MCP 2025-11-25, Elicitation, Requested Schema); no client shows deeper nesting. */
const MAX_DEPTH = 12

/** Schema fields that are displayed and that the server does not read back. */
const WORDS = new Set(['title', 'description', 'enumNames'])

/** Returns the form, or `unseen` when a name or a value in it displays as something else than it is. */
export function cleanForm(schema: unknown): unknown {
  try {
    return clean(schema, false, 0)
  } catch (error) {
    if (error instanceof UnseenError) return 'unseen'
    throw error
  }
}

class UnseenError extends Error {}

function clean(value: unknown, isWords: boolean, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new UnseenError()
  if (typeof value === 'string') return isWords ? textOf(value) : seen(value)
  if (Array.isArray(value)) return value.map((item) => clean(item, isWords, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [seen(key), clean(item, isWords || WORDS.has(key), depth + 1)]),
  )
}

function seen(text: string): string {
  if (!isPlainlySeen(text)) throw new UnseenError()
  return text
}

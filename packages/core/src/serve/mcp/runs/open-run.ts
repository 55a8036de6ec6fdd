// A run_python call that may ask the client something: it is answered with "input required", and the client's retry
// waits for the same cell (MCP 2026-07-28, Multi Round-Trip Requests). An older client gets each question as a request.
import { randomUUID } from 'node:crypto'
import type { CallToolResult, ClientCapabilities, InputRequests } from '@modelcontextprotocol/server'
import { BridgeError } from '../../../errors.ts'
import type { Ability, Asker, Question } from '../../../calls/questions/questions.ts'
import type { TimeLimit } from '../../../cell/time-limit.ts'
import { showsApps } from '../apps-part.ts'
import { ClientLog } from '../client/client-log.ts'
import type { RunRequest } from '../observed-run.ts'
import { ProgressReporter } from '../client/progress.ts'

/** Sends a question to an older client; the signal withdraws it. */
export type SendQuestion = (question: Question, signal: AbortSignal) => Promise<Record<string, unknown>>

/** What a call returns: its result, or questions with the state that the client sends back. */
export type RunEvent = { result: CallToolResult } | { questions: InputRequests; state: string }

export class OpenRun implements Asker {
  /** Not guessable: a client that knows it may continue this run. */
  readonly id: string = randomUUID()
  readonly progress = new ProgressReporter()
  readonly log = new ClientLog()
  /** The session whose next call brings the result, after the run's own call was answered without it. */
  lateIn: string | undefined
  /** The request that began it. */
  origin: RunRequest | undefined
  /** Told of what the model is shown before the run has a result. */
  onShown: ((text: string) => void) | undefined
  /** Told when the client has fetched its result as that of a task. */
  onFetched: (() => void) | undefined
  readonly #capabilities: ClientCapabilities
  readonly #send: SendQuestion | undefined
  readonly #cancelled = new AbortController()
  readonly #open = new Map<string, { question: Question; answer: (answer: Record<string, unknown>) => void }>()
  #limit: TimeLimit | undefined
  #wake: (() => void) | undefined
  #result: Promise<CallToolResult> | undefined
  #questionCount = 0
  #roundCount = 0

  /** @param send missing for a client that comes back with its answers */
  constructor(capabilities: ClientCapabilities, send?: SendQuestion) {
    this.#capabilities = capabilities
    this.#send = send
  }

  start(result: Promise<CallToolResult>): void {
    this.#result = result
  }

  pauses(limit: TimeLimit): void {
    this.#limit = limit
  }

  /** Whether it goes on only when its user has answered. */
  get waitsForUser(): boolean {
    return this.#limit?.isPaused === true
  }

  get signal(): AbortSignal {
    return this.#cancelled.signal
  }

  get abilities(): Ability[] {
    return abilitiesOf(this.#capabilities)
  }

  get showsApps(): boolean {
    return showsApps(this.#capabilities)
  }

  /** The client cancelled the call, in any of its rounds. */
  cancel(): void {
    this.#cancelled.abort()
  }

  canAnswer({ method, params }: Question): boolean {
    if (!this.abilities.includes(method)) return false
    const withTools = params['tools'] !== undefined || params['toolChoice'] !== undefined
    if (method === 'sampling/createMessage' && withTools) return this.abilities.includes('sampling.tools')
    if (method !== 'elicitation/create') return true
    // A client that declares elicitation without a mode supports forms (MCP 2025-11-25, Elicitation, Capabilities).
    const { form, url } = this.#capabilities.elicitation ?? {}
    return params['mode'] === 'url' ? url !== undefined : form !== undefined || url === undefined
  }

  ask(question: Question, signal: AbortSignal | undefined): Promise<Record<string, unknown>> {
    const key = `q${(this.#questionCount += 1)}`
    const withdrawn = new AbortController()
    let over = () => {}
    this.#limit?.pause()
    return new Promise<Record<string, unknown>>((resolve, reject) => {
      over = () => reject(new BridgeError('CANCELLED', 'The cell that sent the request has ended'))
      signal?.addEventListener('abort', over, { once: true })
      // A client that cancels the call and answers at once has cancelled it: the cell's interrupt takes a moment.
      this.signal.addEventListener('abort', over, { once: true })
      if (this.signal.aborted) over()
      void this.#result?.finally(over)
      if (this.#send) {
        this.#send(question, withdrawn.signal).then(resolve, reject)
        return
      }
      this.#open.set(key, { question, answer: resolve })
      this.#wake?.()
    }).finally(() => {
      this.signal.removeEventListener('abort', over)
      withdrawn.abort()
      this.#open.delete(key)
      this.#limit?.resume()
    })
  }

  hold<T>(work: Promise<T>): Promise<T> {
    return this.#limit?.hold(work) ?? work
  }

  /** Delivers the client's answers to the questions that `next` returned. */
  answer(responses: Record<string, unknown> | undefined): void {
    for (const [key, response] of Object.entries(responses ?? {})) {
      this.#open.get(key)?.answer(response as Record<string, unknown>)
    }
  }

  /** By the keys that the client answers with. */
  get openQuestions(): InputRequests {
    const questions = [...this.#open].map(([key, { question }]) => [key, question] as const)
    return Object.fromEntries(questions) as unknown as InputRequests
  }

  /** Resolves when the run has a result. */
  async ended(): Promise<void> {
    await this.#result
  }

  /** Resolves to the result, or to the questions that are open by then. */
  async next(): Promise<RunEvent> {
    // Lets questions that were just answered leave the list first.
    await Promise.resolve()
    if (this.#open.size === 0) {
      const asked = new Promise<undefined>((resolve) => (this.#wake = () => resolve(undefined)))
      const result = await Promise.race([this.#result, asked])
      if (result) return { result }
    }
    return { questions: this.openQuestions, state: `${this.id}.${(this.#roundCount += 1)}` }
  }

  /** The same; undefined when there is nothing until then, a time of `performance.now()`. */
  async nextWithin(until: number): Promise<RunEvent | undefined> {
    if (until === Infinity) return this.next()
    // No signal ends the wait: making its error would cost every cell more than the wait.
    let timer: NodeJS.Timeout | undefined
    const left = Math.max(until - performance.now(), 0)
    const patience = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, left, undefined)))
    try {
      return await Promise.race([this.next(), patience])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Whether a request state has the form of one: the name of a run, and the number of its round. */
export function isRunState(state: string): boolean {
  return /^[\da-f-]{36}\.\d+$/.test(state)
}

/** What a client with these capabilities can be asked. */
export function abilitiesOf({ roots, elicitation, sampling }: ClientCapabilities): Ability[] {
  return [
    ...(roots ? ['roots/list' as const] : []),
    ...(elicitation ? ['elicitation/create' as const] : []),
    ...(sampling ? ['sampling/createMessage' as const] : []),
    ...(sampling?.tools ? ['sampling.tools' as const] : []),
  ]
}

// What is open between one client and its resident, what the client is told before the resident answers, and what is
// said again to the next resident when one is lost. Pure.

import type { KeptAnswers } from './kept-answers.ts'
import { exactJson, parseExact, tryParseExact } from '@sandbridge/core/util/json'
import { fieldsOf, isRecord } from '@sandbridge/core/util/json/json.ts'

/** A client's request without an answer. */
interface OpenRequest {
  method: string
  line: Buffer
  /** Of a request whose answer is kept for the next start. */
  question: string | undefined
  /** The result that the client has been told already, as JSON. */
  told: string | undefined
}

type Kept = Pick<KeptAnswers, 'questionOf' | 'find' | 'learn'>

const LOST =
  'The resident bridge ended while this code ran. Its variables are lost. Calls that the code made may or may not have ' +
  'taken effect: check before you run it again. The next call runs in a new session.'
const GONE = 'The resident bridge ended'

export class OpenRequests {
  /** By id, as JSON. */
  readonly #client = new Map<string, OpenRequest>()
  /** Questions of the resident that the client has not answered. */
  readonly #resident = new Set<string>()
  /** Requests that are sent again although the client has their answers. */
  readonly #swallowed = new Set<string>()
  #initialize: { id: string; line: Buffer } | undefined
  #isInitialized = false
  #initialized: Buffer | undefined
  #logLevel: { id: string; line: Buffer } | undefined
  #list: { id: string; line: Buffer } | undefined
  readonly #kept: Kept
  readonly #tell: (line: string) => void

  /** @param tell writes a line to the client */
  constructor(kept: Kept, tell: (line: string) => void) {
    this.#kept = kept
    this.#tell = tell
  }

  /** @returns whether the resident gets this line of the client, which is one value */
  fromClient(line: Buffer, message: unknown = tryParseExact(line.toString())): boolean {
    // Anything else is for the resident to refuse.
    if (!isRecord(message)) return true
    const { method, params } = message
    const id = ['string', 'number', 'bigint'].includes(typeof message['id']) ? exactJson(message['id']) : undefined
    // An answer to a question of this resident; one of an earlier resident has ended.
    if (typeof method !== 'string')
      return 'result' in message || 'error' in message ? id !== undefined && this.#resident.delete(id) : true
    if (method === 'notifications/initialized') this.#initialized = line
    if (method === 'notifications/cancelled') this.#cancelled(params)
    if (id === undefined) return true
    const question = this.#kept.questionOf(method, params)
    const told = question === undefined ? undefined : this.#kept.find(question)
    this.#client.set(id, { method, line, question, told })
    if (method === 'initialize') {
      this.#initialize = { id, line }
      this.#isInitialized = told !== undefined
    }
    if (method === 'logging/setLevel') this.#logLevel = { id, line }
    if (method === 'tools/list') this.#list = { id, line }
    if (told !== undefined) this.#tell(`{"jsonrpc":"2.0","id":${id},"result":${told}}\n`)
    return true
  }

  /**
   * Forgets a request that its client has cancelled: no later resident makes it, and its end is not told. A resident
   * that is connected may still answer it, which the client ignores. A handshake cannot be cancelled. The answer to a
   * request that the client was told is still expected: a second one must not reach the client.
   */
  #cancelled(params: unknown): void {
    if (!isRecord(params) || params['requestId'] === undefined) return
    const id = exactJson(params['requestId'])
    const request = this.#client.get(id)
    if (request?.told === undefined && request?.method !== 'initialize') this.#client.delete(id)
  }

  /** @returns whether the client gets this answer */
  answered(id: string, line: Buffer): boolean {
    if (this.#swallowed.delete(id)) return false
    if (this.#initialize?.id === id) this.#isInitialized = true
    const request = this.#client.get(id)
    this.#client.delete(id)
    if (request?.question === undefined) return true
    const result = JSON.stringify(fieldsOf(tryParseExact(line.toString()))['result']) as string | undefined
    if (result !== undefined) this.#kept.learn(request.question, result)
    if (request.told === undefined) return true
    // It was kept too long. There is no way to take back the answer to a handshake.
    if (request.method === 'tools/list' && request.told !== result)
      this.#tell(messageText({ method: 'notifications/tools/list_changed' }))
    return false
  }

  /** Whether the client waits for an answer. */
  get areAwaited(): boolean {
    return [...this.#client.values()].some(({ told }) => told === undefined)
  }

  /** The ids of requests that the client has answers to, and the next resident is sent. */
  get told(): string[] {
    const early = [...this.#client].flatMap(([id, { told }]) => (told === undefined ? [] : id))
    return [...this.#swallowed, ...early]
  }

  asked(id: string): void {
    this.#resident.add(id)
  }

  /**
   * The resident is lost.
   * @param mayHaveRun whether it may have begun calls that it has not answered
   * @param why a sentence, where it is known
   * @returns what the client is told: no more questions, then what became of its calls
   */
  lost(mayHaveRun: boolean, why = ''): string[] {
    this.#swallowed.clear()
    const told = [...this.#resident].map((id) => {
      const params = { requestId: parseExact(id), reason: GONE }
      return messageText({ method: 'notifications/cancelled', params })
    })
    this.#resident.clear()
    if (!mayHaveRun) return told
    for (const [id, { method }] of this.#client) {
      if (method !== 'tools/call') continue
      this.#client.delete(id)
      const result = { content: [{ type: 'text', text: `${LOST} ${why}`.trim() }], isError: true }
      told.push(messageText({ id: parseExact(id), result }))
    }
    return told
  }

  /**
   * What the next resident is sent first: the handshake, what else it must know of the client, and the requests without
   * an answer. The list of tools makes it prepare a sandbox.
   */
  again(): Buffer[] {
    const known = this.#isInitialized ? [this.#initialize, this.#logLevel, this.#list] : []
    const repeated = known.filter((one) => one !== undefined && !this.#client.has(one.id))
    for (const one of repeated) this.#swallowed.add(one!.id)
    const lines = [...repeated, ...this.#client.values()].map((one) => one!.line)
    if (!this.#initialized) return lines
    return [...lines.slice(0, 1), this.#initialized, ...lines.slice(1)]
  }
}

function messageText(message: object): string {
  return `${exactJson({ jsonrpc: '2.0', ...message })}\n`
}

// What is open between one client and its resident, and what is said again to the next resident when one is lost. Pure.

/** A client's request without an answer. */
interface OpenRequest {
  method: string
  line: Buffer
}

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

  /** @returns whether the resident gets this line of the client */
  fromClient(line: Buffer): boolean {
    const message = parsed(line)
    if (!message) return true
    const id = message['id'] === undefined ? undefined : JSON.stringify(message['id'])
    const { method } = message
    // An answer to a question of this resident; one of an earlier resident has ended.
    if (typeof method !== 'string') return id !== undefined && this.#resident.delete(id)
    if (method === 'notifications/initialized') this.#initialized = line
    if (id === undefined) return true
    this.#client.set(id, { method, line })
    if (method === 'initialize') this.#initialize = { id, line }
    if (method === 'logging/setLevel') this.#logLevel = { id, line }
    return true
  }

  /** @returns whether the client gets this answer */
  answered(id: string): boolean {
    if (this.#swallowed.delete(id)) return false
    if (this.#initialize?.id === id) this.#isInitialized = true
    this.#client.delete(id)
    return true
  }

  asked(id: string): void {
    this.#resident.add(id)
  }

  /**
   * The resident is lost.
   * @param mayHaveRun whether it had begun to serve the client
   * @returns what the client is told: no more questions, then what became of its calls
   */
  lost(mayHaveRun: boolean): string[] {
    this.#swallowed.clear()
    const told = [...this.#resident].map((id) => {
      const params = { requestId: JSON.parse(id) as unknown, reason: GONE }
      return messageText({ method: 'notifications/cancelled', params })
    })
    this.#resident.clear()
    if (!mayHaveRun) return told
    for (const [id, { method }] of this.#client) {
      if (method !== 'tools/call') continue
      this.#client.delete(id)
      const result = { content: [{ type: 'text', text: LOST }], isError: true }
      told.push(messageText({ id: JSON.parse(id) as unknown, result }))
    }
    return told
  }

  /** What the next resident is sent first: the handshake, then the requests without an answer. */
  again(): Buffer[] {
    const lines: Buffer[] = []
    const repeat = (one: { id: string; line: Buffer } | undefined): void => {
      if (!one) return
      if (!this.#client.has(one.id)) this.#swallowed.add(one.id)
      lines.push(one.line)
    }
    if (this.#isInitialized) {
      repeat(this.#initialize)
      if (this.#initialized) lines.push(this.#initialized)
      if (this.#logLevel && !this.#client.has(this.#logLevel.id)) repeat(this.#logLevel)
    }
    lines.push(...[...this.#client.values()].map((request) => request.line))
    if (!this.#isInitialized && this.#initialized) lines.push(this.#initialized)
    return lines
  }
}

function parsed(text: Buffer): Record<string, unknown> | undefined {
  try {
    const message: unknown = JSON.parse(text.toString())
    // A batch, or anything else, is for the resident to refuse.
    return typeof message === 'object' && message !== null && !Array.isArray(message)
      ? (message as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function messageText(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
}

// MCP over stdin and stdout. The package's transport adds listeners for each message that waits to be written, which a
// slow client accumulates, and stops reading for good after a long line.
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createLineSplitter } from '../../util/bytes/line-splitter.ts'
import { OpenRequests } from '../../upstream/reading/open-requests.ts'
import { PipedInput } from '../../util/process/piped-input.ts'
import { DroppedError } from '../../upstream/reading/words.ts'
import { Deliveries } from './client/deliveries.ts'
import { ClientLines, MAX_LINE_BYTES } from '../client-lines.ts'
import { lineOf, type Refusal, toClientMessage } from '../client-message.ts'

export class StdioTransport extends StdioServerTransport {
  readonly deliveries = new Deliveries()
  #isClosed = false
  readonly #input = new PipedInput()
  /** Ids of the client's requests. */
  readonly #unanswered = new Set<unknown>()
  #answered: Promise<void> | undefined
  #onAnswered = () => {}
  readonly #requests = new OpenRequests()
  readonly #messages = new ClientLines({
    onValue: (value) => this.#take(value),
    onRefusal: (one) => this.#refuse(one),
    open: this.#requests,
  })
  readonly #lines: ReturnType<typeof createLineSplitter>
  /** Replaces the package's reading, which its `start` and `close` attach and detach. */
  override _ondata = (chunk: Buffer): void => {
    this.#input.heard()
    this.#lines.push(chunk)
  }
  override _onstdinclose = (): void => void this.answered().then(() => this.close())

  /** @param onTooLong called for each line above MAX_LINE_BYTES that could not be refused */
  constructor(onTooLong: () => void) {
    super(process.stdin, process.stdout)
    this.#lines = createLineSplitter({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#messages.push(line),
      onTooLong: (ends) => this.#messages.tooLong(ends) || onTooLong(),
    })
  }

  #take(value: unknown): void {
    const { message, refusal } = toClientMessage(value, this.#requests, (what) =>
      this.onerror?.(new DroppedError(what)),
    )
    if (refusal) this.#refuse(refusal)
    if (!message) return
    this.#requests.received(message)
    this.deliveries.heard(message)
    if ('method' in message) {
      if ('id' in message) this.#unanswered.add(message.id)
      else if (message.method === 'notifications/cancelled') this.#over(message.params?.['requestId'])
    }
    this.onmessage?.(message)
  }

  #refuse(refusal: Refusal): void {
    this.#write(refusal).catch((error: unknown) => this.onerror?.(error as Error))
  }

  #over(request: unknown): void {
    this.#unanswered.delete(request)
    if (this.#unanswered.size === 0) this.#onAnswered()
  }

  /** The input is over. Resolves when the client waits for nothing more, or has left. */
  answered(): Promise<void> {
    return (this.#answered ??= new Promise((resolve) => {
      this.#onAnswered = resolve
      if (!this.#input.waits(process.stdout, resolve)) return resolve()
      // `printf` ends no line by itself.
      this.#lines.push(Buffer.from('\n'))
      if (this.#unanswered.size === 0) resolve()
    }))
  }

  /** Resolves when the message was handed to the operating system. */
  override async send(message: JSONRPCMessage): Promise<void> {
    this.#requests.sent(message)
    await this.#write(message)
    if (!('method' in message)) this.#over(message.id)
  }

  #write(message: object): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('The client has closed the connection'))
    return new Promise((resolve, reject) => {
      process.stdout.write(`${lineOf(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  }

  override async close(): Promise<void> {
    this.#isClosed = true
    await super.close()
  }
}

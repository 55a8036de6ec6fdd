// MCP over stdin and stdout. The package's transport adds two listeners to stdout for each message that waits to be
// written. With a client that reads slowly these accumulate and Node warns of a leak. This one uses the callback of the
// write instead. It also reads lines itself: the package's stops listening for good after a long one.
import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createLineSplitter } from '../../util/bytes/line-splitter.ts'
import { Deliveries } from './deliveries.ts'
import { MAX_LINE_BYTES, openBatch, opensBatches, refusalOf } from '../client-lines.ts'

export class StdioTransport extends StdioServerTransport {
  readonly deliveries = new Deliveries()
  #isClosed = false
  #takesBatches = false
  readonly #lines: ReturnType<typeof createLineSplitter>
  /** Replaces the package's reading, which its `start` and `close` attach and detach. */
  override _ondata = (chunk: Buffer): void => this.#lines.push(chunk)

  /** @param onTooLong called for each line above MAX_LINE_BYTES, which is dropped */
  constructor(onTooLong: () => void) {
    super(process.stdin, process.stdout)
    this.#lines = createLineSplitter({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#receive(line),
      onTooLong,
    })
  }

  #receive(line: Buffer): void {
    const batch = openBatch(line, this.#takesBatches)
    for (const one of batch?.refusals ?? []) this.#answer(one)
    if (batch) return batch.messages.forEach((one) => this.#take(one))
    try {
      this.#take(JSON.parse(line.toString()))
    } catch (error) {
      this.#report(error)
    }
  }

  /** @param given any JSON */
  #take(given: unknown): void {
    let message: JSONRPCMessage
    try {
      message = parseJSONRPCMessage(given)
    } catch (error) {
      const refused = refusalOf(given)
      if (refused) this.#answer(refused)
      return this.#report(error)
    }
    this.#takesBatches = opensBatches({ ...message }) ?? this.#takesBatches
    this.deliveries.heard(message)
    this.onmessage?.(message)
  }

  #report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)))
  }

  #answer(refused: object): void {
    this.#write(refused).catch((error: unknown) => this.#report(error))
  }

  /** Resolves when the message was handed to the operating system. */
  override send(message: JSONRPCMessage): Promise<void> {
    return this.#write(message)
  }

  #write(message: object): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('The client has closed the connection'))
    return new Promise((resolve, reject) => {
      process.stdout.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  }

  override async close(): Promise<void> {
    this.#isClosed = true
    await super.close()
  }
}

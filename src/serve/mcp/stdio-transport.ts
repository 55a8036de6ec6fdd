// MCP over stdin and stdout. The package's transport adds two listeners to stdout for each message that waits to be
// written. With a client that reads slowly these accumulate and Node warns of a leak. This one uses the callback of the
// write instead. It also reads lines itself: the package's stops listening for good after a long one.
import { deserializeMessage, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createLineSplitter } from '../../util/bytes/line-splitter.ts'
import { MAX_LINE_BYTES } from '../client-lines.ts'

export class StdioTransport extends StdioServerTransport {
  #isClosed = false
  readonly #lines: ReturnType<typeof createLineSplitter>
  /** Replaces the package's reading, which its `start` and `close` attach and detach. */
  override _ondata = (chunk: Buffer): void => this.#lines.push(chunk)

  /** @param onTooLong called for each line above MAX_LINE_BYTES, which is dropped */
  constructor(onTooLong: () => void) {
    super()
    this.#lines = createLineSplitter({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#receive(line),
      onTooLong,
    })
  }

  #receive(line: Buffer): void {
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(line.toString())
    } catch (error) {
      return this.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
    this.onmessage?.(message)
  }

  /** Resolves when the message was handed to the operating system. */
  override send(message: JSONRPCMessage): Promise<void> {
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

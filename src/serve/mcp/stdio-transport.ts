// MCP over stdin and stdout. The package's transport adds two listeners to stdout for each message that waits to be
// written. With a client that reads slowly these accumulate and Node warns of a leak. This one uses the callback of the
// write instead.
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

export class StdioTransport extends StdioServerTransport {
  #isClosed = false

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

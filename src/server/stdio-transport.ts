// MCP over our stdin and stdout. The package's own transport adds two listeners to stdout for each message that waits to be written:
// with a client that reads slowly these grow without bound, and Node warns of a leak. A write has a callback, which needs none.
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

export class StdioTransport extends StdioServerTransport {
  #isClosed = false

  /** Resolves when the message was handed to the system. */
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

// The one form of an answer to a request that is not let in.
import type { ServerResponse } from 'node:http'

/** What is left of the request is thrown away as it comes: a client that is cut off while it sends often never sees the answer. */
export function refuse(response: ServerResponse, status: number, message: string, code = -32_000): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }))
}

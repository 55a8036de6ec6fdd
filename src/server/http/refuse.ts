// The one form of an answer to a request that is not let in.
import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream'

/** How long a client may go on sending after it was refused. */
const LINGER_MS = 2_000

interface RefuseOptions {
  /** JSON-RPC error code. */
  code?: number
  /** End the connection with the answer. */
  close?: boolean
}

/**
 * All of the answer is sent at once, and its end only when the request has arrived: a connection that is closed while its client sends
 * is reset, and the client reports that instead of the answer. What still arrives is thrown away.
 */
export function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  { code = -32_000, close = false }: RefuseOptions = {},
): void {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(close && { connection: 'close' }),
  })
  const { req: request } = response
  if (request.complete) return void response.end(body)
  response.write(body)
  const timer = setTimeout(() => response.end(), LINGER_MS)
  finished(request.resume(), () => {
    clearTimeout(timer)
    response.end()
  })
}

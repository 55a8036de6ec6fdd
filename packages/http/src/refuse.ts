// Sends the response to a request that is refused.
import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import { lineOf } from '@sandbridge/core/serve'

/** How long a refused client may go on sending. */
const LINGER_MS = 2_000

interface RefuseOptions {
  /** JSON-RPC error code. */
  code?: number
  /** Of the request, where it is known. */
  id?: string | number | null
  /** Close the connection after the response. */
  close?: boolean
}

/**
 * Sends the whole response at once, but ends it only when the request has arrived. Closing a connection while its
 * client sends resets it, and the client would report the reset instead of the response. Further request data is
 * discarded.
 */
export function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  { code = -32_000, id = null, close = false }: RefuseOptions = {},
): void {
  const body = lineOf({ jsonrpc: '2.0', error: { code, message }, id })
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

// Creates the transport to a remote upstream.
import type { Transport } from '@modelcontextprotocol/client'
import type { RemoteServer } from '@sandbridge/core/config/entries/server-definition.ts'
import type { Link } from '@sandbridge/core/upstream/dial.ts'
import { createHttpFetch } from './http-fetch.ts'
import { settleLostRequests, withRequestIds } from './http-streams.ts'
import type { RemoteOptions } from '@sandbridge/core/upstream/remote-part.ts'
import { failureOf } from './remote-failure.ts'
import { remoteErrors } from './remote-errors.ts'
import { withTimeout } from '@sandbridge/core/util/async/wait.ts'

/** Timeout of the request that ends the session at the server. */
const TERMINATE_MS = 1000

export function dialRemote(server: RemoteServer, via: 'http' | 'sse', options: RemoteOptions): Link {
  const url = new URL(server.url)
  let trouble: unknown
  let refusal: unknown
  let transport: Transport | undefined
  const http = createHttpFetch({
    allowLinkLocal: options.allowLinkLocal,
    env: options.env,
    onTrouble: (error) => (trouble = error),
    // The event source would reconnect by itself, to a server that no longer knows the session.
    ...(via === 'sse' && { onEventsEnd: () => void transport?.close() }),
  })
  const send = options.auth?.through(http.fetch) ?? http.fetch
  const init = {
    requestInit: { headers: server.headers },
    fetch: async (input: string | URL, requestInit?: RequestInit) => {
      const response = await send(input, requestInit).catch((error: unknown) => {
        refusal = error
        throw error
      })
      // Messages of the older transport have another address, whose failures the package names itself.
      if (new URL(input).pathname !== url.pathname) return response
      const failure = failureOf(response)
      if (!failure) return withRequestIds(response, requestInit)
      await response.body?.cancel()
      throw failure
    },
  }
  const release = (): void => http.close()
  if (via === 'sse') {
    transport = new options.sdk.SSEClientTransport(url, init)
    const start = transport.start.bind(transport)
    // The event source reports a request that could not be sent without its error, and sends another.
    transport.start = () =>
      start().catch((error: unknown) => {
        throw refusal ?? error
      })
    return { via, transport, release, errors: remoteErrors }
  }
  const streamable = new options.sdk.StreamableHTTPClientTransport(url, init)
  const observer = settleLostRequests(() => {
    const latest = trouble
    trouble = undefined
    return latest
  })
  const terminateSession = (): Promise<void> =>
    withTimeout(streamable.terminateSession(), TERMINATE_MS, () => {}).catch(() => {})
  return { via, transport: streamable, observer, terminateSession, release, errors: remoteErrors }
}

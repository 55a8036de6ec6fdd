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
  let transport: Transport | undefined
  const http = createHttpFetch({
    allowLinkLocal: options.allowLinkLocal,
    env: options.env,
    onTrouble: (error) => (trouble = error),
    // The event source would reconnect by itself, to a server that no longer knows the session.
    ...(via === 'sse' && { onEventsEnd: () => void transport?.close() }),
  })
  const init = {
    requestInit: { headers: server.headers },
    fetch: async (input: string | URL, requestInit?: RequestInit) => {
      const response = await http.fetch(input, requestInit)
      options.authProvider?.onResponse?.(new Headers(requestInit?.headers).get('authorization'), response)
      const refusal = response.status === 403 ? options.sdk.extractWWWAuthenticateParams(response) : undefined
      if (refusal?.error === 'insufficient_scope') {
        await options.authProvider?.onMissingScope?.(refusal.scope ?? '')
        // The package handles this error on the newer transport only.
        if (via === 'sse') throw new options.sdk.InsufficientScopeError({ requiredScope: refusal.scope ?? '' })
      }
      // Only responses of the MCP server: those of an authorization server have other meanings.
      if (new URL(input).pathname !== url.pathname) return response
      const failure = failureOf(response)
      if (!failure) return withRequestIds(response, requestInit)
      await response.body?.cancel()
      throw failure
    },
    ...(options.authProvider && { authProvider: options.authProvider }),
  }
  const release = (): void => http.close()
  if (via === 'sse') {
    transport = new options.sdk.SSEClientTransport(url, init)
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

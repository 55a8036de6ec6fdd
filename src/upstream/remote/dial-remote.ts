// Creates the transport to a remote upstream.
import type { Transport } from '@modelcontextprotocol/client'
import type { RemoteServer } from '../../config/entries/server-definition.ts'
import type { Link } from '../dial.ts'
import { createHttpFetch } from './http-fetch.ts'
import { settleLostRequests } from './http-streams.ts'
import type { RemoteOptions } from '../remote-part.ts'
import { failureOf, hadNoEffect, remoteReason, retryAfterOf } from './remote-failure.ts'
import { withTimeout } from '../../util/async/wait.ts'
import { BridgeError } from '../../errors.ts'
import type { Circumstances, Failure, RemoteErrors } from '../failures/circumstances.ts'
import { REMOTE_HINT, UNSURE, withQuotedTail, wordsOf } from '../failures/failures.ts'
import { isSessionLost, statusOf } from '../failures/http-status.ts'
import { BodyRefusedError } from './bounded-body.ts'
import { loginNeeded } from './login-failure.ts'

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
      const refusal = response.status === 403 ? options.sdk.extractWWWAuthenticateParams(response) : undefined
      if (refusal?.error === 'insufficient_scope') {
        await options.authProvider?.onMissingScope?.(refusal.scope ?? '')
        // The package handles this error on the newer transport only.
        if (via === 'sse') throw new options.sdk.InsufficientScopeError({ requiredScope: refusal.scope ?? '' })
      }
      // Only responses of the MCP server: those of an authorization server have other meanings.
      const failure = new URL(input).pathname === url.pathname ? failureOf(response) : undefined
      if (!failure) return response
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

const remoteErrors: RemoteErrors = {
  reasonOf: remoteReason,
  retryAfterOf,
  loginNeeded,
  requestFailure,
}

function requestFailure(error: unknown, what: string, about: Circumstances): Failure {
  const { server } = about
  if (error instanceof BodyRefusedError) {
    return { error: new BridgeError('FRAME_TOO_LARGE', `Server '${server}' answered ${what} with ${error.message}`) }
  }
  const status = statusOf(error)
  const isRefusal = status !== undefined && status >= 300 && status < 500 && status !== 429
  const unknown = hadNoEffect(error) ? '' : UNSURE
  const why = withQuotedTail(remoteReason(error) ?? wordsOf(error, about), about)
  const text = `Server '${server}' failed during ${what}${unknown}: ${why}`
  const hint = isRefusal ? 'The server refuses only this request. Other requests may work.' : REMOTE_HINT
  return {
    error: new BridgeError('UPSTREAM_UNREACHABLE', text, { hint }),
    sessionLost: isSessionLost(error),
    answered: isRefusal,
    // Either the bridge closed the connection, or the next handshake shows whether the server is down.
    isOutage: !isRefusal && (error as { code?: unknown }).code !== 'CONNECTION_CLOSED',
    retryAfterMs: retryAfterOf(error),
  }
}

// Asks a server whether it requires a login, over the transport of its definition first.
import type { FetchLike, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Redactor } from '@sandbridge/core/config/secrets'
import { untilAborted } from '@sandbridge/core/util/async'
import { SignInRequired } from '@sandbridge/remote/sign-in-required.ts'
import { loadSdk, type Sdk } from '@sandbridge/core/upstream/connection'
import { statusOf } from '@sandbridge/core/upstream/failures'
import type { LoginOptions } from '@sandbridge/core/parts'
import { authorizedFetch, type TokenSource } from '../tokens/authorized-fetch.ts'
import { type BearerChallenge, bearerChallenge } from '../tokens/challenge.ts'
import { StoredTokens } from '../tokens/stored-auth.ts'

/** How long the server may take to say whether it requires a login. */
const ANSWER_LIMIT_MS = 60_000

interface Probe {
  options: LoginOptions
  fetch: FetchLike
  redact: Redactor
  /** A login is wanted in any case: only what the server says about it is asked. */
  isCertain: boolean
}

interface Probed {
  /** `served` without a refusal. */
  outcome: 'served' | 'refused'
  /** Whether requests carried a token at the end. */
  hasToken: boolean
  challenge: BearerChallenge | undefined
}

/** @throws the connection error if the server cannot be reached */
export async function probe({ options, fetch, redact, isCertain }: Probe): Promise<Probed> {
  const { server, signal, limitMs, name, store } = options
  if (isCertain) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)])
    const response = await fetch(server.url, { headers: server.headers, signal: limit })
    await response.body?.cancel()
    return { outcome: 'refused', hasToken: false, challenge: bearerChallenge(response, server.url) }
  }
  const stored = new StoredTokens({ name, server, store, redact, now: () => performance.now(), limitMs })
  let challenge: BearerChallenge | undefined
  let hasToken = false
  let refusal: unknown
  const source: TokenSource = {
    lacksScope: (scope, about) => stored.lacksScope(scope, about),
    current: async (given) => {
      const token = await stored.current(given)
      hasToken = token !== undefined
      return token
    },
    renewed: async (about, given) => {
      challenge = about.challenge
      return stored.renewed(about, given)
    },
  }
  const authorized = authorizedFetch(fetch, server.url, source)
  const send: FetchLike = (url, init) =>
    authorized(url, init).catch((error: unknown) => {
      refusal = error
      throw error
    })
  // An event source reports a request that could not be sent without its error.
  const outcome = await outcomeOf(options, send).catch((error: unknown) => {
    if (refusal instanceof SignInRequired) return 'refused' as const
    throw BridgeError.isInstance(refusal) ? refusal : error
  })
  return { outcome, hasToken, challenge }
}

async function outcomeOf(options: LoginOptions, fetch: FetchLike): Promise<'served'> {
  const { url, type, headers } = options.server
  const sdk = await loadSdk()
  const init = { fetch, requestInit: { headers } }
  const http = (): StreamableHTTPClientTransport => new sdk.StreamableHTTPClientTransport(new URL(url), init)
  const sse = (): SSEClientTransport => new sdk.SSEClientTransport(new URL(url), init)
  const [first, second] = type === 'sse' ? [sse, http] : [http, sse]
  try {
    return await connect(sdk, first(), options)
  } catch (error) {
    // Of a server with only the other transport (specification 2025-11-25, backwards compatibility).
    if (![400, 404, 405, 406, 415].includes(statusOf(error) ?? 0)) throw error
    return await connect(sdk, second(), options).catch((other: unknown) => {
      // The first refusal is more useful than that of a transport the server may not support.
      throw statusOf(other) === undefined ? other : error
    })
  }
}

async function connect(
  sdk: Sdk,
  transport: StreamableHTTPClientTransport | SSEClientTransport,
  { clientInfo, signal }: LoginOptions,
): Promise<'served'> {
  const mode = transport instanceof sdk.SSEClientTransport ? 'legacy' : 'auto'
  const client = new sdk.Client(clientInfo, { versionNegotiation: { mode } })
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS)
  try {
    // The package has a timeout for requests, but not for the start of an event stream.
    await untilAborted(client.connect(transport, { signal }), AbortSignal.any([signal, limit]))
    return 'served'
  } catch (error) {
    if (!limit.aborted) throw error
    throw new Error(`the server did not answer within ${ANSWER_LIMIT_MS / 1000} s`, { cause: error })
  } finally {
    await client.close()
    await transport.close()
  }
}

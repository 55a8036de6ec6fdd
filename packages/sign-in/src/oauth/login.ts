// Logs in to a remote server that requires OAuth: opens the user's browser, waits for the authorization server's
// response on a loopback port, and stores the tokens for all bridges of this user. The only part of
// packages/core/src/upstream that needs a user.
import type { FetchLike, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { RemoteServer } from '@sandbridge/core/config/entries/server-definition.ts'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { createHttpFetch } from '@sandbridge/remote/http-fetch.ts'
import { authorizationFetch, authorizationServerFailed } from './authorization-fetch.ts'
import { openCallback, PortTakenError } from './callback.ts'
import type { Callback, LoginOptions } from '@sandbridge/core/upstream/oauth-part.ts'
import { OAuthProvider, scopeUnion } from './oauth-provider.ts'
import { untilAborted } from '@sandbridge/core/util/async/wait.ts'
import { createRedactor, redactStart } from '@sandbridge/core/config/secrets/redact.ts'
import { causesOf, isInvalidMessage, statusOf } from '@sandbridge/core/upstream/failures/http-status.ts'
import { oneLine } from '@sandbridge/core/util/text/one-line.ts'
import { remoteReason } from '@sandbridge/remote/remote-failure.ts'
import { loadSdk, type Sdk } from '@sandbridge/core/upstream/connection/sdk.ts'

/** How long the server may take to say whether it requires a login. */
const ANSWER_LIMIT_MS = 60_000

/**
 * @returns whether a login was needed
 * @throws BridgeError UPSTREAM_AUTH_REQUIRED when the login failed, UPSTREAM_UNREACHABLE when the server could not be
 * reached, CANCELLED
 */
export async function login(options: LoginOptions): Promise<{ wasNeeded: boolean }> {
  const { server, store, name } = options
  const sdk = await loadSdk()
  const http = createHttpFetch({ allowLinkLocal: options.allowLinkLocal ?? false, env: options.env })
  const callback = await listen(options)
  const redact = createRedactor(server, options.env)
  const authorization = authorizationFetch(http.fetch, redact, options.limitMs)
  /** Whether the last request went to the MCP server, and not to its authorization server. */
  let wasServer = true
  const fetch: FetchLike = (url, init) => {
    wasServer = new URL(url).href === new URL(server.url).href
    return wasServer ? http.fetch(url, init) : authorization.fetch(url, init)
  }
  let unanswered: OAuthProvider | undefined
  const wait = new AbortController()
  const signal = AbortSignal.any([options.signal, wait.signal])
  try {
    const wanted = await widerScope(options)
    const provider: OAuthProvider = new OAuthProvider({
      name,
      store,
      serverUrl: server.url,
      callback,
      redirect: (page) => {
        unanswered = provider
        return options.showPage(page)
      },
      client: server.signIn,
      scope: scopeUnion(server.signIn?.scope, wanted) || undefined,
    })
    // Listen from now on: the response may arrive before `showPage` has returned.
    const answer = callback.answer(provider.expectedState)
    const begun = { authProvider: provider, fetch, requestInit: { headers: server.headers } }
    const redeem = (parameters: URLSearchParams): Promise<void> =>
      new sdk.StreamableHTTPClientTransport(new URL(server.url), begun).finishAuth(parameters)
    if (wanted) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_LIMIT_MS)])
      const challenge = await fetch(server.url, { headers: server.headers, signal: limit })
      await challenge.body?.cancel()
      const { resourceMetadataUrl } = sdk.extractWWWAuthenticateParams(challenge)
      await sdk.auth(provider, {
        serverUrl: server.url,
        scope: wanted,
        // A refresh cannot widen a scope, RFC 6749 section 6.
        forceReauthorization: true,
        fetchFn: fetch,
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
      })
    } else if (await isWelcome(sdk, server, begun, options.clientInfo, signal)) {
      return { wasNeeded: false }
    }
    const answers = [answer, ...(options.pastedAddress ? [options.pastedAddress(signal).then(parametersOf)] : [])]
    const parameters = await untilAborted(Promise.race(answers), options.signal)
    unanswered = undefined
    // Check the state first: a response with another state belongs to another login.
    if (parameters.get('state') !== provider.expectedState) {
      throw new BridgeError(
        'UPSTREAM_AUTH_REQUIRED',
        `The login response at server '${name}' belongs to another login`,
        { hint: `Run \`sandbridge login ${name}\` again, and paste the final address of this sign-in.` },
      )
    }
    await redeem(parameters)
    // The scope was requested. If it was not granted, the server will refuse again.
    if (wanted) await store.update(server.url, (grants) => delete grants.missingScope)
    return { wasNeeded: true }
  } catch (error) {
    if (options.signal.aborted) throw new BridgeError('CANCELLED', `The login at server '${name}' was cancelled`)
    if (BridgeError.isInstance(error)) throw error
    const trouble = authorization.trouble()
    if (trouble !== undefined) throw authorizationServerFailed(name, redact(trouble))
    if (!wasServer && causesOf(error).some(isInvalidMessage)) throw invalidAnswer(name, error)
    // Either text may come from a server, and some servers quote the request.
    const reason = remoteReason(error)
    if (reason !== undefined)
      throw new BridgeError('UPSTREAM_UNREACHABLE', `Server '${name}' could not be reached: ${redact(reason)}`)
    throw new BridgeError(
      'UPSTREAM_AUTH_REQUIRED',
      `The login at server '${name}' failed: ${oneLine(redactStart(redact, messageOf(error), 500), 500)}`,
      { hint: hintFor(name, error, callback) },
    )
  } finally {
    wait.abort()
    callback.close()
    http.close()
    await unanswered?.forgetClient()
  }
}

function invalidAnswer(name: string, error: unknown): BridgeError {
  const { issues } = causesOf(error).find(isInvalidMessage) as { issues?: { path: PropertyKey[] }[] }
  const fields = [...new Set(issues?.map(({ path }) => String(path[0] ?? '')).filter(Boolean))].slice(0, 5)
  return new BridgeError(
    'UPSTREAM_AUTH_REQUIRED',
    `The login at server '${name}' failed: its authorization server sent an invalid answer${fields.length > 0 ? ` (${oneLine(fields.join(', '), 200)})` : ''}`,
    { hint: 'Report it to the operator of the server.' },
  )
}

type TransportOptions = NonNullable<ConstructorParameters<typeof StreamableHTTPClientTransport>[1]>

/** Tries the transport of the definition first. The server's refusal makes the MCP client package begin the login. */
async function isWelcome(
  sdk: Sdk,
  { type, url }: RemoteServer,
  options: TransportOptions,
  clientInfo: LoginOptions['clientInfo'],
  signal: AbortSignal,
): Promise<boolean> {
  const http = (): StreamableHTTPClientTransport => new sdk.StreamableHTTPClientTransport(new URL(url), options)
  const sse = (): SSEClientTransport => new sdk.SSEClientTransport(new URL(url), options)
  const [first, second] = type === 'sse' ? [sse, http] : [http, sse]
  try {
    return await connects(sdk, first(), clientInfo, signal)
  } catch (error) {
    // The response of a server that supports only the other transport (specification 2025-11-25, transports, backwards
    // compatibility).
    if (![400, 404, 405, 406, 415].includes(statusOf(error) ?? 0)) throw error
    return await connects(sdk, second(), clientInfo, signal).catch((other: unknown) => {
      // The first refusal is more useful than that of a transport the server may not support.
      throw statusOf(other) === undefined ? other : error
    })
  }
}

async function connects(
  sdk: Sdk,
  transport: StreamableHTTPClientTransport | SSEClientTransport,
  clientInfo: LoginOptions['clientInfo'],
  signal: AbortSignal,
): Promise<boolean> {
  const mode = transport instanceof sdk.SSEClientTransport ? 'legacy' : 'auto'
  const client = new sdk.Client(clientInfo, { versionNegotiation: { mode } })
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS)
  try {
    // The package has a timeout for requests, but not for the start of an event stream.
    await untilAborted(client.connect(transport, { signal }), AbortSignal.any([signal, limit]))
    return true
  } catch (error) {
    if (error instanceof sdk.UnauthorizedError) return false
    if (!limit.aborted) throw error
    throw new Error(`the server did not answer within ${ANSWER_LIMIT_MS / 1000} s`, { cause: error })
  } finally {
    await client.close()
    await transport.close()
  }
}

function hintFor(name: string, error: unknown, { url, port }: Callback): string {
  if (/dynamic client registration/i.test(messageOf(error))) {
    const isLocal = new URL(url).hostname === '127.0.0.1'
    const entry = isLocal ? `{"clientId": …, "callbackPort": ${port}}` : '{"clientId": …}'
    return `Register a client with the operator of the server, with the redirect address ${url}, and write ${entry} as \`oauth\` into the entry of '${name}'.`
  }
  return `Run \`sandbridge login ${name}\` again. If it fails in the same way, contact the operator of the server.`
}

/** @throws BridgeError UPSTREAM_AUTH_REQUIRED when the port that the client is registered with is in use */
async function listen({ name, server, store, openCallback: open = openCallback }: LoginOptions): Promise<Callback> {
  const { byIssuer, latest } = await store.read(server.url)
  // Use the registered port, so that the registration can be reused.
  const port = (latest === undefined ? undefined : byIssuer[latest]?.port) ?? 0
  try {
    return await open(server.signIn?.redirectUri, port)
  } catch (error) {
    if (!(error instanceof PortTakenError)) throw error
    throw new BridgeError('UPSTREAM_AUTH_REQUIRED', `The login at server '${name}' cannot start: ${error.message}`, {
      hint: 'Another login may be waiting there. Stop the program that uses the port, then retry.',
    })
  }
}

/** All granted scopes plus the requested ones; undefined when none are requested. */
async function widerScope({ store, server, scope }: LoginOptions): Promise<string | undefined> {
  const { byIssuer, latest, missingScope } = await store.read(server.url)
  if (scopeUnion(scope, missingScope) === '') return undefined
  const granted = latest === undefined ? undefined : byIssuer[latest]?.tokens?.scope
  return scopeUnion(granted, missingScope, scope)
}

function parametersOf(address: string): URLSearchParams {
  if (!URL.canParse(address.trim())) throw new Error('the pasted text is not an address')
  return new URL(address.trim()).searchParams
}

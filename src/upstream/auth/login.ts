// Logs in to a remote server that wants OAuth: opens the user's browser, waits for the authorization server's answer on a loopback port,
// and stores the tokens for every bridge of this user. The only part of the upstream side that needs a user.
import type { Transport } from '@modelcontextprotocol/client'
import type { RemoteServer } from '../../config/server-definition.ts'
import { BridgeError, messageOf } from '../../errors.ts'
import { createHttpFetch } from '../remote/http-fetch.ts'
import { openCallback, PortTakenError, type Callback } from './callback.ts'
import { OAuthProvider, scopeUnion } from './oauth-provider.ts'
import { createRedactor, redactStart } from '../redact.ts'
import { remoteReason } from '../remote/remote-failure.ts'
import { loadSdk, type Sdk } from '../sdk.ts'
import type { TokenStore } from './token-store.ts'
import { withoutSecrets } from './without-secrets.ts'

export interface LoginOptions {
  name: string
  /** With its placeholders filled in. */
  server: RemoteServer
  store: TokenStore
  /** Shows the user the page to log in at. It also has to be printed: the browser may be on another machine. */
  showPage: (url: URL) => void | Promise<void>
  /** For a browser on another machine: the address it ended up at, as the user copied it. Missing means that there is no such way. */
  pastedAddress?: (signal: AbortSignal) => Promise<string>
  /** Where a document that describes us is published, for authorization servers that take it instead of a registration. */
  clientMetadataUrl?: string
  /** More permissions than the stored login has: the server named them when it refused a call. */
  scope?: string
  clientInfo: { name: string; version: string }
  signal: AbortSignal
  allowLinkLocal?: boolean
  env?: Record<string, string | undefined>
}

/**
 * @returns whether a login was needed at all
 * @throws BridgeError UPSTREAM_AUTH_REQUIRED when the login failed, UPSTREAM_UNREACHABLE when the server could not be asked, CANCELLED
 */
export async function login(options: LoginOptions): Promise<{ wasNeeded: boolean }> {
  const { server, store, name } = options
  const sdk = await loadSdk()
  const http = createHttpFetch({ allowLinkLocal: options.allowLinkLocal ?? false, env: options.env ?? process.env })
  const callback = await listen(options)
  const redact = createRedactor(server)
  const fetch = withoutSecrets(http.fetch, redact)
  const wait = new AbortController()
  const signal = AbortSignal.any([options.signal, wait.signal])
  try {
    const wanted = await widerScope(options)
    const provider = new OAuthProvider({
      name,
      store,
      serverUrl: server.url,
      callback,
      redirect: options.showPage,
      client: server.signIn,
      scope: scopeUnion(server.signIn?.scope, wanted) || undefined,
      ...(options.clientMetadataUrl !== undefined && { clientMetadataUrl: options.clientMetadataUrl }),
    })
    const init = { authProvider: provider, fetch, requestInit: { headers: server.headers } }
    const transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), init)
    if (wanted) {
      const challenge = await fetch(server.url, { headers: server.headers, signal })
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
    } else if (await isWelcome(sdk, transport, options.clientInfo, signal)) {
      return { wasNeeded: false }
    }
    const answers = [
      callback.answer,
      ...(options.pastedAddress ? [options.pastedAddress(signal).then(parametersOf)] : []),
    ]
    const parameters = await Promise.race([...answers, aborted(options.signal)])
    // Before anything else of the answer is looked at: an answer that nobody here asked for is not one.
    if (parameters.get('state') !== provider.expectedState) {
      throw new BridgeError(
        'UPSTREAM_AUTH_REQUIRED',
        `The answer to the login at server '${name}' is not to our question`,
      )
    }
    await transport.finishAuth(parameters)
    // It was asked for: whether it was granted, the server will say.
    if (wanted) await store.update(server.url, (grants) => delete grants.missingScope)
    return { wasNeeded: true }
  } catch (error) {
    if (options.signal.aborted) throw new BridgeError('CANCELLED', `The login at server '${name}' was cancelled`)
    if (BridgeError.isInstance(error)) throw error
    // Either may be what a server said, and some repeat what they were sent.
    const reason = remoteReason(error)
    if (reason !== undefined)
      throw new BridgeError('UPSTREAM_UNREACHABLE', `Server '${name}' could not be reached: ${redact(reason)}`)
    throw new BridgeError(
      'UPSTREAM_AUTH_REQUIRED',
      `The login at server '${name}' failed: ${redactStart(redact, messageOf(error), 500)}`,
      { hint: hintFor(name, error, callback) },
    )
  } finally {
    wait.abort()
    callback.close()
    http.close()
  }
}

/** Asks the server; its refusal makes the MCP client package begin the login. */
async function isWelcome(
  sdk: Sdk,
  transport: Transport,
  clientInfo: LoginOptions['clientInfo'],
  signal: AbortSignal,
): Promise<boolean> {
  const client = new sdk.Client(clientInfo, { versionNegotiation: { mode: 'auto' } })
  try {
    await client.connect(transport, { signal })
  } catch (error) {
    if (error instanceof sdk.UnauthorizedError) return false
    throw error
  }
  await client.close()
  return true
}

function hintFor(name: string, error: unknown, { port }: Callback): string {
  if (/dynamic client registration/i.test(messageOf(error))) {
    return `Register a client with whoever runs the server, with the address http://127.0.0.1:${port}/callback, and write {"clientId": …, "callbackPort": ${port}} as \`oauth\` into the definition of '${name}'.`
  }
  return `Run \`sandbridge login ${name}\` again. If it fails in the same way, ask whoever runs the server.`
}

/** @throws BridgeError UPSTREAM_AUTH_REQUIRED when the port that the client is registered with is in use */
async function listen({ name, server, store }: LoginOptions): Promise<Callback> {
  const { byIssuer, latest } = await store.read(server.url)
  // The port that we are registered with, so that the registration can be used again.
  const port = (latest === undefined ? undefined : byIssuer[latest]?.port) ?? 0
  try {
    return await openCallback(server.signIn?.redirectUri, port)
  } catch (error) {
    if (!(error instanceof PortTakenError)) throw error
    throw new BridgeError('UPSTREAM_AUTH_REQUIRED', `The login at server '${name}' cannot begin: ${error.message}`, {
      hint: 'Another login may be waiting there. End the program that uses the port, and try again.',
    })
  }
}

/** All that is granted already, and what is wanted in addition; undefined when nothing is. */
async function widerScope({ store, server, scope }: LoginOptions): Promise<string | undefined> {
  const { byIssuer, latest, missingScope } = await store.read(server.url)
  if (scopeUnion(scope, missingScope) === '') return undefined
  const granted = latest === undefined ? undefined : byIssuer[latest]?.tokens?.scope
  return scopeUnion(granted, missingScope, scope)
}

function parametersOf(address: string): URLSearchParams {
  if (!URL.canParse(address.trim())) throw new Error('what was pasted is not an address')
  return new URL(address.trim()).searchParams
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

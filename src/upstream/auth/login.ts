// Logs in to a remote server that wants OAuth: opens the user's browser, waits for the authorization server's answer on a loopback port,
// and stores the tokens for every bridge of this user. The only part of the upstream side that needs a user.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Transport } from '@modelcontextprotocol/client'
import type { RemoteServer } from '../../config/server-definition.ts'
import { BridgeError, messageOf } from '../../errors.ts'
import { createHttpFetch } from '../remote/http-fetch.ts'
import { OAuthProvider, type OAuthClient } from './oauth-provider.ts'
import { createRedactor, redactStart } from '../redact.ts'
import { remoteReason } from '../remote/remote-failure.ts'
import { loadSdk, type Sdk } from '../sdk.ts'
import type { TokenStore } from './token-store.ts'

export interface LoginOptions {
  name: string
  /** With its placeholders filled in. */
  server: RemoteServer
  store: TokenStore
  /** Shows the user the page to log in at. It also has to be printed: the browser may be on another machine. */
  showPage: (url: URL) => void | Promise<void>
  /** For a browser on another machine: the address it ended up at, as the user copied it. Missing means that there is no such way. */
  pastedAddress?: (signal: AbortSignal) => Promise<string>
  /** A client that was registered by hand, for servers where nobody can register themselves. */
  client?: OAuthClient
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
  const callback = await openCallback(await knownPort(store, server.url))
  const wait = new AbortController()
  const signal = AbortSignal.any([options.signal, wait.signal])
  try {
    const provider = new OAuthProvider({
      store,
      serverUrl: server.url,
      port: callback.port,
      redirect: options.showPage,
      ...(options.client && { client: options.client }),
      ...(options.clientMetadataUrl !== undefined && { clientMetadataUrl: options.clientMetadataUrl }),
    })
    const init = { authProvider: provider, fetch: http.fetch, requestInit: { headers: server.headers } }
    const transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), init)
    if (options.scope !== undefined) {
      const scope = union((await provider.tokens())?.scope, options.scope)
      // A refresh cannot widen a scope, RFC 6749 section 6.
      await sdk.auth(provider, { serverUrl: server.url, scope, forceReauthorization: true, fetchFn: http.fetch })
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
    return { wasNeeded: true }
  } catch (error) {
    if (options.signal.aborted) throw new BridgeError('CANCELLED', `The login at server '${name}' was cancelled`)
    if (BridgeError.isInstance(error)) throw error
    // Either may be what a server said, and some repeat what they were sent.
    const redact = createRedactor(server)
    const reason = remoteReason(error)
    if (reason !== undefined)
      throw new BridgeError('UPSTREAM_UNREACHABLE', `Server '${name}' could not be reached: ${redact(reason)}`)
    throw new BridgeError(
      'UPSTREAM_AUTH_REQUIRED',
      `The login at server '${name}' failed: ${redactStart(redact, messageOf(error), 500)}`,
      {
        hint: `Run \`sandbridge login ${name}\` again. If it fails in the same way, ask whoever runs the server.`,
      },
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

function union(...scopes: (string | undefined)[]): string {
  return [...new Set(scopes.flatMap((scope) => scope?.split(/\s+/).filter(Boolean) ?? []))].join(' ')
}

/** The port that we are registered with, so that the registration can be used again. */
async function knownPort(store: TokenStore, serverUrl: string): Promise<number> {
  const { byIssuer, latest } = await store.read(serverUrl)
  return (latest === undefined ? undefined : byIssuer[latest]?.port) ?? 0
}

interface Callback {
  port: number
  answer: Promise<URLSearchParams>
  close(): void
}

/** Listens for the one request that brings the answer, RFC 8252 section 7.3. Another port is taken when `port` is in use. */
async function openCallback(port: number): Promise<Callback> {
  let onAnswer: (parameters: URLSearchParams) => void
  const answer = new Promise<URLSearchParams>((resolve) => (onAnswer = resolve))
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (request.method !== 'GET' || url.pathname !== '/callback') {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    response.end('Sandbridge has the answer. You can close this page.\n')
    onAnswer(url.searchParams)
  })
  await bind(server, port).catch(() => bind(server, 0))
  return {
    port: (server.address() as AddressInfo).port,
    answer,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function bind(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
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

// A real authorization server (oidc-provider) on loopback, and a client of the MCP SDK that signs in there as a given
// user.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { Provider } from 'oidc-provider'
import { onTestFinished } from 'vitest'
import { type Era, HttpClient } from '@sandbridge/core/test/support/bridges/http-bridge.ts'

const CALLBACK = 'http://127.0.0.1:1/callback'

export interface AuthorizationServer {
  issuer: string
  /** Signs in as a user, and grants the scopes that the client requests. */
  connect(url: string, user: string, era?: Era): Promise<HttpClient>
}

/** @param scopes that users can grant */
export async function startAuthorizationServer(scopes: string[]): Promise<AuthorizationServer> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    scopes,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // A JWT for any server that the client names (RFC 8707): the bridge must check the audience.
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: scopes.join(' '),
          audience: resource,
          accessTokenFormat: 'jwt',
        }),
        useGrantedResource: () => true,
      },
    },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    cookies: { keys: ['a key of the tests'] },
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
  })
  let signsInAs = ''
  const serve = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url!.startsWith('/interaction/')) return serve(request, response)
    answerInteraction(provider, signsInAs, request, response).catch((error: unknown) =>
      response.writeHead(500).end(String(error)),
    )
  })

  return {
    issuer,
    connect: async (url, user, era = 'modern') => {
      const session = new SignIn((page) => {
        signsInAs = user
        return followToCallback(page)
      })
      const newTransport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: session })
      const newClient = () =>
        new Client(
          { name: 'signs-in', version: '1' },
          { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
        )
      const first = newTransport()
      await newClient()
        .connect(first)
        .catch((error: unknown) => {
          if (!(error instanceof UnauthorizedError)) throw error
        })
      await first.finishAuth(session.answer!)
      const transport = newTransport()
      const client = newClient()
      await client.connect(transport)
      onTestFinished(() => client.close())
      return new HttpClient(client, transport, session.saved!.access_token)
    },
  }
}

/** Signs in and consents like a person with a browser. */
async function answerInteraction(
  provider: Provider,
  accountId: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') return provider.interactionFinished(request, response, { login: { accountId } })
  const grant = new provider.Grant({ accountId, clientId: params.client_id })
  if (params.scope) grant.addOIDCScope(params.scope)
  for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(' '))
  }
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}

/** A browser with cookies, up to the redirect that carries the code. */
async function followToCallback(page: URL): Promise<URLSearchParams> {
  const cookies = new Map<string, string>()
  let next = page
  while (!next.href.startsWith(CALLBACK)) {
    const response = await fetch(next, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      cookies.set(name!, value!)
    }
    const location = response.headers.get('location')
    if (!location) throw new Error(`The sign-in ended at ${next.href}: ${await response.text()}`)
    next = new URL(location, next)
  }
  return next.searchParams
}

class SignIn implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK
  readonly clientMetadata = {
    client_name: 'test',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  }
  readonly #open: (page: URL) => Promise<URLSearchParams>
  /** The parameters with which the authorization server redirected the browser. */
  answer: URLSearchParams | undefined
  saved: OAuthTokens | undefined
  #registered: OAuthClientInformationMixed | undefined
  #verifier = ''

  constructor(open: (page: URL) => Promise<URLSearchParams>) {
    this.#open = open
  }

  clientInformation = () => this.#registered
  saveClientInformation = (information: OAuthClientInformationMixed) => void (this.#registered = information)
  tokens = () => this.saved
  saveTokens = (tokens: OAuthTokens) => void (this.saved = tokens)
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier)
  codeVerifier = () => this.#verifier

  async redirectToAuthorization(page: URL): Promise<void> {
    this.answer = await this.#open(page)
  }
}

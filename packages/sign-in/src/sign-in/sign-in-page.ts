// One sign-in in a browser: client, page, response, tokens (RFC 6749 section 4.1, PKCE, issuer of RFC 9207).
import { createHash, randomBytes } from 'node:crypto'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { untilAborted } from '@sandbridge/core/util/async'
import type { Grant, SignInEntry } from '@sandbridge/core/upstream/auth'
import { grantOf } from '../tokens/grants.ts'
import type { Callback, LoginOptions } from '@sandbridge/core/parts'
import { type Ask, assertMayName } from '../oauth/ask.ts'
import { AuthorizationError } from '../oauth/authorization-error.ts'
import { isIssuer, isSafe } from '../oauth/authorization-server.ts'
import { clientOf } from '../oauth/client.ts'
import { type Discovered, endpointOf } from '../oauth/discovery.ts'
import { PastedAnswer } from './pasted-answer.ts'
import { register, type RegisteredClient } from '../oauth/registration.ts'
import { type OAuthClient, requestTokens, type TokenEndpoint, type Tokens } from '../oauth/token-requests.ts'

interface SignIn {
  options: LoginOptions
  callback: Callback
  ask: Ask
  discovered: Discovered
  entry: SignInEntry
}

interface Issued {
  tokens: Tokens
  endpoint: TokenEndpoint
  /** A client that this sign-in has registered. It is stored with its tokens only: this one may be given up. */
  client: RegisteredClient | undefined
}

export class SignInPage {
  readonly #signIn: SignIn
  /** The authorization server must return it, RFC 6749 section 10.12. */
  readonly #state = randomBytes(24).toString('base64url')
  readonly #verifier = randomBytes(32).toString('base64url')
  #registered: RegisteredClient | undefined

  constructor(signIn: SignIn) {
    this.#signIn = signIn
  }

  /** @throws AuthorizationError, BridgeError */
  async signIn(scope: string | undefined): Promise<Issued> {
    const { options, callback, discovered, ask } = this.#signIn
    const client = await this.#client(scope)
    // Where a client is registered with another redirect address than ours, the authorization server wants that one.
    const redirectUri = this.#registered?.redirect_uris[0] ?? callback.url
    const stop = new AbortController()
    try {
      // Listen from now on: the response may arrive before `showPage` has returned.
      const answer = callback.answer(this.#state, options.name)
      await options.showPage(this.#page(client, redirectUri, scope))
      const pasted = this.#pasted(AbortSignal.any([options.signal, stop.signal]))
      const parameters = await untilAborted(Promise.race([answer, ...pasted]), options.signal)
      const code = await this.#codeIn(parameters)
      const endpoint = endpointOf(discovered)
      const grant = { grant_type: 'authorization_code', code, code_verifier: this.#verifier, redirect_uri: redirectUri }
      options.store.secrets.add(code, this.#verifier)
      const tokens = await requestTokens(ask, endpoint, client, grant).catch((error: unknown) => this.#forgotten(error))
      return { tokens, endpoint, client: this.#registered }
    } finally {
      stop.abort()
    }
  }

  /** The client of the entry, one that was registered before, or a new one. */
  async #client(scope: string | undefined): Promise<OAuthClient> {
    const { options, callback, discovered, ask, entry } = this.#signIn
    const { name, server, store, isFresh } = options
    const { issuer, elsewhere } = discovered.server
    const { byIssuer } = await store.read(entry)
    const grant = Object.hasOwn(byIssuer, issuer) ? byIssuer[issuer] : undefined
    const isReusable = grant?.client && isFresh !== true && grant.unanswered !== true && isForHere(grant, callback)
    const known = clientOf({ name, server, issuer, elsewhere, grant: isReusable ? grant : undefined })
    if (known) {
      // It is noted before the page is shown, as a signal may end this process while the user looks at an error.
      if (known === grant?.client) await this.#change((kept) => (kept.unanswered = true))
      return known
    }
    const isChosen = server.signIn?.redirectUri !== undefined || !callback.url.startsWith('http://127.0.0.1:')
    this.#registered = await register({ ask, server: discovered.server, redirectUri: callback.url, isChosen, scope })
    store.secrets.add(this.#registered.client_secret)
    return this.#registered
  }

  /**
   * @throws AuthorizationError for anything but a web page: the address comes from the server, and a browser can also
   * open programs.
   */
  #page(client: OAuthClient, redirectUri: string, scope: string | undefined): URL {
    const { options, discovered } = this.#signIn
    const { server, resource } = discovered
    if (server.authorizationEndpoint === undefined)
      throw new AuthorizationError(`the metadata of ${server.issuer} has no authorization_endpoint`)
    const page = new URL(server.authorizationEndpoint)
    if (!isSafe(page.href)) throw new AuthorizationError('the login page does not use https')
    assertMayName(page, options.server)
    const parameters = {
      response_type: 'code',
      client_id: client.client_id,
      code_challenge: createHash('sha256').update(this.#verifier).digest('base64url'),
      code_challenge_method: 'S256',
      redirect_uri: redirectUri,
      state: this.#state,
      scope,
      // OpenID Connect Core 1.0, section 11: without it, offline access is not granted.
      prompt: scope?.split(' ').includes('offline_access') ? 'consent' : undefined,
      resource,
    }
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) page.searchParams.set(name, value)
    return page
  }

  #pasted(signal: AbortSignal): Promise<URLSearchParams>[] {
    const { pasted } = this.#signIn.options
    if (!pasted) return []
    const read = async (): Promise<URLSearchParams> => {
      const answer = new PastedAnswer(this.#state)
      for (let problem: string | undefined; ;) {
        const found = answer.add(await pasted(signal, problem))
        if (typeof found !== 'string') return found
        problem = found
      }
    }
    return [read()]
  }

  /** @throws AuthorizationError for a refusal, or a response that another authorization server has sent */
  async #codeIn(parameters: URLSearchParams): Promise<string> {
    const { issuer, namesItself } = this.#signIn.discovered.server
    const isBare = !parameters.has('state')
    if (!isBare) await this.#change((grant) => delete grant.unanswered)
    const code = parameters.get('code')
    const error = parameters.get('error')
    const named = parameters.get('iss')
    if (!isBare && (named === null ? namesItself : !isIssuer(named, issuer))) {
      throw new AuthorizationError(
        named === null
          ? `the response does not name its authorization server, as ${issuer} does`
          : `the response is of another authorization server, ${named}, and not of ${issuer}`,
      )
    }
    if (error !== null) {
      const description = parameters.get('error_description') ?? undefined
      const text = description === undefined ? error : `${error}: ${description}`
      // Any page can send it without the state: it changes nothing that is kept.
      const about = isBare ? {} : { said: { code: error, description } }
      return this.#forgotten(new AuthorizationError(`the authorization server refused it: ${text}`, about))
    }
    if (!code) throw new AuthorizationError('the response has neither a code nor an error')
    return code
  }

  /** A client that the authorization server does not know is registered anew the next time. @throws the error */
  async #forgotten(error: unknown): Promise<never> {
    const isClients = error instanceof AuthorizationError && error.isUnknownClient
    if (isClients && !this.#registered) await this.#change((grant) => delete grant.client)
    throw error
  }

  /** Best effort, for a grant that there is. */
  async #change(change: (grant: Grant) => void): Promise<void> {
    const { options, entry, discovered } = this.#signIn
    const { issuer } = discovered.server
    const { byIssuer } = await options.store.read(entry)
    if (!Object.hasOwn(byIssuer, issuer)) return
    await options.store
      .update(entry, (grants) => change(grantOf(grants, issuer)))
      .catch((error: unknown) => {
        if (!BridgeError.isInstance(error)) throw error
      })
  }
}

/** A client is registered with its redirect address, including the port, and its secret may expire. */
function isForHere({ client, port }: Grant, callback: Callback): boolean {
  const { client_secret_expires_at: expires = Infinity } = client ?? {}
  if (expires <= Date.now() / 1000) return false
  const addresses = client?.redirect_uris
  if (!Array.isArray(addresses) || addresses.length === 0) return port === callback.port
  return addresses.includes(callback.url) || addresses.includes(callback.url.replace('//127.0.0.1:', '//localhost:'))
}

// How one set of servers authorizes its requests, and how its user signs in to a server in a browser.
import type { ServerDefinition, RemoteServer } from '../../config/entries/server-definition.ts'
import type { ClientContext } from '../../config/settings/client-context.ts'
import { HeldSecrets } from '../../config/secrets/redact.ts'
import type { Redactor } from '../../config/secrets/redact.ts'
import { BridgeError, messageOf } from '../../errors.ts'
import type { EventStream } from '../../observe/events/event-stream.ts'
import { newId } from '../../observe/events/new-id.ts'
import type { SignInOptions } from '../upstream.ts'
import { oauth, type ServerAuth, type SignInPlace } from '../sign-in-part.ts'
import { remote } from '../remote-part.ts'
import { mayLogIn, ownCredentials } from './own-credentials.ts'
import type { TokenStore } from './sign-in-store.ts'

/** After this many sign-ins in a row without a successful call, the user is not asked again. */
const MAX_FAILED = 3

interface SignInsOptions {
  clientInfo: { name: string; version: string }
  /** Where tokens are stored. Missing means no sign-ins. */
  tokenStore?: TokenStore
  /** Missing means that users sign in on this machine. */
  signInPlace?: SignInPlace | undefined
  allowLinkLocal: boolean
  context: Pick<ClientContext, 'env' | 'cwd'>
  events: EventStream
  now: () => number
}

export class SignIns {
  readonly #options: SignInsOptions
  /** Kept across connections: a token stays valid, and failing credentials must not be retried forever. */
  readonly #credentials = new Map<string, ServerAuth>()
  /** Sign-ins to each server since its last successful call. */
  readonly #counts = new Map<string, number>()
  /** Every token that requests carry, or have carried. */
  readonly held: HeldSecrets

  constructor(options: SignInsOptions) {
    this.#options = options
    this.held = options.tokenStore?.secrets ?? new HeldSecrets()
  }

  /** Authorizes requests to a server. @throws BridgeError CONFIG_INVALID for credentials that this build cannot use */
  async authOf(name: string, server: RemoteServer, redact: Redactor): Promise<ServerAuth | undefined> {
    const { context } = this.#options
    if (server.headersHelper !== undefined) {
      const { helperAuth } = await remote.for(`The entry of ${name}`)
      const helper = helperAuth(name, server, context, this.held)
      const outer = await this.#signInAuth(name, server, redact)
      return outer ? { through: (fetch) => outer.through(helper.through(fetch)) } : helper
    }
    return this.#signInAuth(name, server, redact)
  }

  async #signInAuth(name: string, server: RemoteServer, redact: Redactor): Promise<ServerAuth | undefined> {
    const { tokenStore: store, now } = this.#options
    const { url, oauth: credentials } = server
    // The user's own header is what they want sent. A build without OAuth reaches most servers, too.
    if (!credentials && !(store && oauth.isHere && mayLogIn(server))) return undefined
    const { createClientCredentialsAuth, createStoredAuth } = await oauth.for(`The entry of ${name}`)
    if (!credentials) return store && createStoredAuth({ name, server, store, redact, now })
    const key = JSON.stringify([name, url, credentials])
    const auth =
      this.#credentials.get(key) ??
      createClientCredentialsAuth({ name, server, credentials, redact, now, held: this.held })
    this.#credentials.set(key, auth)
    return auth
  }

  /** Whether `signIn` helps when the server requires authentication. */
  canSignIn({ name, transport }: ServerDefinition): boolean {
    if (!this.#options.tokenStore || !oauth.isHere || transport.type === 'stdio' || ownCredentials(transport))
      return false
    return (this.#counts.get(name) ?? 0) < MAX_FAILED
  }

  /** @param server with its placeholders filled in @throws BridgeError as `login` does, or what `showPage` throws */
  async signIn(name: string, server: RemoteServer, { showPage, signal }: SignInOptions): Promise<void> {
    const { tokenStore: store, signInPlace, events, context, ...options } = this.#options
    if (!store) return
    const { login } = await oauth.for(`Signing in to ${name}`)
    const about = { type: 'sign-in' as const, id: newId(), server: name }
    try {
      await login({
        name,
        server,
        store,
        showPage,
        openCallback: signInPlace?.page?.openCallback,
        signal,
        env: context.env,
        clientInfo: options.clientInfo,
        allowLinkLocal: options.allowLinkLocal,
      })
    } catch (error) {
      const code = BridgeError.isInstance(error) ? error.code : 'INTERNAL'
      events.emit({ ...about, outcome: 'failed', error: { code, message: messageOf(error) } })
      throw error
    }
    events.emit({ ...about, outcome: 'signed-in' })
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** A call succeeded: its server may be signed in to again. */
  succeeded(name: string): void {
    this.#counts.delete(name)
  }
}

// Authorization of requests to remote servers by OAuth, as far as the core knows it.
import type { FetchLike } from '@modelcontextprotocol/client'
import type { ClientCredentials, RemoteServer } from '../config/entries/server-definition.ts'
import type { HeldSecrets, Redactor } from '../config/secrets/redact.ts'
import type { Environment } from '../config/settings/client-context.ts'
import { Part } from '../util/part.ts'
import type { Grant, TokenStore } from './auth/sign-in-store.ts'

/** Without it, servers that require a sign-in do not start. */
export const oauth = new Part<OAuthPart>('OAuth')

interface OAuthPart {
  /**
   * Signs in to a server in the user's browser.
   * @throws BridgeError UPSTREAM_AUTH_REQUIRED when the login failed, UPSTREAM_UNREACHABLE when the server could not be
   * reached, CANCELLED
   */
  login: (options: LoginOptions) => Promise<LoginOutcome>
  /** Authorizes requests with the tokens of such a login. */
  createStoredAuth: (options: StoredAuthOptions) => ServerAuth
  /** Authorizes requests as a program instead of a user. */
  createClientCredentialsAuth: (options: ClientCredentialsOptions) => ServerAuth
  /** Revokes the tokens of a sign-in at its authorization server, as far as that can be done. Never rejects. */
  revokeGrant: (grant: Grant, options: RevokeOptions) => Promise<Revocation>
}

export interface LoginOutcome {
  /** Whether the user has signed in now. */
  wasNeeded: boolean
  /** Whether there was a sign-in that works. */
  wasSignedIn?: boolean
}

/** What became of tokens: `unknown` where the authorization server has no way to revoke them. */
export type Revocation = 'revoked' | 'refused' | 'unknown' | 'none'

export interface RevokeOptions {
  /** The server of the entry; for an entry that is gone, its address alone. */
  server: Pick<RemoteServer, 'url' | 'headers' | 'signIn'>
  name: string
  issuer: string
  env: Environment
}

export interface Callback {
  /** The redirect address for the browser. */
  url: string
  port: number
  /** The response with this state, perhaps a refusal; none is accepted before. @param name the server's */
  answer(state: string, name: string): Promise<URLSearchParams>
  close(): void
}

/**
 * @param registered the redirect address that the entry of the server names
 * @param port to use when no address is registered and the port is on this machine
 */
type OpenCallback = (registered: string | undefined, port: number) => Promise<Callback>

/** The page where users of other machines sign in with their own browsers. */
export interface SignInPage {
  /** May be shown to anyone: the page asks who they are. @param server its name */
  addressFor(server: string): string
  /** A link for one user, who needs no token with it. @param page the authorization server's page */
  linkTo(about: { server: string; user: string | undefined; page: URL }): string
  openCallback: OpenCallback
}

export interface SignInPlace {
  /** Further options for `sandbridge login SERVER`, such as ` --user ann`. */
  loginOptions: string
  /** For browsers on other machines; missing means that users sign in on this one. */
  page: SignInPage | undefined
}

export interface ServerAuth {
  /** A `fetch` that authorizes requests to the server's origin. */
  through(fetch: FetchLike): FetchLike
}

export interface LoginOptions {
  name: string
  /** With its placeholders filled in. */
  server: RemoteServer
  store: TokenStore
  /** Shows the user the login page. It must also print the address: the browser may be on another machine. */
  showPage: (url: URL) => void | Promise<void>
  /** Where to wait for the response; missing means a port of this machine. */
  openCallback?: OpenCallback | undefined
  /**
   * For a browser on another machine: a line as pasted by the user. Missing when the user cannot paste one.
   * @param problem what was wrong with the line before; undefined the first time
   */
  pasted?: (signal: AbortSignal, problem: string | undefined) => Promise<string>
  /** Scopes beyond those of the stored login: the server named them when it refused a call. */
  scope?: string
  /** Register anew, and sign in although there is a sign-in that works. */
  isFresh?: boolean
  clientInfo: { name: string; version: string }
  signal: AbortSignal
  allowLinkLocal?: boolean
  env: Environment
  /** Timeout of one request to the authorization server. */
  limitMs?: number
}

export interface StoredAuthOptions {
  name: string
  /** With its placeholders filled in. */
  server: RemoteServer
  store: TokenStore
  redact: Redactor
  now: () => number
  /** Timeout of one request to the authorization server. */
  limitMs?: number | undefined
}

export interface ClientCredentialsOptions {
  name: string
  server: Pick<RemoteServer, 'url' | 'headers'>
  credentials: ClientCredentials
  redact: Redactor
  /** Receives the tokens, for redaction. */
  held: HeldSecrets
  now: () => number
  /** Timeout of one request to the authorization server. */
  limitMs?: number
}

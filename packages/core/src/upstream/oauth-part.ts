// Authorization of requests to remote servers by OAuth, as far as the core knows it.
import type { AuthProvider } from '@modelcontextprotocol/client'
import type { ClientCredentials, RemoteServer } from '../config/entries/server-definition.ts'
import type { Redactor } from '../config/secrets/redact.ts'
import type { Environment } from '../config/settings/client-context.ts'
import { Part } from '../util/part.ts'
import type { TokenStore } from './auth/token-store.ts'

/** Without it, servers that require a sign-in do not start. */
export const oauth = new Part<OAuthPart>('OAuth')

interface OAuthPart {
  /**
   * Signs in to a server in the user's browser.
   * @returns whether that was needed
   * @throws BridgeError UPSTREAM_AUTH_REQUIRED when the login failed, UPSTREAM_UNREACHABLE when the server could not be
   * reached, CANCELLED
   */
  login: (options: LoginOptions) => Promise<{ wasNeeded: boolean }>
  /** Authorizes requests with the tokens of such a login. */
  createStoredAuth: (options: StoredAuthOptions) => ServerAuth
  /** Authorizes requests as a program instead of a user. */
  createClientCredentialsAuth: (options: ClientCredentialsOptions) => ServerAuth
}

export interface Callback {
  /** The redirect address for the browser. */
  url: string
  port: number
  /** The response with this state, which may be a refusal. No response is accepted before this is called. */
  answer(state: string): Promise<URLSearchParams>
  close(): void
}

/**
 * @param registered the redirect address of a client that was registered manually
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

/** How the user of a set of servers signs in. */
export interface SignInPlace {
  /** Further options for `sandbridge login SERVER`, such as ` --user ann`. */
  loginOptions: string
  /** For browsers on other machines; missing means that users sign in on this one. */
  page: SignInPage | undefined
}

/** Authorizes requests to a server. */
export interface ServerAuth extends AuthProvider {
  /** Called with every response, before the package handles it. @param authorization the header of the request */
  onResponse?: (authorization: string | null, response: Response) => void
  /** Called when the server refused a request because the token lacks a scope. Never rejects. */
  onMissingScope?: (scope: string) => Promise<void>
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
   * For a browser on another machine: the final address, as pasted by the user. Missing when the user cannot paste one.
   */
  pastedAddress?: (signal: AbortSignal) => Promise<string>
  /** Scopes beyond those of the stored login: the server named them when it refused a call. */
  scope?: string
  clientInfo: { name: string; version: string }
  signal: AbortSignal
  allowLinkLocal?: boolean
  /** Where proxy settings come from. */
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
  limitMs?: number
}

export interface ClientCredentialsOptions {
  name: string
  serverUrl: string
  credentials: ClientCredentials
  redact: Redactor
  now: () => number
  /** Timeout of one request to the authorization server. */
  limitMs?: number
}

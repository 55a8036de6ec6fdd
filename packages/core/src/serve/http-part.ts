// Serving many users over HTTP, as far as the core knows it.
import type { Bridge } from '../bridge/bridge.ts'
import type { Store } from '../keep/store.ts'
import type { SignInPage } from '../upstream/oauth-part.ts'
import { Part } from '../util/part.ts'
import type { ServerParts } from './mcp/run-python.ts'

export const http = new Part<HttpPart>('HTTP')

export interface HttpPart {
  /** Parses what `--http` gives. @throws BridgeError CONFIG_INVALID */
  parseAddress: (text: string) => Address
  /** @param publicUrl the address at which clients reach the bridge; missing if all are on this machine */
  openHttp: (publicUrl: string | undefined) => HttpOpening
  namedTokens: (store: Store) => NamedTokens
}

interface HttpOpening {
  /** Where users on other machines sign in to servers. */
  signInPage: SignInPage | undefined
  /** @throws BridgeError CONFIG_INVALID when the address cannot be listened on or an option is invalid */
  serve: (bridge: Bridge, options: ServedHttp) => Promise<HttpService>
}

export interface Address {
  host: string
  /** 0 means any free port. */
  port: number
}

export interface TlsFiles {
  cert: string
  key: string
}

export interface ServedHttp extends Address {
  /** The bridge's own token. */
  token: string
  tls?: TlsFiles | undefined
  /** Addresses and ranges of trusted proxies. */
  trustedProxies?: readonly string[]
  offers?: ServerParts['offers']
}

export interface HttpService {
  url: string
  /** Accepts no new session, and waits until no cell runs and no call is being answered, at most `maxMs`. */
  drain(maxMs: number): Promise<void>
  /**
   * Stops listening and aborts open requests.
   * @param settle ends what open requests wait for, so that they are answered before their connections end
   */
  close(settle?: () => Promise<void>): Promise<void>
}

/** Tokens named after a person or a program. */
export interface NamedTokens {
  list(): Promise<Record<string, NamedToken>>
  /**
   * @returns the token, which cannot be read again
   * @throws BridgeError CONFIG_INVALID for an invalid name and for a name that already has a token
   */
  create(name: string, expires?: Date): Promise<string>
  /** @throws BridgeError CONFIG_INVALID when no token has this name */
  revoke(name: string): Promise<void>
}

interface NamedToken {
  created: string
  expires?: string | undefined
}

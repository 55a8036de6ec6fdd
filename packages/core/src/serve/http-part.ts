// Serving many users over HTTP, as far as the core knows it.
import type { Store } from '../keep/store.ts'
import { Part } from '../util/part.ts'

export const http = new Part<HttpPart>('HTTP')

export interface HttpPart {
  /**
   * Serves clients until a signal stops it.
   * @throws BridgeError CONFIG_INVALID for an invalid address, or one that other machines can reach without a token
   */
  runHttp: (flags: HttpFlags) => Promise<void>
  namedTokens: (store: Store) => NamedTokens
}

export interface HttpFlags {
  http: string
  ui?: string | true
  tlsCert?: string
  tlsKey?: string
  trustedProxy?: string[]
}

/** Tokens named after a person or a program. */
export interface NamedTokens {
  list(): Promise<Record<string, { created: string; expires?: string | undefined }>>
  /**
   * @returns the token, which cannot be read again
   * @throws BridgeError CONFIG_INVALID for an invalid name and for a name that already has a token
   */
  create(name: string, expires?: Date): Promise<string>
  /** @throws BridgeError CONFIG_INVALID when no token has this name */
  revoke(name: string): Promise<void>
}

// Serving many users over HTTP, as far as the core knows it.
import type { Store } from '../util/stores/store.ts'
import { Part } from '../util/part.ts'

export const http = new Part<HttpPart>('HTTP')

export interface HttpPart {
  /**
   * Serves clients until a signal stops it.
   * @throws BridgeError CONFIG_INVALID for an invalid address, or one that other machines can reach without a token
   */
  runHttp: (flags: HttpFlags) => Promise<void>
  /** Those who have a token of their own. */
  namedUsers: (store: Store) => Promise<string[]>
}

export interface HttpFlags {
  http: string
  ui?: string | true
  tlsCert?: string
  tlsKey?: string
  trustedProxy?: string[]
}

// Servers that are reached over HTTP, as far as the core knows them.
import type { RemoteServer } from '../config/entries/server-definition.ts'
import { Part } from '../util/part.ts'
import type { Sdk } from './connection/sdk.ts'
import type { Link } from './dial.ts'
import type { ServerAuth } from './oauth-part.ts'

export const remote = new Part<RemotePart>('the HTTP client')

interface RemotePart {
  dialRemote: (server: RemoteServer, via: 'http' | 'sse', options: RemoteOptions) => Link
}

export interface RemoteOptions {
  sdk: Sdk
  allowLinkLocal: boolean
  env: Record<string, string | undefined>
  /** Authorizes its requests; missing means that its headers are all it gets. */
  auth?: ServerAuth | undefined
}

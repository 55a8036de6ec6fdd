// Servers that are reached over HTTP, as far as the core knows them.
import type { RemoteServer } from '../config/entries/server-definition.ts'
import type { HeldSecrets } from '../config/secrets/redact.ts'
import type { ClientContext } from '../config/settings/client-context.ts'
import { Part } from '../util/part.ts'
import type { Sdk } from './connection/sdk.ts'
import type { Link } from './dial.ts'
import type { ServerAuth } from './sign-in-part.ts'

export const remote = new Part<RemotePart>('the HTTP client')

interface RemotePart {
  dialRemote: (server: RemoteServer, via: 'http' | 'sse', options: RemoteOptions) => Link
  /** The transport with the headers of its helper, whose output is never quoted. @throws BridgeError CONFIG_INVALID */
  withHelpersHeaders: (name: string, server: RemoteServer, place: HelperPlace) => Promise<RemoteServer>
  /** Runs the helper once more when its headers are refused, and repeats the request, which had no effect. */
  helperAuth: (name: string, server: RemoteServer, place: HelperPlace, held: HeldSecrets) => ServerAuth
}

type HelperPlace = Pick<ClientContext, 'env' | 'cwd'>

export interface RemoteOptions {
  sdk: Sdk
  allowLinkLocal: boolean
  env: Record<string, string | undefined>
  /** Authorizes its requests; missing means that its headers are all it gets. */
  auth?: ServerAuth | undefined
}

// Finding and adding servers that the user has not configured. The code for both is loaded at its first use.
import { type Settings, settingsOf } from '../../config/settings/settings.ts'
import type { Log } from '../../util/log.ts'
import type { Addition } from './plan-addition.ts'
import type { UpstreamJail } from '../../upstream/create-upstreams.ts'
import type { Registries } from './directory/registries.ts'
import { REGISTRY_SETTINGS } from './settings.ts'
import { CLIENT_INFO } from '../../util/version.ts'

/** Returns a function that loads the registries at its first call. */
export function registriesOf(settings: Settings, log: Log): () => Promise<Registries> {
  const { stateDir } = settings
  const { registries: addresses } = settingsOf(settings, REGISTRY_SETTINGS)
  let loading: Promise<Registries> | undefined
  return () =>
    (loading ??= import('./directory/registries.ts').then(
      (module) => new module.Registries({ addresses, stateDir, env: process.env, log }),
    ))
}

/** Returns access to servers that were added from registries. */
export function addedServersOf(settings: Settings, log: Log, jail: UpstreamJail): AddedServersAccess {
  const { stateDir } = settings
  const load = () => import('./add-server.ts')
  return {
    engine: async () => (await load()).engineName(),
    jailed: async (addition) => (await load()).jailed(addition, settings),
    add: async (addition, answers, signal) =>
      (await load()).addServer(addition, { stateDir, clientInfo: CLIENT_INFO, log, jail, answers, signal }),
  }
}

/** Adds a server of a registry to the user's servers. */
export interface AddedServersAccess {
  /** `podman` or `docker`. */
  engine(): Promise<string>
  /** Puts it in a jail where this machine can make one. */
  jailed(addition: Addition): Promise<Addition>
  /** Starts it once, then saves it. @throws BridgeError with the reason why it did not start */
  add(addition: Addition, answers: ReadonlyMap<string, string>, signal: AbortSignal): Promise<unknown>
}

// Finding and adding servers that the user has not configured. The code for both is loaded at its first use.
import type { Settings } from '../config/settings/settings.ts'
import type { Log } from '../util/log.ts'
import type { AddedServersAccess } from '../calls/methods/method.ts'
import type { JailPlace } from '../features/registry/quarantine.ts'
import type { Registries } from '../features/registry/directory/registries.ts'
import { CLIENT_INFO } from '../util/version.ts'

/** Returns a function that loads the registries at its first call. */
export function registriesOf({ registries: addresses, stateDir }: Settings, log: Log): () => Promise<Registries> {
  let loading: Promise<Registries> | undefined
  return () =>
    (loading ??= import('../features/registry/directory/registries.ts').then(
      (module) => new module.Registries({ addresses, stateDir, env: process.env, log }),
    ))
}

/** Returns access to servers that were added from registries. */
export function addedServersOf(settings: Settings, log: Log, jail: JailPlace): AddedServersAccess {
  const { stateDir } = settings
  const load = () => import('../features/registry/add-server.ts')
  return {
    engine: async () => (await load()).engineName(),
    jailed: async (addition) => (await load()).jailed(addition, settings),
    add: async (addition, answers, signal) =>
      (await load()).addServer(addition, { stateDir, clientInfo: CLIENT_INFO, log, jail, answers, signal }),
  }
}

// Finding and adding servers that the user has not configured. The code for both is loaded at its first use.
import type { Settings } from '../config/settings.ts'
import type { Log } from '../log.ts'
import type { AddedServersAccess } from '../proxy/methods/method.ts'
import type { JailPlace } from '../registry/quarantine.ts'
import type { Registries } from '../registry/registries.ts'
import { CLIENT_INFO } from '../version.ts'

/** Returns a function that loads the registries at its first call. */
export function registriesOf({ registries: addresses, stateDir }: Settings, log: Log): () => Promise<Registries> {
  let loading: Promise<Registries> | undefined
  return () =>
    (loading ??= import('../registry/registries.ts').then(
      (module) => new module.Registries({ addresses, stateDir, env: process.env, log }),
    ))
}

/** Returns access to servers that were added from registries. */
export function addedServersOf(settings: Settings, log: Log, jail: JailPlace): AddedServersAccess {
  const { stateDir } = settings
  const load = () => import('../registry/add-server.ts')
  return {
    engine: async () => (await load()).engineName(),
    jailed: async (addition) => (await load()).jailed(addition, settings),
    add: async (addition, answers, signal) =>
      (await load()).addServer(addition, { stateDir, clientInfo: CLIENT_INFO, log, jail, answers, signal }),
  }
}

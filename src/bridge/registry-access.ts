// Servers that the user has not configured yet: finding and adding them. The code for both is loaded at its first use.
import type { Settings } from '../config/settings.ts'
import type { Log } from '../log.ts'
import type { AddedServersAccess } from '../proxy/methods/method.ts'
import type { JailPlace } from '../registry/quarantine.ts'
import type { Registries } from '../registry/registries.ts'
import { CLIENT_INFO } from '../version.ts'

/** Where servers are found. */
export function registriesOf({ registries: addresses, stateDir }: Settings, log: Log): () => Promise<Registries> {
  let loading: Promise<Registries> | undefined
  return () =>
    (loading ??= import('../registry/registries.ts').then(
      (module) => new module.Registries({ addresses, stateDir, env: process.env, log }),
    ))
}

/** How a server that was found becomes one of the user's. */
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

// The provider of sandboxes: the embedded sandbox, if it is set or the only one, else what packages/native chooses.
import type { Settings } from '../../config/settings/settings.ts'
import type { Log } from '../../util/log.ts'
import { SharedPreparation } from '../shared-preparation.ts'
import { createEmbedded } from './embedded.ts'
import { natives, type ProviderChoice } from './native-part.ts'

/** Chooses at the first call, since asking engines takes time. @param isRemembered see `natives` */
export function chooseProvider(settings: Settings, log: Log, isRemembered = false): ProviderChoice {
  const { runtime } = settings
  if (runtime === 'pyodide' || (runtime === 'auto' && !natives.isHere)) {
    const embedded = new SharedPreparation(() => createEmbedded(settings, log))
    return async (onProgress) => ({ provider: await embedded.get(onProgress), passedOver: [] })
  }
  let choice: ProviderChoice | undefined
  const choose: ProviderChoice = async (onProgress) => {
    const part = await natives.for(`MCP_BRIDGE_RUNTIME=${runtime}`)
    choice ??= part.chooseProvider(settings, log, isRemembered)
    return choice(onProgress)
  }
  choose.passOver = (provider, error) => choice?.passOver?.(provider, error)
  return choose
}

/** Find the provider and prepare it ahead of need. Returns at once; a failure shows when a sandbox is needed. */
export function prepareAhead(choice: ProviderChoice): void {
  choice()
    .then(({ provider }) => provider.prepare())
    .catch(() => {})
}

// Chooses the provider of sandboxes: the one that is set, or the first usable one. Runs at first use, since asking
// engines takes time.
import type { Settings } from '../../config/settings/settings.ts'
import type { Log } from '../../util/log.ts'
import { findProvider, type FoundProvider } from './detect.ts'
import { RememberedChoice } from './remembered-choice.ts'
import { SharedPreparation } from '../shared-preparation.ts'

/** Returns the same provider every time. All callers that wait for it get the progress messages. */
export type ProviderChoice = (onProgress?: (message: string) => void) => Promise<FoundProvider>

/** @param memory remembers what `auto` takes between starts */
export function chooseProvider(settings: Settings, log: Log, memory?: RememberedChoice): ProviderChoice {
  // After a failure, the next call tries again: the user may have fixed the cause.
  const choice = new SharedPreparation((onProgress) => findProvider(settings, log, onProgress, memory))
  return (onProgress) => choice.get(onProgress)
}

/** Find the provider and prepare it ahead of need. Returns at once; a failure shows when a sandbox is needed. */
export function prepareAhead(choice: ProviderChoice): void {
  choice()
    .then(({ provider }) => provider.prepare())
    .catch(() => {})
}

/**
 * What `auto` took in an earlier start with the same settings on this machine. Undefined where that is not remembered.
 */
export function rememberedChoice(settings: Settings): RememberedChoice | undefined {
  const { runtime, image, mount, packages, forkServer, ociRuntime, containerUser, cacheDir } = settings
  if (runtime !== 'auto' || process.platform === 'win32') return undefined
  return new RememberedChoice(cacheDir, { image, mount, packages, forkServer, ociRuntime, containerUser })
}

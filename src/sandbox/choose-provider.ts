// Which provider makes the sandboxes: the one that is set, or the first usable one. Decided at the first need, since asking engines takes time.
import type { Settings } from '../config/settings.ts'
import type { Log } from '../log.ts'
import { findProvider, type FoundProvider } from './detect.ts'
import { SharedPreparation } from './shared-preparation.ts'

/** Answers with the same provider every time. Everybody who asks before it is found hears of what has to be prepared to find it. */
export type ProviderChoice = (onProgress?: (message: string) => void) => Promise<FoundProvider>

export function chooseProvider(settings: Settings, log: Log): ProviderChoice {
  // Where none is found, the user may fix the cause while the bridge runs: the next need looks again.
  const choice = new SharedPreparation((onProgress) => findProvider(settings, log, onProgress))
  return (onProgress) => choice.get(onProgress)
}

/** Find the provider and have it prepare, ahead of need. Returns at once; failures show when a sandbox is needed. */
export function prepareAhead(choice: ProviderChoice): void {
  choice()
    .then(({ provider }) => provider.prepare())
    .catch(() => {})
}

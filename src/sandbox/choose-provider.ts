// Which provider makes the sandboxes: the one that is set, or the first usable one. Decided at the first need, since asking engines takes time.
import type { Settings } from '../config/settings.ts'
import type { Log } from '../log.ts'
import { findProvider, type FoundProvider } from './detect.ts'

/** A function that answers with the same provider every time. Whoever asks first hears of what has to be prepared to find it. */
export function chooseProvider(
  settings: Settings,
  log: Log,
): (onProgress: (message: string) => void) => Promise<FoundProvider> {
  let chosen: Promise<FoundProvider> | undefined
  return (onProgress) =>
    (chosen ??= findProvider(settings, log, onProgress).catch((error: unknown) => {
      // The user may fix the cause while the bridge runs: look again at the next need.
      chosen = undefined
      throw error
    }))
}

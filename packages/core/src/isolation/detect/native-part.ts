// The choice among sandboxes other than the embedded one, as far as the core knows it.
import type { Settings } from '../../config/settings/settings.ts'
import type { Log } from '../../util/log.ts'
import { Part } from '../../util/part.ts'
import type { Candidate, Provider, ProviderName } from '../provider.ts'

export const natives = new Part<NativesPart>('the choice of native sandboxes')

interface NativesPart {
  /** @param isRemembered `auto` remembers what it takes between starts */
  chooseProvider: (settings: Settings, log: Log, isRemembered: boolean) => ProviderChoice
  /**
   * Returns every provider with its verdict, in the order of `auto`. Everything it starts ends again.
   * @param tryOut starts a sandbox of a provider that seems usable and is ready for that
   */
  probeProviders: (settings: Settings, tryOut: (name: ProviderName) => Promise<unknown>) => Promise<Candidate[]>
  /** Every sandbox of this machine may be tried again. */
  forgetFailures: (settings: Settings) => void
}

/** A provider that was preferred and could not be used, with the reason. */
export interface PassedOver {
  name: ProviderName
  verdict: string
}

export interface FoundProvider {
  provider: Provider
  /** What `auto` found of it. */
  verdict?: string
  /** Providers that `auto` prefers but could not use, with reasons. */
  passedOver: PassedOver[]
}

/** Returns the same provider every time. All callers that wait for it get the progress messages. */
export interface ProviderChoice {
  (onProgress?: (message: string) => void): Promise<FoundProvider>
  /** The first sandbox did not start: the next call returns another provider. @returns why; undefined without one */
  passOver?: (provider: Provider, error: unknown) => string | undefined
}

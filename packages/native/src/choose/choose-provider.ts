// Chooses the provider of sandboxes: the one that is set, or the first usable one. Runs at first use, since asking
// engines takes time. A provider of `auto` whose first sandbox does not start is passed over for the next one.
import type { Settings } from '@sandbridge/core/config/settings'
import { type Provider, SharedPreparation } from '@sandbridge/core/isolation'
import type { FoundProvider, ProviderChoice } from '@sandbridge/core/isolation/detect'
import type { Log } from '@sandbridge/core/util'
import { findProvider, whyNot } from './detect.ts'
import { type FailedTrials, MachineMemory, type RememberedChoice } from './remembered-choice.ts'

export { probeProviders } from './detect.ts'

/** @param isRemembered `auto` remembers what it takes between starts @param find replaced in tests */
export function chooseProvider(
  settings: Settings,
  log: Log,
  isRemembered = false,
  find: typeof findProvider = findProvider,
): ProviderChoice {
  const memory = isRemembered ? rememberedChoice(settings) : undefined
  const failures = new Failures(settings)
  let found: FoundProvider | undefined
  const choice = new SharedPreparation(async (onProgress) => {
    found = await find(settings, log, onProgress, { memory, failed: failures.known() })
    return found
  })
  // After a failure, the next call tries again: the user may have fixed the cause.
  const choose: ProviderChoice = (onProgress) => choice.get(onProgress)
  choose.passOver = (provider, error) => {
    if (settings.runtime !== 'auto' || provider.name === 'pyodide') return undefined
    const reason = whyNot(provider.name, error)
    // Several of its sandboxes may have been started at once.
    if (found?.provider === provider) {
      log.warning('Sandbox provider passed over', { provider: provider.name, reason })
      failures.add(provider, found.verdict ?? '', reason, error)
      memory?.forget()
      found = undefined
      choice.forget()
    }
    return `${reason}.`
  }
  return choose
}

/** What `auto` took in an earlier start with the same settings here. Undefined where that is not remembered. */
function rememberedChoice(settings: Settings): RememberedChoice | undefined {
  if (settings.runtime !== 'auto' || process.platform === 'win32') return undefined
  return new MachineMemory(settings.cacheDir, 'choice', decisive(settings))
}

/** Every sandbox of this machine may be tried again. */
export function forgetFailures(settings: Settings): void {
  failuresOf(settings).forget()
}

/** The providers that could start no sandbox, for this process and for later ones. */
class Failures {
  readonly #memory: MachineMemory<FailedTrials>
  #known: FailedTrials | undefined

  constructor(settings: Settings) {
    this.#memory = failuresOf(settings)
  }

  known(): FailedTrials {
    return (this.#known ??= this.#memory.read() ?? {})
  }

  add({ name }: Provider, verdict: string, reason: string, error: unknown): void {
    this.#known = { ...this.known(), [name]: { verdict, reason } }
    // Otherwise the machine may only have been busy.
    if ((error as { code?: unknown }).code !== 'SANDBOX_START_TIMEOUT') this.#memory.keep(this.#known)
  }
}

function failuresOf(settings: Settings): MachineMemory<FailedTrials> {
  return new MachineMemory(settings.cacheDir, 'failed', decisive(settings))
}

/** Settings that determine whether a provider works. */
function decisive({ image, mount, packages, hostPackages, forkServer, ociRuntime, containerUser }: Settings): unknown {
  return { image, mount, packages, hostPackages, forkServer, ociRuntime, containerUser }
}

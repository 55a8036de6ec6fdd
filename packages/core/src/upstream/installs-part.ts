// The installation of servers by npx, uvx and the like, as far as the core knows it.
import type { ClientContext } from '../config/settings/client-context.ts'
import { Part } from '../util/part.ts'
import type { ProcessKeeper } from './stdio/server-process.ts'

/** Without it, a server that must be installed first has no more time to start than any other. */
export const installs = new Part<InstallsPart>('the installation of servers')

interface InstallsPart {
  /**
   * Waits until no other server is installed into the same cache, when this one may have to be.
   * @returns undefined for a command that installs nothing
   * @throws the reason of the signal
   */
  beginInstallation: (
    command: string,
    args: readonly string[],
    options: InstallOptions,
  ) => Promise<Installation | undefined>
}

export interface InstallOptions {
  /** What it inherits. */
  context: Pick<ClientContext, 'env' | 'home'>
  /** Variables of its definition. */
  env: Readonly<Record<string, string>>
  /** The home folder of a jailed server, on this machine. */
  jailHome: string | undefined
  /** The server is not known to have started before. */
  isFirst: boolean
  limits: InstallLimits
  onNews: (news: InstallNews) => void
  signal: AbortSignal
}

export interface InstallLimits {
  /** How long an installed server may take. */
  timeoutMs: number
  /** How long it may take until the package manager writes anything. */
  firstMs: number
  /** How long an installation may pause: a slow registry, a large file. */
  quietMs: number
  /** How long all of it may take. */
  maxMs: number
  /** Time between two looks. */
  lookMs: number
}

export interface InstallNews {
  manager: string
  /** It waits for another server that is installed into the same cache. */
  isWaiting: boolean
  /** How long that has lasted. */
  seconds: number
}

export interface Installation extends ProcessKeeper {
  /** Resolves when the start has taken too long. */
  readonly expired: Promise<void>
  readonly facts: InstallFacts
  /** The start is over. The next server is installed once nothing writes to the cache any more. */
  over(): Promise<void>
}

/** What is known of an installation that failed. */
export interface InstallFacts {
  manager: string
  /** The package manager has written something. */
  hasGrown: boolean
  /** It was still writing a short while ago. */
  goesOn: boolean
  seconds: number
  /** Why a server with this output cannot start after an interrupted installation: a sentence, and a command. */
  broken: (output: string) => { text: string; remedy: string } | undefined
}

// The start of a server by a package manager, which may have to install it first: when it may begin, how long it may
// take, and how it ends.
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { passedEnvironment } from '../../../config/entries/passed-variables.ts'
import { endGroup, groupExists } from '../../../util/process/process-group.ts'
import { untilAborted } from '../../../util/async/wait.ts'
import type { ProcessKeeper } from '../server-process.ts'
import { leaveToFinish } from './finish-install.ts'
import { type InstallPlace, installPlace } from './install-place.ts'
import { type InstallLimits, InstallWatch } from './install-watch.ts'
import type { ClientContext } from '../../../config/settings/client-context.ts'
import type { PackageLaunch } from './package-launch.ts'

/** What is known of an installation that failed. */
export interface InstallFacts extends PackageLaunch, Pick<InstallPlace, 'cache' | 'own'> {
  /** The package manager has written something. */
  hasGrown: boolean
  /** It was still writing a short while ago. */
  goesOn: boolean
  seconds: number
}

/** What is told while a server is installed. */
export interface InstallNews {
  manager: string
  /** It waits for another server that is installed into the same cache. */
  isWaiting: boolean
  /** How long that has lasted. */
  seconds: number
}

export interface InstallOptions {
  launch: PackageLaunch
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

/** A pause of a slow registry, after which a package manager is asked to end; it ends its step first. */
const ASK_AFTER_MS = 30_000
const KILL_AFTER_MS = 60_000
const KEPT_OUTPUT = 4096
const LOOK_MS = 500

/**
 * Lets one server at a time be installed into each cache: package managers that fill one together wait for each other's
 * locks, or break it.
 */
class InstallQueue {
  readonly #last = new Map<string, Promise<void>>()

  /** Resolves with a function to call when the next one may begin. Never rejects. */
  async enter(cache: string): Promise<() => void> {
    const before = this.#last.get(cache)
    let leave = (): void => {}
    const over = new Promise<void>((resolve) => (leave = resolve))
    this.#last.set(cache, over)
    await before
    return () => {
      if (this.#last.get(cache) === over) this.#last.delete(cache)
      leave()
    }
  }
}

/** All servers of this process: users have the same caches. */
const queue = new InstallQueue()

export class Installation implements ProcessKeeper {
  /** Resolves when the start has taken too long. */
  readonly expired: Promise<void>
  readonly #place: InstallPlace
  readonly #options: InstallOptions
  /** When it began to wait, and then when it began to be installed. */
  #since = performance.now()
  #expire = (): void => {}
  #leaveQueue = (): void => {}
  #watch: InstallWatch | undefined
  /** The server has sent a message, so it is installed. */
  #hasAnswered = false
  /** The group of a process that was left to finish. */
  #left: number | undefined

  private constructor(place: InstallPlace, options: InstallOptions) {
    this.#place = place
    this.#options = options
    this.expired = new Promise((resolve) => (this.#expire = resolve))
  }

  /**
   * Waits until no other server is installed into the same cache, when this one may have to be.
   * @throws the reason of the signal
   */
  static async begin(options: InstallOptions): Promise<Installation> {
    const { launch, jailHome, isFirst, signal } = options
    // A jail has caches of its own.
    const env = jailHome === undefined ? { ...passedEnvironment(options.context.env), ...options.env } : options.env
    const place = installPlace(launch, { env, home: jailHome ?? env['HOME'] ?? options.context.home })
    const installation = new Installation(place, options)
    if (isFirst) await installation.#enterQueue(signal)
    return installation
  }

  get facts(): InstallFacts {
    const { cache, own } = this.#place
    const { hasGrown = false, goesOn = false } = this.#watch ?? {}
    const seconds = this.#seconds
    return { ...this.#options.launch, cache, ...(own !== undefined && { own }), hasGrown, goesOn, seconds }
  }

  spawned(child: ChildProcess): void {
    this.#watch?.stop()
    let output = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      if (!this.#hasAnswered) output = (output + chunk.toString()).slice(-KEPT_OUTPUT)
    })
    const onMessage = (chunk: Buffer): void => {
      if (!chunk.includes('"jsonrpc"')) return
      this.#hasAnswered = true
      child.stdout?.off('data', onMessage)
    }
    child.stdout?.on('data', onMessage)
    const newOutput = (): string => {
      const text = output
      output = ''
      return text
    }
    const { isFirst, limits: given } = this.#options
    // A timeout that suits an installed server may be shorter than the first answer of a registry.
    const firstMs = isFirst ? Math.max(given.firstMs, given.timeoutMs) : given.timeoutMs
    const limits = { ...given, firstMs }
    const watch = new InstallWatch(this.#place.watched, { pid: child.pid, newOutput }, limits, () => this.#tell(false))
    void watch.expired.then(this.#expire)
    this.#watch = watch
  }

  /**
   * A package manager that may be writing is left to finish by itself. In a jail it cannot: its network and its process
   * end with the bridge.
   */
  async end(child: ChildProcess): Promise<void> {
    const { isFirst, jailHome } = this.#options
    const mayWrite = !this.#hasAnswered && (isFirst || this.#watch?.hasGrown === true) && jailHome === undefined
    if (!mayWrite || child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
      return endGroup(child)
    const goesOn = this.#options.signal.aborted || this.#watch?.goesOn === true
    this.#left = child.pid
    leaveToFinish(child, this.#place.watched, { askAfterMs: goesOn ? ASK_AFTER_MS : 0, killAfterMs: KILL_AFTER_MS })
  }

  /** The start is over. The next server is installed once nothing writes to the cache any more. */
  async over(): Promise<void> {
    this.#watch?.stop()
    while (this.#left !== undefined && groupExists(this.#left)) await sleep(LOOK_MS, undefined, { ref: false })
    this.#leaveQueue()
  }

  async #enterQueue(signal: AbortSignal): Promise<void> {
    const timer = setInterval(() => this.#tell(true), LOOK_MS).unref()
    const entering = queue.enter(this.#place.cache)
    try {
      this.#leaveQueue = await untilAborted(entering, signal)
      this.#since = performance.now()
    } catch (error) {
      void entering.then((leave) => leave())
      throw error
    } finally {
      clearInterval(timer)
    }
  }

  get #seconds(): number {
    return Math.round((performance.now() - this.#since) / 1000)
  }

  #tell(isWaiting: boolean): void {
    this.#options.onNews({ manager: this.#options.launch.manager, isWaiting, seconds: this.#seconds })
  }
}

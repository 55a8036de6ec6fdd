// The start of a server that may have to be installed first: when it begins, how long it may take, how it ends.
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { passedEnvironment } from '@sandbridge/core/config/entries'
import { endGroup, groupExists, mergedEnvironment } from '@sandbridge/core/util/process'
import { untilAborted } from '@sandbridge/core/util/async'
import { leaveToFinish } from './finish-install.ts'
import { type InstallPlace, installPlace } from './install-place.ts'
import type { Installation, InstallFacts, InstallOptions } from '@sandbridge/core/parts'
import { brokenCache } from './broken-cache.ts'
import { InstallWatch } from './install-watch.ts'
import { type PackageLaunch, packageLaunch } from './package-launch.ts'

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

class PackageInstallation implements Installation {
  readonly expired: Promise<void>
  readonly #launch: PackageLaunch
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

  constructor(launch: PackageLaunch, options: InstallOptions) {
    this.#launch = launch
    const { context, jailHome } = options
    // A jail has caches of its own.
    const layers = [jailHome === undefined ? passedEnvironment(context.env) : {}, options.env]
    const env = mergedEnvironment(layers)
    this.#place = installPlace(launch, { env, home: jailHome ?? env['HOME'] ?? context.home })
    this.#options = options
    this.expired = new Promise((resolve) => (this.#expire = resolve))
  }

  get facts(): InstallFacts {
    const { hasGrown = false, goesOn = false } = this.#watch ?? {}
    const { manager } = this.#launch
    const seconds = this.#seconds
    return { manager, hasGrown, goesOn, seconds, broken: (output) => brokenCache(manager, this.#place, output) }
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

  async over(): Promise<void> {
    this.#watch?.stop()
    while (this.#left !== undefined && groupExists(this.#left)) await sleep(LOOK_MS, undefined, { ref: false })
    this.#leaveQueue()
  }

  /** @throws the reason of the signal */
  async enterQueue(signal: AbortSignal): Promise<void> {
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
    this.#options.onNews({ manager: this.#launch.manager, isWaiting, seconds: this.#seconds })
  }
}

export async function beginInstallation(
  command: string,
  args: readonly string[],
  options: InstallOptions,
): Promise<Installation | undefined> {
  const launch = packageLaunch(command, args)
  if (!launch) return undefined
  const installation = new PackageInstallation(launch, options)
  if (options.isFirst) await installation.enterQueue(options.signal)
  return installation
}

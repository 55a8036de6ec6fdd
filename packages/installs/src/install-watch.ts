// Tells an installation from a start that hangs: its folders change, other child processes, known output.
import { processTree } from '@sandbridge/core/util/process'
import type { InstallLimits } from '@sandbridge/core/parts'
import type { WatchedFolder } from './install-place.ts'
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'

const MAX_ENTRIES = 3_000
/** Package managers touch a lock even when nothing else happens. */
const LOCK = /lock$/

export interface InstallSource {
  pid: number | undefined
  /** What the process has written to stderr since the last call. */
  newOutput: () => string
}

/**
 * The first word of a line of npm, pnpm, yarn, Bun, uv, pip or pipx. A server's own output is no sign: it may write for
 * ever.
 */
const OUTPUT_OF_MANAGER =
  /^\s*(npm|pnpm|yarn|bun|➤|Progress:|Packages:|Resolv|Download|Updat|Build|Built|Prepar|Install|Collect|Creat|Using|Saved|Obtain|Cloning)/m

export class InstallWatch {
  /** Resolves when the start has taken too long. Stays pending after `stop`. */
  readonly expired: Promise<void>
  readonly #watched: readonly WatchedFolder[]
  readonly #source: InstallSource
  readonly #limits: InstallLimits
  readonly #onInstalling: () => void
  readonly #startedAt = performance.now()
  #lastSignAt = 0
  #hasGrown = false
  #timer: NodeJS.Timeout | undefined
  #isStopped = false
  #expire = (): void => {}

  /** @param onInstalling called at every look once the folders have changed */
  constructor(
    watched: readonly WatchedFolder[],
    source: InstallSource,
    limits: InstallLimits,
    onInstalling: () => void,
  ) {
    this.#watched = watched
    this.#source = source
    this.#limits = limits
    this.#onInstalling = onInstalling
    this.expired = new Promise((resolve) => (this.#expire = resolve))
    void this.#look('', '')
  }

  /** Whether the package manager has written to its folders since the start. */
  get hasGrown(): boolean {
    return this.#hasGrown
  }

  /** Whether there was a sign until a short while ago. */
  get goesOn(): boolean {
    return this.#lastSignAt > 0 && performance.now() - this.#lastSignAt < this.#limits.quietMs
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  async #look(folders: string, processes: string): Promise<void> {
    const { timeoutMs, firstMs, quietMs, maxMs, lookMs } = this.#limits
    const { pid, newOutput } = this.#source
    const nowFolders = await folderState(this.#watched)
    const nowProcesses = pid === undefined ? '' : (await processTree(pid)).join()
    if (this.#isStopped) return
    const now = performance.now()
    if (folders !== '') {
      if (nowFolders !== folders) this.#hasGrown = true
      const isSign = nowFolders !== folders || nowProcesses !== processes || OUTPUT_OF_MANAGER.test(newOutput())
      if (isSign) this.#lastSignAt = now
      if (this.#hasGrown) this.#onInstalling()
    }
    const untilMs = this.#hasGrown
      ? this.#lastSignAt + Math.max(quietMs, timeoutMs)
      : Math.max(this.#startedAt + firstMs, this.#lastSignAt && this.#lastSignAt + quietMs)
    if (now >= Math.min(untilMs, this.#startedAt + maxMs)) this.#expire()
    else this.#timer = setTimeout(() => void this.#look(nowFolders, nowProcesses), lookMs).unref()
  }
}

// A text that changes when files in folders do. Bounded, so that a large cache costs little.

/** Never rejects: a folder that does not exist or cannot be read is empty. */
async function folderState(watched: readonly WatchedFolder[]): Promise<string> {
  let count = 0
  let bytes = 0
  let latest = 0
  const look = async (place: string, depth: number): Promise<void> => {
    const stat = await lstat(place).catch(() => undefined)
    if (!stat) return
    count += 1
    bytes += stat.size
    latest = Math.max(latest, stat.mtimeMs)
    if (!stat.isDirectory() || depth === 0) return
    const names = await readdir(place).catch((): string[] => [])
    // uv writes to folders whose names begin with a dot, so they come first.
    names.sort((a, b) => (a < b ? -1 : 1))
    for (const name of names) if (count < MAX_ENTRIES && !LOCK.test(name)) await look(path.join(place, name), depth - 1)
  }
  for (const { folder, depth } of watched) await look(folder, depth)
  return [count, bytes, latest].join(' ')
}

// Reads the files of a project, which anybody may have written: only so many, in turns with what else the process does.
import { setImmediate } from 'node:timers/promises'
import { type ConfigFileSystem, FileRefused } from '../config-file.ts'

/** Of all files that name servers, and of those that they name. */
export const MAX_PROJECT_FILES = 200
const MAX_BYTES = 256 * 1024
const MAX_SERVERS = 500
/** How many times longer its parser takes than that of JSON. */
const WEIGHTS: readonly [suffix: RegExp, weight: number][] = [
  [/\.ya?ml$/i, 8],
  [/\.toml$/i, 4],
]
const MAX_TURN_MS = 20

export class ProjectFiles implements ConfigFileSystem {
  /** How many were refused. */
  refused = 0
  readonly #fileSystem: ConfigFileSystem
  #servers = 0
  #files = 0
  #bytes = 0
  #turn = performance.now()

  constructor(fileSystem: ConfigFileSystem) {
    this.#fileSystem = fileSystem
  }

  readdir(folder: string): Promise<string[]> {
    return this.#fileSystem.readdir(folder)
  }

  async readFile(file: string): Promise<Uint8Array> {
    await this.pause()
    const bytes = await this.#fileSystem.readFile(file)
    const weight = WEIGHTS.find(([suffix]) => suffix.test(file))?.[1] ?? 1
    const sum = this.#bytes + bytes.length * weight
    this.#files += 1
    if (sum <= MAX_BYTES && this.#files <= MAX_PROJECT_FILES) {
      this.#bytes = sum
      return bytes
    }
    this.refused += 1
    throw new FileRefused(
      `is left out: the files of a project that name servers may be ${MAX_PROJECT_FILES}, and ${MAX_BYTES} bytes in all, ` +
        'of which those of TOML count 4 times, and those of YAML 8 times',
    )
  }

  /** @returns why so many servers of one more file are left out */
  refusesServers(count: number): string | undefined {
    if (this.#servers + count > MAX_SERVERS) return `is left out: a project may have ${MAX_SERVERS} servers`
    this.#servers += count
    return undefined
  }

  /** Lets others have their turn. */
  async pause(): Promise<void> {
    if (performance.now() - this.#turn < MAX_TURN_MS) return
    await setImmediate()
    this.#turn = performance.now()
  }
}

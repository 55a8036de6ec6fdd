// Remembers what `auto` found out: which provider it took, so that the next start need not wait for engines that it
// does not take, and which of them could start no sandbox. A remembered choice is checked while it is used.
import { hash } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { findPrograms } from '../../util/process/find-program.ts'
import { isOwnFolderSync, makePrivateFolder } from '../../util/files/private-folder.ts'
import { readOrdinaryText } from '../../util/files/read-ordinary.ts'
import { replaceFile } from '../../util/files/replace-file.ts'
import type { ProviderName } from '../provider.ts'

/** A provider that was preferred and could not be used, with the reason. */
export interface PassedOver {
  name: ProviderName
  verdict: string
}

export interface Choice extends PassedOver {
  passedOver: PassedOver[]
}

export interface KeptChoice extends Choice {
  /** Usable engines that could not prepare a sandbox, for example for lack of an image. */
  refused: ProviderName[]
}

/** An engine can start to work without any of the inputs changing. */
const VALID_MS = 24 * 60 * 60_000
const PROGRAMS = ['podman', 'docker', 'bwrap', 'python3']
/** Variables that lead an engine's command to another engine. */
const VARIABLES = 'PATH HOME XDG_RUNTIME_DIR DOCKER_HOST DOCKER_CONTEXT CONTAINER_HOST CONTAINER_CONNECTION'.split(' ')

class MachineMemory<T> {
  readonly #folder: string
  readonly #name: string
  readonly #settings: unknown

  /** @param settings all that the content depends on beside this machine */
  constructor(cacheDir: string, name: string, settings: unknown) {
    this.#folder = path.join(cacheDir, 'engines')
    this.#name = name
    this.#settings = settings
  }

  /** Undefined when nothing is known, or when something has changed that the content depends on. */
  read(): T | undefined {
    try {
      // Only from the user's own folder: the content determines how cells are isolated.
      if (!isOwnFolderSync(this.#folder)) return undefined
      const { key, at, content } = JSON.parse(readOrdinaryText(this.#file)) as {
        key: string
        at: number
        content: T
      }
      const age = Date.now() - at
      return age >= 0 && age < VALID_MS && key === this.#key() ? content : undefined
    } catch {
      // No file, or a damaged one.
      return undefined
    }
  }

  /** Never rejects: without it, the next start asks the engines again. */
  async keep(content: T): Promise<void> {
    try {
      await makePrivateFolder(this.#folder)
      await replaceFile(this.#file, JSON.stringify({ key: this.#key(), at: Date.now(), content }))
    } catch {
      // For example a read-only disk.
    }
  }

  forget(): void {
    try {
      rmSync(this.#file, { force: true })
    } catch {
      // It expires.
    }
  }

  get #file(): string {
    return path.join(this.#folder, this.#name)
  }

  #key(): string {
    return hash('sha256', JSON.stringify([this.#settings, inputsOfMachine()]))
  }
}

export class RememberedChoice extends MachineMemory<KeptChoice> {
  constructor(cacheDir: string, settings: unknown) {
    super(cacheDir, 'choice.json', settings)
  }
}

/** A provider whose first sandbox did not start. */
interface FailedTrial {
  /** What its probe said: another version is tried again. */
  verdict: string
  /** One sentence without a period. */
  reason: string
}

export type FailedTrials = Partial<Record<ProviderName, FailedTrial>>

export class RememberedFailures extends MachineMemory<FailedTrials> {
  constructor(cacheDir: string, settings: unknown) {
    super(cacheDir, 'failed.json', settings)
  }
}

function inputsOfMachine(): unknown {
  const runtime = process.env['XDG_RUNTIME_DIR'] ?? ''
  const files = [
    ...PROGRAMS.flatMap((name) => findPrograms(name)),
    path.join(homedir(), '.docker', 'config.json'),
    // An engine's service listens there while it runs.
    '/var/run/docker.sock',
    path.join(homedir(), '.docker', 'run', 'docker.sock'),
    path.join(runtime, 'docker.sock'),
  ]
  return [bootId(), process.getuid?.(), VARIABLES.map((name) => process.env[name] ?? null), files.map(stampOf)]
}

function stampOf(file: string): unknown {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat ? [file, stat.ino, stat.size, stat.mtimeMs] : null
}

/** Linux makes one at each boot, after which an engine may work that did not, and the reverse. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
  } catch {
    return ''
  }
}

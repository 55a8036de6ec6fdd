// Remembers which provider `auto` took, so that the next start need not wait for engines that it does not take. Whoever
// uses a remembered choice checks it meanwhile.
import { hash } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { findPrograms } from '../../util/process/find-program.ts'
import { isOwnFolderSync, makePrivateFolder } from '../../util/files/private-folder.ts'
import { replaceFile } from '../../util/files/replace-file.ts'
import type { ProviderName } from '../provider.ts'

/** A provider that was preferred and could not be used, with the reason. */
export interface PassedOver {
  name: ProviderName
  verdict: string
}

/** What `auto` decided. */
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

export class RememberedChoice {
  readonly #folder: string
  readonly #key: string

  /** @param settings all that the choice depends on beside this machine */
  constructor(cacheDir: string, settings: unknown) {
    this.#folder = path.join(cacheDir, 'engines')
    this.#key = hashOf([settings, inputsOfMachine()])
  }

  /** Undefined when nothing is known, or when something has changed that the choice depends on. */
  read(): KeptChoice | undefined {
    try {
      // Only from the user's own folder: the choice determines how cells are isolated.
      if (!isOwnFolderSync(this.#folder)) return undefined
      const { key, at, choice } = JSON.parse(readFileSync(this.#file, 'utf8')) as {
        key: string
        at: number
        choice: KeptChoice
      }
      const age = Date.now() - at
      return key === this.#key && age >= 0 && age < VALID_MS ? choice : undefined
    } catch {
      // No file, or a damaged one.
      return undefined
    }
  }

  /** Never rejects: without it, the next start asks the engines again. */
  async keep(choice: KeptChoice): Promise<void> {
    try {
      await makePrivateFolder(this.#folder)
      await replaceFile(this.#file, JSON.stringify({ key: this.#key, at: Date.now(), choice }))
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
    return path.join(this.#folder, 'choice.json')
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
  return [process.getuid?.(), VARIABLES.map((name) => process.env[name] ?? null), files.map(stampOf)]
}

function stampOf(file: string): unknown {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat ? [file, stat.ino, stat.size, stat.mtimeMs] : null
}

function hashOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value))
}

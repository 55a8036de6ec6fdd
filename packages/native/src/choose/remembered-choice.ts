// Remembers what `auto` found out: which provider it took, so that the next start need not wait for engines that it
// does not take, and which of them could start no sandbox. A remembered choice is checked while it is used.
import { hash } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import type { ProviderName } from '@sandbridge/core/isolation'
import type { PassedOver } from '@sandbridge/core/isolation/detect'
import { orUndefined } from '@sandbridge/core/util'
import { keepText, readKeptText } from '@sandbridge/core/util/files'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { bootId, findPrograms } from '@sandbridge/core/util/process'

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

/** The content determines how cells are isolated. */
export class MachineMemory<T> {
  readonly #file: string
  readonly #settings: unknown

  /** @param settings all that the content depends on beside this machine */
  constructor(cacheDir: string, name: 'choice' | 'failed', settings: unknown) {
    this.#file = path.join(cacheDir, 'engines', `${name}.json`)
    this.#settings = settings
  }

  /** Undefined when nothing is known, or when something has changed that the content depends on. */
  read(): T | undefined {
    const kept = parseJson(readKeptText(this.#file) ?? '')
    if (!isRecord(kept)) return undefined
    const age = Date.now() - Number(kept['at'])
    return age >= 0 && age < VALID_MS && kept['key'] === this.#key() ? (kept['content'] as T) : undefined
  }

  /** Never throws: without it, the next start asks the engines again. */
  keep(content: T): void {
    orUndefined(() => keepText(this.#file, JSON.stringify({ key: this.#key(), at: Date.now(), content })))
  }

  forget(): void {
    // If that fails, it expires.
    orUndefined(() => rmSync(this.#file, { force: true }))
  }

  #key(): string {
    return hash('sha256', JSON.stringify([this.#settings, inputsOfMachine()]))
  }
}

export type RememberedChoice = MachineMemory<KeptChoice>

/** A provider whose first sandbox did not start. */
interface FailedTrial {
  /** What its probe said: another version is tried again. */
  verdict: string
  /** One sentence without a period. */
  reason: string
}

export type FailedTrials = Partial<Record<ProviderName, FailedTrial>>

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
  // After a boot, an engine may work that did not, and the reverse.
  return [bootId() ?? '', process.getuid?.(), VARIABLES.map((name) => process.env[name] ?? null), files.map(stampOf)]
}

function stampOf(file: string): unknown {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat ? [file, stat.ino, stat.size, stat.mtimeMs] : null
}

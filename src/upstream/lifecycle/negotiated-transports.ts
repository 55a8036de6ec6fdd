// Remembers how each upstream wants to be spoken to, so that the next connection asks nothing twice. Kept in memory, and in a file when one is given.
// Keyed by a hash of the definition as configured: the file holds no command, URL or secret, and a changed definition starts anew.
import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ServerDefinition } from '../../config/server-definition.ts'
import type { Via } from '../dial.ts'
import { replaceFile } from '../../storage/replace-file.ts'

export interface Verdict {
  via: Via
  era: 'legacy' | 'modern'
}

/** A server may have learned the modern era since: after this long it is asked again. */
const VALID_MS = 7 * 24 * 60 * 60_000

export interface Verdicts {
  get(definition: ServerDefinition): Promise<Verdict | undefined>
  /** Does not wait for the file. */
  set(definition: ServerDefinition, verdict: Verdict): void
}

type Stored = Record<string, Verdict & { at: number }>

/** @param file missing means memory only. A file that cannot be read or written costs a question, never a connection. */
export function createVerdicts(file?: string): Verdicts {
  let loaded: Promise<Stored> | undefined
  let writing: Promise<void> = Promise.resolve()
  const load = (): Promise<Stored> => (loaded ??= file === undefined ? Promise.resolve({}) : read(file))
  return {
    async get(definition) {
      const entry = (await load())[keyOf(definition)]
      return entry && Date.now() - entry.at < VALID_MS ? { via: entry.via, era: entry.era } : undefined
    },
    set(definition, verdict) {
      writing = writing
        .then(async () => {
          const stored = await load()
          stored[keyOf(definition)] = { ...verdict, at: Date.now() }
          if (file === undefined) return
          // Other bridges write to it, too. Two that do so in the same moment lose a verdict, which costs a question.
          loaded = Promise.resolve(newest(await read(file), stored))
          await write(file, await loaded)
        })
        .catch(() => {})
    },
  }
}

function newest(ours: Stored, theirs: Stored): Stored {
  const all: Stored = Object.assign(Object.create(null), ours)
  for (const [key, entry] of Object.entries(theirs)) if (entry.at >= (all[key]?.at ?? 0)) all[key] = entry
  return all
}

function keyOf({ name, transport }: ServerDefinition): string {
  return createHash('sha256')
    .update(JSON.stringify([name, transport]))
    .digest('hex')
}

async function read(file: string): Promise<Stored> {
  const stored: Stored = Object.create(null)
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    for (const [key, entry] of Object.entries(value as Record<string, Partial<Verdict & { at: number }>>)) {
      const { via, era, at } = entry
      if (via !== 'stdio' && via !== 'http' && via !== 'sse') continue
      if ((era !== 'legacy' && era !== 'modern') || typeof at !== 'number') continue
      if (Date.now() - at < VALID_MS) stored[key] = { via, era, at }
    }
  } catch {
    // None yet, or damaged: everything in it can be found out again.
  }
  return stored
}

async function write(file: string, stored: Stored): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await replaceFile(file, JSON.stringify(stored))
}

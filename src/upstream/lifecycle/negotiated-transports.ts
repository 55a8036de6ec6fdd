// Remembers how each upstream wants to be spoken to, so that the next connection asks nothing twice. Kept in memory, and in a file when one is given.
// Keyed by a hash of the definition as configured: the file holds no command, URL or secret, and a changed definition starts anew.
import { createHash } from 'node:crypto'
import type { ServerDefinition } from '../../config/server-definition.ts'
import type { Via } from '../dial.ts'
import { JsonRecord } from '../../storage/json-record.ts'

export interface NegotiatedTransport {
  via: Via
  era: 'legacy' | 'modern'
}

/** A server may have learned the modern era since: after this long it is asked again. */
const VALID_MS = 7 * 24 * 60 * 60_000

export interface NegotiatedTransports {
  get(definition: ServerDefinition): Promise<NegotiatedTransport | undefined>
  /** Does not wait for the file. */
  set(definition: ServerDefinition, transport: NegotiatedTransport): void
}

type Stored = Record<string, NegotiatedTransport & { at: number }>

/** @param file missing means memory only. A file that cannot be read or written costs a question, never a connection. */
export function createNegotiatedTransports(file?: string): NegotiatedTransports {
  const empty = (): Stored => Object.create(null) as Stored
  const record =
    file === undefined ? undefined : new JsonRecord<Stored>({ document: file, empty, parse, damaged: 'empty' })
  let loaded: Promise<Stored> | undefined
  let writing: Promise<void> = Promise.resolve()
  const load = (): Promise<Stored> => (loaded ??= record ? record.read() : Promise.resolve(empty()))
  return {
    async get(definition) {
      const entry = (await load())[keyOf(definition)]
      return entry && Date.now() - entry.at < VALID_MS ? { via: entry.via, era: entry.era } : undefined
    },
    set(definition, transport) {
      writing = writing
        .then(async () => {
          const stored = await load()
          stored[keyOf(definition)] = { ...transport, at: Date.now() }
          // Other bridges write to it, too.
          if (record) loaded = Promise.resolve(await record.update((theirs) => keepNewest(theirs, stored)))
        })
        .catch(() => {})
    },
  }
}

function keepNewest(all: Stored, others: Stored): void {
  for (const [key, entry] of Object.entries(others)) if (entry.at >= (all[key]?.at ?? 0)) all[key] = entry
}

function keyOf({ name, transport }: ServerDefinition): string {
  return createHash('sha256')
    .update(JSON.stringify([name, transport]))
    .digest('hex')
}

function parse(value: unknown): Stored | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const stored = Object.create(null) as Stored
  for (const [key, entry] of Object.entries(
    value as Record<string, Partial<NegotiatedTransport & { at: number }> | null>,
  )) {
    const { via, era, at } = entry ?? {}
    if (via !== 'stdio' && via !== 'http' && via !== 'sse') continue
    if ((era !== 'legacy' && era !== 'modern') || typeof at !== 'number') continue
    if (Date.now() - at < VALID_MS) stored[key] = { via, era, at }
  }
  return stored
}

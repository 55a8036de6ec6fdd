// Remembers the transport and era of each upstream, so that the next connection need not negotiate. Kept in memory, and
// in a file when one is given. Keyed by a hash of the configured definition: the file holds no command, URL or secret,
// and a changed definition negotiates again.
import { hash } from 'node:crypto'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import type { Via } from '../dial.ts'
import { JsonRecord } from '../../keep/json-record.ts'

export interface NegotiatedTransport {
  via: Via
  era: 'legacy' | 'modern'
}

/** After this time the server is asked again: it may support the modern era by then. */
const VALID_MS = 7 * 24 * 60 * 60_000

export interface NegotiatedTransports {
  get(definition: ServerDefinition): Promise<NegotiatedTransport | undefined>
  /** Returns before the file is written. */
  set(definition: ServerDefinition, transport: NegotiatedTransport): void
}

type Stored = Record<string, NegotiatedTransport & { at: number }>

/**
 * @param file missing means memory only. If the file cannot be read or written, the next connection negotiates again.
 */
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
          // Other bridges write to the file, too.
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
  return hash('sha256', JSON.stringify([name, transport]))
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

// What entries were called before: one that is renamed, and runs the same command or has the same address, is still
// what rules restrict. The names are kept in <state dir>/.sandbridge/server-names.json.
import { hash } from 'node:crypto'
import path from 'node:path'
import * as z from 'zod'
import type { DiscoveredServers, ServerDefinition } from '@sandbridge/core/config/entries'
import { JsonDocument } from '@sandbridge/core/util/stores'
import { withTimeout } from '@sandbridge/core/util/async'
import { sortedJson } from '@sandbridge/core/util/json'

/** By command or address: each name that an entry with it has had, with the names that it had before. */
type Names = Record<string, Record<string, string[]>>

const names = z.record(z.string(), z.record(z.string(), z.array(z.string())))
/** The most former names that are kept for a command. */
const MAX_NAMES = 100
/** A start waits no longer until the names are written. */
const PATIENCE_MS = 500

export class FormerNames {
  readonly #document: JsonDocument<Names>
  /** As last seen, also where it cannot be written. */
  #names: Names = {}

  constructor(stateDir: string) {
    this.#document = new JsonDocument<Names>({
      document: path.join(stateDir, '.sandbridge', 'server-names.json'),
      empty: () => ({}),
      parse: (json) => names.safeParse(json).data,
      damaged: 'empty',
    })
  }

  /** The servers with the names that their entries had before. Never rejects. */
  async added(discovered: DiscoveredServers): Promise<DiscoveredServers> {
    const known = await this.#document.read().catch((): Names => ({}))
    const now = withEntries(
      { ...known, ...this.#names },
      discovered.found.map(({ definition }) => definition),
    )
    if (sortedJson(now) !== sortedJson(known)) {
      const kept = this.#document.update((value) => void Object.assign(value, now)).catch(() => {})
      // Another process may have stopped with the lock.
      await withTimeout(kept, PATIENCE_MS, () => {})
    }
    this.#names = now
    const named = (server: ServerDefinition): ServerDefinition => {
      const configured = server.otherNames?.[0] ?? server.name
      const former = new Map(Object.entries(now[keyOf(server)] ?? {})).get(configured) ?? []
      return former.length === 0 ? server : { ...server, otherNames: [...(server.otherNames ?? []), ...former] }
    }
    return { ...discovered, servers: discovered.servers.map(named) }
  }
}

/** Entries that are there at the same time are not one another's former selves. */
function withEntries(known: Names, entries: readonly ServerDefinition[]): Names {
  const there = new Map<string, Set<string>>()
  for (const entry of entries) there.set(keyOf(entry), (there.get(keyOf(entry)) ?? new Set()).add(entry.name))
  const now = { ...known }
  for (const [key, present] of there) {
    const before = new Map(Object.entries(now[key] ?? {}))
    const gone = [...before.keys()].filter((name) => !present.has(name)).slice(-MAX_NAMES)
    for (const name of present)
      before.set(
        name,
        (before.get(name) ?? gone).filter((one) => !present.has(one)),
      )
    now[key] = Object.fromEntries(before)
  }
  return now
}

/** The environment and headers do not count: they change when a token does. */
function keyOf({ transport }: ServerDefinition): string {
  const what = transport.type === 'stdio' ? [transport.command, transport.args] : [transport.url]
  return hash('sha256', sortedJson(what)).slice(0, 32)
}

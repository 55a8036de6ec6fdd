// The registries in which servers are found. Each is copied to the state folder and searched there, so searches work
// offline and queries leave no trace at a server. An old copy is updated; after a failure, the registry is not
// contacted for a while and its copy is used.
import path from 'node:path'
import * as z from 'zod'
import { OFFICIAL_REGISTRY } from '../settings.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Log } from '@sandbridge/core/util'
import { untilAborted, withTimeout } from '@sandbridge/core/util/async'
import { JsonDocument } from '@sandbridge/core/util/stores'
import { didYouMeanText } from '@sandbridge/core/util/text'
import { rank } from './rank.ts'
import { readPages, RegistryFailure } from './read-pages.ts'
import { type Copied, type CopiedServer, RegistryCopy } from './registry-copy.ts'
import { parseServerJson, type ServerJson } from '../server/server-json.ts'

/** Age at which a copy is updated with the registry's changes. */
const FRESH_MS = 6 * 60 * 60_000
/** Age at which everything is read again: a registry does not say when it has been reset. */
const WHOLE_MS = 30 * 24 * 60 * 60_000
/** How long a search waits for a registry whose copy is only outdated. */
const REFRESH_WAIT_MS = 3_000
const FIRST_BACK_OFF_MS = 30_000
const MAX_BACK_OFF_MS = 6 * 60 * 60_000

export interface FoundServer {
  server: ServerJson
  registry: string
  /** The registry has verified that the publisher owns the first part of the name. */
  verified: boolean
  deprecated: boolean
}

export interface Found {
  servers: FoundServer[]
  /** What was outdated or not searched, one sentence each. */
  notes: string[]
}

interface RegistriesOptions {
  addresses: readonly string[]
  stateDir: string
  env: Record<string, string | undefined>
  log: Pick<Log, 'info'>
  now?: () => number
}

interface FindOptions {
  limit: number
  /** Contact no registry. */
  offline?: boolean
  signal?: AbortSignal
  /** Receives the number of servers read from a registry so far. */
  onProgress?: (count: number) => void
}

const failure = z.object({ count: z.int(), retryAt: z.number(), problem: z.string() })
const failures = z.record(z.string(), failure)

export class Registries {
  readonly #options: RegistriesOptions
  readonly #folder: string
  readonly #copies: Map<string, RegistryCopy>
  readonly #failures: JsonDocument<z.infer<typeof failures>>
  readonly #now: () => number
  /** Reads in progress, by registry. */
  readonly #reading = new Map<string, Promise<void>>()

  constructor(options: RegistriesOptions) {
    this.#options = options
    this.#folder = path.join(options.stateDir, '.sandbridge', 'registry')
    this.#copies = new Map(options.addresses.map((address) => [address, new RegistryCopy(this.#folder, address)]))
    this.#now = options.now ?? Date.now
    this.#failures = new JsonDocument({
      document: path.join(this.#folder, 'failures.json'),
      empty: () => ({}),
      parse: (json) => failures.safeParse(json).data,
      damaged: 'empty',
    })
  }

  /**
   * Returns the servers that match a query, best first; earlier registries win duplicate names.
   * @throws BridgeError REGISTRY_UNREADABLE without any copy
   */
  async find(query: string, { limit, ...options }: FindOptions): Promise<Found> {
    const { copies, notes } = await this.#refreshAll(options)
    const ranked = new Map<string, { one: CopiedServer; registry: string; score: number }>()
    for (const { registry, servers } of copies)
      for (const { found: one, score } of rank(servers, query, limit))
        if (!ranked.has(one.server.name)) ranked.set(one.server.name, { one, registry, score })
    const best = [...ranked.values()].toSorted((a, b) => b.score - a.score).slice(0, limit)
    return { servers: best.flatMap(({ one, registry }) => foundServer(one, registry) ?? []), notes }
  }

  /**
   * Finds a server by its full name, or by the part after the slash if that is unique.
   * @throws BridgeError REGISTRY_UNREADABLE, SERVER_REFUSED
   */
  async get(name: string, options: Omit<FindOptions, 'limit'> = {}): Promise<FoundServer> {
    const { copies } = await this.#refreshAll(options)
    const byName = new Map(
      copies
        .toReversed()
        .flatMap(({ registry, servers }) => servers.map((one) => [one.server.name, { one, registry }])),
    )
    const names = [...byName.keys()]
    const wanted = name.toLowerCase()
    const whole = names.find((known) => known.toLowerCase() === wanted)
    const short = names.filter((known) => known.toLowerCase().endsWith(`/${wanted}`))
    const chosen = byName.get(whole ?? (short.length === 1 ? short[0]! : ''))
    const found = chosen && foundServer(chosen.one, chosen.registry)
    if (found) return found
    throw new BridgeError('SERVER_REFUSED', `No registry lists a server '${name.slice(0, 200)}'`, {
      hint:
        short.length > 1
          ? `Several end in that name: ${short.slice(0, 10).join(', ')}. Write one in full.`
          : nearText(names, name) || 'Find its name with `sandbridge find`.',
    })
  }

  /** The copies, and what is to be said of them. */
  async #refreshAll({ offline = false, signal, onProgress }: Omit<FindOptions, 'limit'>) {
    const notes: string[] = []
    const copies: Copied[] = []
    let problem: BridgeError | undefined
    for (const [registry, copy] of this.#copies) {
      let known = await copy.read()
      const isFresh = known !== undefined && this.#now() - known.readAt < FRESH_MS
      try {
        const reading = offline || isFresh ? undefined : this.#refresh(registry, copy, onProgress)
        if (reading && (await isDone(reading, known ? REFRESH_WAIT_MS : undefined, signal))) known = await copy.read()
        else if (reading) notes.push(`${registry} is being read again; these results are of ${dayOf(known?.readAt)}.`)
      } catch (error) {
        if (!BridgeError.isInstance(error)) throw error
        if (error.code === 'CANCELLED') throw error
        problem = error
        const used = known ? ` These results are of ${dayOf(known.readAt)}.` : ''
        notes.push(`${error.message}.${used}`)
      }
      if (known) copies.push(known)
    }
    if (copies.length > 0) return { copies, notes }
    if (problem) throw problem
    if (this.#copies.size > 0) throw new BridgeError('REGISTRY_UNREADABLE', NO_COPY)
    throw new BridgeError('REGISTRY_UNREADABLE', NO_REGISTRY, {
      hint: 'Ask the user to remove that setting, registries.addresses.',
      userHint: 'Remove that setting: sandbridge config --remove registries.addresses',
    })
  }

  #refresh(registry: string, copy: RegistryCopy, onProgress: FindOptions['onProgress']): Promise<void> {
    const going = this.#reading.get(registry)
    if (going) return going
    const reading = this.#readNow(registry, copy, onProgress).finally(() => this.#reading.delete(registry))
    this.#reading.set(registry, reading)
    reading.catch(() => {})
    return reading
  }

  async #readNow(registry: string, copy: RegistryCopy, onProgress: FindOptions['onProgress']): Promise<void> {
    const earlier = (await this.#failures.read())[registry]
    const waitMs = earlier ? earlier.retryAt - this.#now() : 0
    if (earlier && waitMs > 0) {
      const minutes = Math.ceil(waitMs / 60_000)
      throw new RegistryFailure(registry, `${earlier.problem}; it is asked again in ${minutes} min`)
    }
    const before = await copy.read()
    const known = before && this.#now() - before.wholeAt <= WHOLE_MS ? before : undefined
    try {
      const { env } = this.#options
      const answer = await readPages({ registry, env, onProgress, since: known?.since, etag: known?.etag })
      const times = answer?.listed.flatMap(({ updatedAt }) => updatedAt ?? []) ?? []
      const since = [...times, known?.since ?? ''].filter(Boolean).toSorted().at(-1)
      const etag = answer ? answer.etag : known?.etag
      const readAt = this.#now()
      const { wholeAt = readAt, servers = [] } = known ?? {}
      await copy.write({ registry, since, etag, readAt, wholeAt, servers }, answer?.listed ?? [])
      if (earlier) await this.#failures.update((all) => void delete all[registry])
    } catch (error) {
      if (error instanceof RegistryFailure) await this.#remember(registry, error, earlier?.count ?? 0)
      throw error
    }
  }

  async #remember(registry: string, error: RegistryFailure, before: number): Promise<void> {
    const pause = error.retryAfterMs ?? Math.min(FIRST_BACK_OFF_MS * 2 ** before, MAX_BACK_OFF_MS)
    const problem = error.message.replace(`The registry ${registry} `, '')
    this.#options.log.info('A registry could not be read', { registry, problem })
    await this.#failures.update((all) => {
      all[registry] = { count: before + 1, retryAt: this.#now() + pause, problem }
    })
  }
}

const NO_REGISTRY = 'No registry is configured: MCP_BRIDGE_REGISTRIES is off'
const NO_COPY = 'No registry has been read yet'

/** Undefined for one that this program cannot read. */
function foundServer({ server: kept, deprecated }: CopiedServer, registry: string): FoundServer | undefined {
  const server = parseServerJson(kept)
  return 'reason' in server ? undefined : { server, registry, verified: registry === OFFICIAL_REGISTRY, deprecated }
}

/** Names that are close as a whole, else by their part after the slash; an empty text without any. */
function nearText(names: readonly string[], name: string): string {
  const parts = new Map(names.map((whole) => [whole.slice(whole.indexOf('/') + 1), whole]))
  return didYouMeanText(name, names) || didYouMeanText(name, parts.keys(), (part) => parts.get(part)!)
}

/** Whether the work finishes within this time. @throws what it throws, and BridgeError CANCELLED */
async function isDone(work: Promise<void>, withinMs: number | undefined, signal?: AbortSignal): Promise<boolean> {
  const done = untilAborted(
    work.then(() => true),
    signal,
    () => new BridgeError('CANCELLED', 'The search was cancelled'),
  )
  return withinMs === undefined ? done : withTimeout(done, withinMs, () => false)
}

function dayOf(time = 0): string {
  return new Date(time).toISOString().slice(0, 10)
}

// The book of one server: listings for each kind of client, pins, learned types, how it was reached, why it failed
// last. Tenants and processes share the document. Its name is the hash of the server's definition, which it does not
// hold: a changed command, environment or URL has a new book.
import * as z from 'zod'
import { LiveDocument } from '../../util/stores/live-document.ts'
import type { Store } from '../../util/stores/store.ts'
import type { UpstreamPrompt, UpstreamResource, UpstreamTool } from '../../upstream/upstream.ts'
import { isRecord } from '../../util/json/json.ts'
import type { Log } from '../../util/log.ts'
import { keptPrompts, keptResources } from './model/catalog-offering.ts'
import { toolFingerprint } from './model/identity.ts'
import { pin, pinnedIn } from './model/pins.ts'
import { isShape, type Shape, type Shapes } from './model/shape.ts'

/** Increase whenever an older document could be misread. */
const FORMAT = 3
/** Kinds of clients whose listings are kept; there are eight. */
const MAX_LISTINGS = 16

const text = z.string().optional().catch(undefined)
const listOf = <T>(kept: (entries: never[]) => T[]) =>
  z
    .array(z.unknown())
    .transform((entries) => kept(entries.filter(isRecord) as never[]))
    .optional()
    .catch(undefined)
const named = (entries: { name?: unknown }[]) => entries.filter(isNamed)
const error = z.object({
  /** For people. Contains no secrets. */
  reason: z.string(),
  /** What the server was called then. */
  server: text,
  hint: text,
  /** The server's last output, redacted. */
  log: text,
  /** Milliseconds since 1970. */
  at: z.number(),
})
const failure = error.extend({
  /** What the start depended on, see start-inputs.ts. When that changes, the failure no longer counts. */
  inputs: text,
  /** Failures in a row. */
  count: z.number(),
})
const listed = z.object({
  /** What these can be asked; empty for nothing. */
  abilities: z.string(),
  tools: z.array(z.unknown()).transform((tools) => tools.filter(isNamed) as UpstreamTool[]),
  instructions: text,
  resources: listOf<UpstreamResource>(keptResources),
  prompts: listOf((prompts) => keptPrompts(named(prompts) as UpstreamPrompt[])),
  /** Entries that no cell can call. */
  skipped: z.array(z.object({ name: z.string(), reason: z.string() })).optional(),
  /** When `tools` were read, in milliseconds since 1970. */
  fetchedAt: z.number(),
})
const learnedType = z.object({ of: z.string(), shape: z.custom<Shape>((one) => isShape(one)) })
const page = z.object({
  listings: z.array(listed),
  pins: z.record(z.string(), z.object({ hash: z.string(), definition: z.unknown().optional() })),
  /** The kinds of clients whose first listing is pinned. */
  pinnedFor: z.array(z.string()),
  learned: z.record(z.string(), learnedType),
  failure: failure.optional().catch(undefined),
  /** The last failed start or unexpected exit, even if the server has worked since. */
  lastError: error.optional().catch(undefined),
  reached: z
    .object({ via: z.enum(['stdio', 'http', 'sse']), era: z.enum(['legacy', 'modern']), at: z.number() })
    .optional()
    .catch(undefined),
})
const document = page.extend({ format: z.literal(FORMAT) })

/** What a server listed for clients that can be asked the same things. */
export type Listing = z.infer<typeof listed>
/** The type of a tool's results. Valid while the tool's definition has this fingerprint. */
export type LearnedType = z.infer<typeof learnedType>
export type ServerError = z.infer<typeof error>
/** Why the tools of a server could not be listed. */
export type Failure = z.infer<typeof failure>
type Page = z.infer<typeof page>

/** The books of a store, which all tenants of a process share. */
const opened = new WeakMap<Store, Map<string, Toolbook>>()

/** @param key of the server's definition: see `definitionKey` */
export function toolbookOf(store: Store, key: string, log: Pick<Log, 'warning'>): Toolbook {
  const books = opened.get(store) ?? new Map<string, Toolbook>()
  opened.set(store, books)
  const book = books.get(key) ?? new Toolbook(store, key, log)
  books.set(key, book)
  return book
}

export class Toolbook extends LiveDocument<Page> {
  constructor(store: Store, key: string, log: Pick<Log, 'warning'>) {
    super({
      document: store.document(`toolbooks/${key.replace(/[^\w-]/g, '').slice(0, 64)}.json`),
      empty: () => ({ listings: [], pins: {}, pinnedFor: [], learned: {} }),
      parse: (json) => document.safeParse(json).data,
      serialize: (value) => ({ format: FORMAT, ...value }),
      indent: 0,
      damaged: { name: 'What is kept of a server', hint: 'Delete it to take its tools as they are now.' },
      log,
      complaint: 'What is known of a server cannot be read or kept',
    })
  }

  /** What the server listed for such clients, otherwise what it listed last for others. */
  listingFor(abilities: string): Listing | undefined {
    const { listings } = this.value
    return listings.find((listing) => listing.abilities === abilities) ?? listings.at(-1)
  }

  learnedType(tool: string): LearnedType | undefined {
    const { learned } = this.value
    return Object.hasOwn(learned, tool) ? learned[tool] : undefined
  }

  /** Keeps what the server has just listed, and pins what it lists for the first time to such clients. */
  keepListing(listing: Listing): Promise<void> {
    const { abilities, tools } = listing
    this.change((value) => {
      const known = value.listings.find((one) => one.abilities === abilities)
      const isLater = !known || known.fetchedAt <= listing.fetchedAt
      if (isLater) value.listings = [...value.listings.filter((one) => one !== known), listing].slice(-MAX_LISTINGS)
      if (tools.length > 0 && !value.pinnedFor.includes(abilities)) {
        const added = tools.filter(({ name }) => !pinnedIn(value.pins, name))
        value.pins = pin(value.pins, added)
        value.pinnedFor = [...value.pinnedFor, abilities]
      }
      const prints = new Set(value.listings.flatMap((one) => one.tools.map((tool) => idOf(tool.name, tool))))
      const current = Object.entries(value.learned).filter(([name, { of }]) => prints.has(`${of} ${name}`))
      value.learned = Object.fromEntries(current)
      value.failure = undefined
      return true
    })
    return this.flush()
  }

  keepOfferings(abilities: string, offerings: Pick<Listing, 'resources' | 'prompts'>): Promise<void> {
    this.change(({ listings }) => {
      const at = listings.findIndex((one) => one.abilities === abilities)
      if (at !== -1) listings[at] = { ...listings[at]!, ...offerings }
      return at !== -1
    })
    return this.flush()
  }

  /** Pins tools in their current form, as the user has accepted it. */
  accept(tools: readonly UpstreamTool[]): Promise<void> {
    this.change((value) => {
      value.pins = pin(value.pins, tools)
      return true
    })
    return this.flush()
  }

  /** Adds to what the results of a tool were. */
  learn({ merged: cover }: Pick<Shapes, 'merged'>, tool: string, { of, shape }: LearnedType): void {
    this.change((value) => {
      const known = Object.hasOwn(value.learned, tool) ? value.learned[tool] : undefined
      const merged = known?.of === of ? cover(known.shape, shape) : shape
      if (known?.of === of && JSON.stringify(known.shape) === JSON.stringify(merged)) return false
      value.learned = Object.fromEntries([...Object.entries(value.learned), [tool, { of, shape: merged }]])
      return true
    })
  }

  /** Keeps what is true until it is replaced. */
  keep(facts: Partial<Pick<Page, 'failure' | 'lastError' | 'reached'>>): void {
    this.change((value) => Boolean(Object.assign(value, facts)))
  }
}

const idOf = (name: string, tool: UpstreamTool): string => `${toolFingerprint(tool)} ${name}`

function isNamed(value: unknown): boolean {
  return isRecord(value) && typeof value['name'] === 'string'
}

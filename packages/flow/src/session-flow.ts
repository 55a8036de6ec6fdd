// What is known of one session: where its values come from, and whose text its model has read.
import type { ValueOrigin } from '@sandbridge/core/config/rules'
import type { CallFlow } from '@sandbridge/core/observe/events'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import type { Content, KeptOrigins } from '@sandbridge/core/keep'
import type { FlowServers, SessionFlow as Flow, ShownContent, Source } from '@sandbridge/core/parts'
import { literalsOf } from './literals.ts'
import { OriginIndex } from './origin-index.ts'

/** So many distinct words of a server are its text, even if no three of them stand in a row. */
const TEXT_WORDS = 4
/** So are so many that were shown one by one. */
const SINGLE_WORDS = 8
/** So many distinct words that nobody is known to have written came from data that could not be read. */
const UNKNOWN_TEXT_WORDS = 8

/** Longer texts are not read as a list of values. */
const MAX_VALUES_CHARS = 1 << 16

/** Stands for the servers of a session whose bridge has ended. */
const EARLIER = 'earlier cells'

export class SessionFlow implements Flow {
  readonly #index = new OriginIndex((server) => this.isTrusted(server))
  /** As `#toKeep` writes them: sessions that share them may know another server by the name. */
  readonly #seen: Set<string>
  readonly #returned = new Set<string>()
  /** Keys of words of each server that were shown, but not as text. */
  readonly #single = new Map<string, Set<number>>()
  readonly #servers: FlowServers
  /** Those that returned something, as they were then. */
  readonly #identities = new Map<string, string | undefined>()
  /** Those that returned something before and after they became another server. */
  readonly #several = new Set<string>()
  /** Names that stand for something else than the server of this name, which the user may trust. */
  readonly #notServers = new Set<string>()
  readonly #kept: KeptOrigins

  constructor(servers: FlowServers, kept: KeptOrigins, seen = new Set<string>()) {
    this.#seen = seen
    this.#servers = servers
    this.#kept = kept
  }

  /** Size of the index in memory. */
  get bytes(): number {
    return this.#index.bytes
  }

  get seen(): string[] {
    if (this.#seen.size === 0) return []
    const names = new Set([...this.#seen].flatMap((kept) => this.#fromKept(kept)))
    return [...names].filter((server) => !this.isTrusted(server))
  }

  wrote(code: string, isShell = false): void {
    this.#index.addKnown(code)
    for (const literal of isShell ? [code] : literalsOf(code)) this.#index.addWritten(literal)
  }

  told(value: unknown): void {
    if (value !== undefined) this.#index.addKnown(JSON.stringify(value) ?? '')
  }

  returned(source: Source, value: unknown): void {
    this.#identify(source.server)
    this.#returned.add(source.server)
    this.#index.addResult(source, value)
  }

  sent(server: string, args: Readonly<Record<string, unknown>>): void {
    // Almost always, the index has all.
    if (this.#index.partial.size > 0 && this.isTrusted(server)) this.#index.addFromPartial(Object.values(args))
  }

  #identify(server: string): void {
    const now = this.#servers.identityOf(server)
    const before = this.#identities.has(server) ? this.#identities.get(server) : now
    this.#identities.set(server, before)
    if (now !== before) this.#several.add(server)
  }

  /** Whether the user trusts all that this server has said in the session. */
  isTrusted(server: string): boolean {
    if (this.#notServers.has(server) || this.#several.has(server)) return false
    // The index has what the server of that time said.
    const isOther = this.#identities.has(server) && this.#identities.get(server) !== this.#servers.identityOf(server)
    return !isOther && this.#servers.isTrusted(server)
  }

  resumed(): void {
    this.#notServers.add(EARLIER)
    this.#returned.add(EARLIER)
    this.#index.partial.add(EARLIER)
    this.saw(EARLIER)
  }

  async keeps(content: Content, ...names: readonly string[]): Promise<void> {
    const ofNames = names.map((name) => [name, this.#cameFrom(name)] as const)
    // Content whose origin could not be kept counts as unknown.
    await this.#kept
      .keep([[content, this.#cameFrom(content)], ...ofNames.filter(([, servers]) => servers.length > 0)])
      .catch(() => {})
  }

  /** What the model writes after it has read text of a server counts as that server's, too. */
  #cameFrom(content: Content): string[] {
    const text = textOf(content)
    const { sources, unknownWords } = this.#index.originOf(text ?? '', { knowsCode: true })
    // Whoever reads it may take a short value from it, such as a room, for a destination.
    const short = this.#index.originOf(shortValuesOf(text ?? ''), { isExact: true })
    // Nobody knows what is in binary data, or where the rest of a text came from.
    const isUnclear = text === undefined || unknownWords > 0
    const servers = isUnclear ? this.#returned : [...sources, ...short.sources].map(({ server }) => server)
    return [...new Set([...servers, ...this.seen])].map((server) => this.#toKeep(server))
  }

  /** The name of a server with what tells it from another one of this name. */
  #toKeep(server: string): string {
    if (this.#notServers.has(server)) return server
    if (this.#several.has(server)) return `${server}\nseveral`
    const identity = this.#identities.has(server) ? this.#identities.get(server) : this.#servers.identityOf(server)
    return identity === undefined ? server : `${server}\n${identity}`
  }

  #fromKept(kept: string): string[] {
    const [server, identity] = kept.split('\n') as [string, string | undefined]
    if (this.#notServers.has(server) || identity === this.#servers.identityOf(server)) return [server]
    // Rules that name the server go on to match.
    return [server, this.#placeOf(`an earlier ${server}`)]
  }

  async opens(
    place: string,
    contents: readonly Content[],
    { sha256, isCode = false }: { sha256?: string; isCode?: boolean } = {},
  ): Promise<void> {
    const known = await (sha256 === undefined ? this.#kept.of(contents) : this.#kept.ofHashes([sha256]))
    for (const [at, content] of contents.entries()) {
      this.#opened(place, content, known[at] ?? [this.#placeOf(place)])
      if (isCode && known[at]?.length === 0) this.wrote(textOf(content) ?? '')
    }
  }

  async lists(place: string, names: readonly string[]): Promise<void> {
    const known = await this.#kept.of(names)
    for (const [at, name] of names.entries()) this.#opened(place, name, known[at] ?? [])
  }

  #opened(place: string, content: Content, servers: readonly string[]): void {
    const text = textOf(content)
    if (servers.length === 0) return this.told(text)
    const value = text ?? { blob: Buffer.from(content).toString('base64') }
    for (const server of servers.flatMap((one) => this.#fromKept(one))) this.returned({ server, name: place }, value)
  }

  /** Stands for an unknown origin. */
  #placeOf(place: string): string {
    this.#notServers.add(place)
    return place
  }

  shown({ text, hasMedia }: ShownContent): void {
    if (this.#returned.size === 0) return
    const { runs, words, unknownWords } = this.#index.shown(text)
    for (const server of runs) this.saw(server)
    for (const [server, keys] of words) {
      const all = new Set([...(this.#single.get(server) ?? []), ...keys])
      if (keys.size >= TEXT_WORDS || all.size >= SINGLE_WORDS) this.saw(server)
      else this.#single.set(server, all)
    }
    // An image may show any text.
    if (hasMedia) for (const server of this.#returned) this.saw(server)
    if (unknownWords >= UNKNOWN_TEXT_WORDS) for (const server of this.#index.partial) this.saw(server)
  }

  saw(server: string): void {
    this.#seen.add(this.#toKeep(server))
  }

  /** What rules and questions need to know about a value. */
  originOf(value: unknown, isExact = false): ValueOrigin {
    const { sources, isModels, unknownWords } = this.#index.originOf(value, { isExact })
    return {
      servers: sources.map(({ server }) => server),
      names: sources.map(({ server, name }) => (name === '' ? server : `${server}.${name}`)),
      isModels,
      isUnknown: unknownWords > 0,
    }
  }

  ofCall(args: Readonly<Record<string, unknown>>): CallFlow {
    const from = Object.entries(args)
      .map(([name, value]) => [name, this.originOf(value).names] as const)
      .filter(([, names]) => names.length > 0)
    // Not by assignment: an argument may be called `__proto__`.
    return { from: Object.fromEntries(from), seen: this.seen }
  }

  isKnownWord(word: string): boolean {
    return this.#index.isKnownWord(word)
  }
}

/** What can stand for something even if it is short. Padding of a server is found anyway. */
function shortValuesOf(text: string): unknown {
  return text.length > MAX_VALUES_CHARS ? '' : (parseJson(text) ?? (/\s\S/.test(text) ? '' : text))
}

/** Undefined for binary data. */
function textOf(content: Content): string | undefined {
  if (typeof content === 'string') return content
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return undefined
  }
}

// What is known of one session: where its values come from, and whose text its model has read.
import type { ValueOrigin } from '@sandbridge/core/config/rules'
import type { CallFlow } from '@sandbridge/core/observe/events'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import type { Content, KeptOrigins } from '@sandbridge/core/util/stores'
import type { FlowServers, SessionFlow as Flow, ShownContent, Source } from '@sandbridge/core/parts'
import { literalsOf } from './literals.ts'
import { OriginIndex, type Words } from './origin-index.ts'
import { spellsText } from './spelled-text.ts'

/** Values that the model reads, such as a state or a name: more words, or more letters in them, are a text. */
const MAX_VALUE_WORDS = 2
const MAX_VALUE_LETTERS = 10
/** So many distinct words that were shown as values are a text, too. */
const SINGLE_WORDS = 8

/** What stands around any output. */
const KNOWN = `status ok stdout stderr value displays error name message traceback notes session output runtime
  PermissionDenied Not run Cell Traceback most recent call last File line in module during handling of the above
  exception another occurred KeyboardInterrupt`
/** No other line begins so. */
const NOTICES = /^\[sandbridge: .*(?:\n> .*)*/gm

/** In times of ISO 8601, letters are signs. */
const ISO_TIME = /(?<=\d-\d\d)T(\d\d:\d\d[\d:.]*)Z?/g

/** Longer texts are not read as a list of values. */
const MAX_VALUES_CHARS = 1 << 16

/** Stands for the servers of a session whose bridge has ended. */
const EARLIER = 'earlier cells'
/** Stands for the user and their models, where sessions have kept what no server had a part in. */
const OWN = ''

export class SessionFlow implements Flow {
  readonly #index = new OriginIndex((server) => this.isTrusted(server))
  /** As `#toKeep` writes them: sessions that share them may know another server by the name. */
  readonly #seen: Set<string>
  readonly #returned = new Set<string>()
  /** Keys of words that were shown as values. */
  readonly #single = new Set<number>()
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
    this.#index.addKnown(KNOWN)
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
    const others = this.isTrusted(server) ? this.#untrusted : []
    if (others.length === 0) return
    for (const value of Object.values(args))
      if (this.#index.originOf(value).hasUnknown)
        for (const other of others) this.#index.addResult({ server: other, name: '' }, value)
  }

  /** What neither the model nor anyone trusted is known to have said is of one of these. */
  get #untrusted(): string[] {
    return [...this.#returned].filter((server) => !this.isTrusted(server))
  }

  #identify(server: string): void {
    const now = this.#servers.identityOf(server)
    const before = this.#identities.has(server) ? this.#identities.get(server) : now
    this.#identities.set(server, before)
    if (now !== before) this.#several.add(server)
  }

  /** Whether the user trusts all that this server has said in the session. */
  isTrusted(server: string): boolean {
    if (server === OWN) return true
    if (this.#notServers.has(server) || this.#several.has(server)) return false
    // The index has what the server of that time said.
    const isOther = this.#identities.has(server) && this.#identities.get(server) !== this.#servers.identityOf(server)
    return !isOther && this.#servers.isTrusted(server)
  }

  resumed(): void {
    this.#notServers.add(EARLIER)
    this.#returned.add(EARLIER)
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
    const { sources, hasUnknown } = this.#index.originOf(text ?? '', { knowsCode: true })
    // Whoever reads it may take a short value from it, such as a room, for a destination.
    const short = this.#index.originOf(shortValuesOf(text ?? ''), { isExact: true })
    // Nobody knows what is in binary data, or where the rest of a text came from.
    const isUnclear = text === undefined || hasUnknown || short.hasUnknown
    const servers = isUnclear ? this.#returned : [...sources, ...short.sources].map(({ server }) => server)
    return [...new Set([...servers, ...this.seen])].filter((one) => one !== OWN).map((one) => this.#toKeep(one))
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
    const value = textOf(content) ?? { blob: Buffer.from(content).toString('base64') }
    if (servers.length === 0) this.#index.addResult({ server: OWN, name: place }, value)
    for (const server of servers.flatMap((one) => this.#fromKept(one))) this.returned({ server, name: place }, value)
  }

  /** Stands for an unknown origin. */
  #placeOf(place: string): string {
    this.#notServers.add(place)
    return place
  }

  /**
   * Text that is not accounted for is of the servers that were called, whatever script or dress it has: no words must
   * be found again for that.
   */
  shown({ text, hasMedia }: ShownContent): void {
    if ([...this.#returned].every((server) => this.#seen.has(this.#toKeep(server)))) return
    let notices = ''
    const output = text.replaceAll(NOTICES, (notice) => ((notices += `${notice}\n`), '')).replaceAll(ISO_TIME, ' $1')
    for (const [server, words] of this.#index.shown(notices, { isQuote: true }).ofServers)
      if (isText(words)) this.saw(server)
    const { ofServers, unknown } = this.#index.shown(output)
    // An image may show any text.
    if (hasMedia || isText(unknown) || spellsText(output)) for (const server of this.#returned) this.saw(server)
    for (const [server, words] of ofServers) {
      if (isText(new Map([...words, ...unknown]))) this.saw(server)
      else if (!this.isTrusted(server)) this.#showedValues(words)
    }
    if (!isText(unknown)) this.#showedValues(unknown)
  }

  #showedValues(words: Words): void {
    for (const key of words.keys()) this.#single.add(key)
    if (this.#single.size < SINGLE_WORDS) return
    for (const server of this.#returned) this.saw(server)
    this.#single.clear()
  }

  saw(server: string): void {
    this.#seen.add(this.#toKeep(server))
  }

  /** What rules and questions need to know about a value. */
  originOf(value: unknown, isExact = false): ValueOrigin {
    const { sources: all, toldBy = [], isModels, hasUnknown } = this.#index.originOf(value, { isExact })
    const sources = all.filter(({ server }) => server !== OWN)
    const servers = sources.map(({ server }) => server)
    const others = hasUnknown ? this.#untrusted.filter((server) => !servers.includes(server)) : []
    return {
      servers: [...servers, ...others],
      names: [...sources.map(({ server, name }) => (name === '' ? server : `${server}.${name}`)), ...others],
      toldBy,
      isModels,
      isUnknown: hasUnknown,
      guessed: others,
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

function isText(words: Words): boolean {
  return words.size > MAX_VALUE_WORDS || [...words.values()].reduce((sum, chars) => sum + chars, 0) > MAX_VALUE_LETTERS
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

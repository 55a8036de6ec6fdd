// The calls of one session that may have changed something and whose cells' results its client may not have. Each is
// known by its tool, its arguments and its number among the same calls of its cell.
import { hash, randomUUID } from 'node:crypto'
import type { CellJournal, EnteredCall, JournaledCall } from '@sandbridge/core/parts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { type CatalogTool, definitionKey } from '@sandbridge/core/calls/catalog'
import { stateAfter } from '@sandbridge/core/observe/runs'
import type { ToolResult } from '@sandbridge/core/upstream'
import { argumentsHash } from '@sandbridge/core/util/json/arguments-hash.ts'
import { count, shortened } from '@sandbridge/core/util/text'
import type { AttemptOptions, Decide, Entry, MakerOfCalls } from './entry.ts'
import type { JournalLog } from './journal-log.ts'
import { type WriteKind, writeKind } from './write-kind.ts'

/** A cell can make any number of calls. With their answers, these take less than two megabytes. */
const MAX_ENTRIES = 3_000
/** How long the calls of sessions are held, also by the next bridge. */
export const DAY_MS = 24 * 60 * 60_000
/** A client that sends two calls within this time has not lost the first one. */
const TOGETHER_MS = 1_000
/** A client that ends after it was handed a result has read it, unless it comes back this soon with the same call. */
const HANDED_OVER_MS = 10_000
const MAX_SHOWN_ARGUMENTS = 400
/** Short: a cell may make thousands of calls. Code that makes two keys equal gets one's answer for the other. */
const TOOL_CHARS = 12
const ARGUMENTS_CHARS = 32

export class Journal {
  readonly log: JournalLog
  /** Meanwhile, what earlier bridges left is being read. */
  reading: Promise<void> | undefined
  /** Meanwhile, a call that it takes over is in two logs. */
  taking: Promise<void> | undefined
  /** Of other sessions of its client that are over. What is repeated of them is taken until a result is delivered. */
  over: () => Iterable<Journal> = () => []
  /** The only one of those: its client is told what it does not repeat. */
  before: Journal | undefined
  /** When the last result of a bridge that is gone was handed to its client. */
  leftAt: number | undefined
  /** The client goes on in another session: cells up to this number make no more calls. */
  #takenUpTo = 0
  readonly #entries = new Map<string, Entry[]>()
  readonly #keptMs: number
  #size = 0
  #attempts = 0
  /** The cell that made more calls than fit; true for one of an earlier session. */
  #full: Attempt | true | undefined

  /** @param keptMs how long a call is held */
  constructor(log: JournalLog, keptMs = DAY_MS) {
    this.log = log
    this.#keptMs = keptMs
  }

  begin(options: AttemptOptions = {}): Attempt {
    return new Attempt(this, (this.#attempts += 1), options)
  }

  /** Also of one in the future: the clock was set back. */
  isOld({ at }: Entry): boolean {
    return at !== 0 && Math.abs(Date.now() - at) > this.#keptMs
  }

  get isEmpty(): boolean {
    return this.#size === 0
  }

  *entries(): Generator<Entry> {
    // Some are gone, and the others keep their numbers.
    for (const list of this.#entries.values()) yield* Object.values(list)
  }

  of(key: string): Entry[] {
    return this.#entries.get(key) ?? []
  }

  add(key: string, n: number, name: string, by: Attempt): Entry {
    const nothing = {
      state: 'free',
      answer: undefined,
      filled: undefined,
      at: 0,
      isAgain: false,
      isTold: false,
    } as const
    const entry: Entry = { key, n, name, by, ...nothing }
    if (this.#full === undefined && this.#size >= MAX_ENTRIES) {
      this.#full = by
      void this.log.add({ full: true })
    }
    if (this.#full === undefined) this.#put(entry)
    return entry
  }

  /** Whether a call that is not in the journal may have been made all the same. */
  mayLack(by: Attempt): boolean {
    return this.#full !== undefined && this.#full !== by
  }

  #put(entry: Entry): void {
    const list = this.#entries.get(entry.key)
    if (list) list[entry.n] = entry
    else this.#entries.set(entry.key, [entry])
    this.#size += 1
  }

  /** The client goes on in another session. */
  isTaken({ number }: Attempt): boolean {
    return number <= this.#takenUpTo
  }

  /** Notes what became of a call, unless it did not fit, or another session has taken it. */
  note(entry: Entry, became: Partial<Entry>): Promise<void> | undefined {
    Object.assign(entry, became)
    return this.has(entry) ? this.log.add(entry) : undefined
  }

  has(entry: Entry): boolean {
    return this.of(entry.key)[entry.n] === entry
  }

  /** Takes over what an earlier session left. */
  take(entries: Iterable<Entry>, isFull = false): void {
    for (const entry of entries) {
      if (entry.state === 'free' || this.isOld(entry)) continue
      if (this.#size >= MAX_ENTRIES) {
        this.#full = true
        break
      }
      const own = { ...entry, n: this.of(entry.key).length, by: undefined, toldTo: undefined }
      this.#put(own)
      void this.log.add(own)
    }
    if (isFull) this.#full = true
  }

  /** Takes over such a call of a session that is over. A cell that still runs there makes no more calls. */
  takeLost(key: string): Promise<void> | undefined {
    for (const other of this.over()) {
      const lost = Object.values(other.of(key)).find((entry) => other.#isLost(entry))
      if (lost) return this.#takeFrom(other, lost)
    }
    return undefined
  }

  #isLost(entry: Entry): boolean {
    const handedOverAt = entry.by?.handedOverAt ?? this.leftAt
    const isRecent = handedOverAt === undefined || Math.abs(Date.now() - handedOverAt) < HANDED_OVER_MS
    return entry.state !== 'free' && !this.isOld(entry) && isRecent
  }

  async #takeFrom(other: Journal, entry: Entry): Promise<void> {
    other.#takenUpTo = other.#attempts
    const freed = other.#free(entry)
    const isMissing = entry.state === 'answered' && !entry.answer
    const answer = isMissing ? await other.log.answerOf(entry) : entry.answer
    this.take([{ ...entry, answer }], other.#full !== undefined)
    this.taking = this.log.flush().then(() => {
      void other.log.add(freed)
      if (other.isEmpty) other.clear({ number: Infinity })
    })
  }

  /** @returns what its log says from now on */
  #free(entry: Entry): Entry {
    this.#size -= 1
    Reflect.deleteProperty(this.of(entry.key), entry.n)
    return { ...entry, state: 'free', answer: undefined }
  }

  /** The client has the result of this cell, and of those before it. */
  clear({ number }: Pick<Attempt, 'number'>): void {
    this.over = () => []
    this.before?.clear({ number: Infinity })
    this.before = undefined
    const isDone = ({ by }: Entry) => by === undefined || by.number === number || (by.number < number && !by.isOpen)
    const done = [...this.entries()].filter(isDone)
    // Another call of the client goes on.
    if (done.length < this.#size) return done.forEach((entry) => void this.log.add(this.#free(entry)))
    this.#entries.clear()
    this.#size = 0
    this.#full = undefined
    this.log.clear()
  }
}

/** One cell. */
export class Attempt implements CellJournal, MakerOfCalls {
  readonly number: number
  readonly #journal: Journal
  readonly #options: AttemptOptions
  readonly #beganAt = performance.now()
  readonly #counts = new Map<string, number>()
  readonly #reused: Entry[] = []
  isOpen = true
  isDelivered: boolean | undefined
  #endedAt = 0
  /** It failed at a call whose outcome is unknown. */
  #isStopped = false
  #callCount = 0

  constructor(journal: Journal, number: number, options: AttemptOptions) {
    this.#journal = journal
    this.number = number
    this.#options = options
  }

  get handedOverAt(): number | undefined {
    return this.isOpen || this.isDelivered === false ? undefined : this.#endedAt
  }

  enter(call: EnteredCall): Promise<JournaledCall> | JournaledCall | undefined {
    const kind = writeKind(call.tool)
    if (!kind) return undefined
    const definition = call.definition()
    if (definition?.repeat === 'always') return undefined
    if (this.#journal.isTaken(this))
      throw new BridgeError('CANCELLED', 'The client has lost this cell, and has sent another one')
    const of = this.#options.isAnyEntry ? undefined : definition
    const key = toolKey(call.tool, of) + argumentsHash(call.args).slice(0, ARGUMENTS_CHARS)
    const { reading } = this.#journal
    return reading ? reading.then(() => this.#enter(call, kind, key)) : this.#enter(call, kind, key)
  }

  #enter(call: EnteredCall, kind: WriteKind, key: string): Promise<JournaledCall> | JournaledCall {
    const name = `${call.tool.server}.${call.tool.name}`
    const all = this.#journal.of(key)
    let n = this.#counts.get(key) ?? 0
    while (all[n] && !this.#holds(all[n]!)) n += 1
    const before = all[n]
    const taken = before ? undefined : this.#journal.takeLost(key)
    if (taken) return taken.then(() => this.#enter(call, kind, key))
    if (!before && this.#journal.mayLack(this) && !call.isAgain) throw this.#unknown(call, 'sent')
    const { state = 'free', filled } = before ?? {}
    const isSafe =
      kind.isIdempotent || filled !== undefined || (kind.keyField !== undefined && kind.keyField in call.args)
    const isMeant = call.isAgain && (!before?.isAgain || this.#knows(before))
    if (state === 'sent' && !isMeant && !isSafe) return this.#decideOn(call, kind, before!)
    if (state === 'answered') {
      return before!.answer ? this.#reuse(before!, before!.answer) : this.#find(call, kind, before!, isMeant)
    }
    return this.#make(before ?? this.#journal.add(key, n, name, this), call, kind)
  }

  #make(entry: Entry, { isAgain }: EnteredCall, kind: WriteKind): JournaledCall {
    if (this.#journal.has(entry)) this.#counts.set(entry.key, entry.n + 1)
    this.#take(entry)
    Object.assign(entry, { isAgain, toldTo: undefined })
    return new MadeCall(this.#journal, entry, kind)
  }

  /** Whether the author of this code was told that the outcome is unknown. */
  #knows({ toldTo }: Entry): boolean {
    return toldTo !== undefined && (toldTo.number === this.number || toldTo.isDelivered === true)
  }

  /** Whether a call before is one that this cell repeats. */
  #holds(entry: Entry): boolean {
    const { by } = entry
    if (this.#journal.isOld(entry)) return false
    return by === undefined || by === this || by.isRepeatedBy(this.#beganAt)
  }

  isRepeatedBy(beganAt: number): boolean {
    return this.isDelivered !== undefined || (!this.isOpen && beganAt - this.#beganAt > TOGETHER_MS)
  }

  #take(entry: Entry): void {
    Object.assign(entry, { by: this, isTold: false })
    this.#callCount += 1
  }

  #reuse(entry: Entry, answer: ToolResult): JournaledCall {
    this.#counts.set(entry.key, entry.n + 1)
    this.#take(entry)
    this.#reused.push(entry)
    return { answer, sentArgs: (args) => args, sent: () => undefined, ended: () => undefined }
  }

  async #find(call: EnteredCall, kind: WriteKind, entry: Entry, isMeant: boolean): Promise<JournaledCall> {
    const answer = await this.#journal.log.answerOf(entry)
    if (answer) return this.#reuse(entry, answer)
    if (isMeant) return this.#make(entry, call, kind)
    throw this.#unknown(call, 'answered', entry)
  }

  #decideOn(call: EnteredCall, kind: WriteKind, entry: Entry): Promise<JournaledCall> {
    const { decide } = this.#options
    if (!decide) throw this.#unknown(call, 'sent', entry)
    return this.#decided(decide, call, kind, entry)
  }

  async #decided(decide: Decide, call: EnteredCall, kind: WriteKind, entry: Entry): Promise<JournaledCall> {
    const { server, name: tool } = call.tool
    const decision = await decide({ server, tool, args: call.args })
    if (decision === undefined) throw this.#unknown(call, 'sent', entry)
    if (decision !== 'again') {
      await this.#journal.note(entry, { state: 'answered', answer: decision.result })
      return this.#reuse(entry, decision.result)
    }
    return this.#make(entry, call, kind)
  }

  /** The same call raises it again, as often as the cell repeats it. */
  #unknown({ tool, args, reading }: EnteredCall, state: Entry['state'], entry?: Entry): BridgeError {
    if (entry) Object.assign(entry, { toldTo: this, isTold: true })
    this.#isStopped = true
    this.#callCount += 1
    const what =
      state === 'answered'
        ? 'was answered before the connection broke, and its answer was not kept'
        : 'was sent before the connection broke and never answered: it may or may not have taken effect'
    const sent = shortened(JSON.stringify(args), MAX_SHOWN_ARGUMENTS)
    const found = reading()
    const how = found.length > 0 ? `, for example with ${found.join(' or ')}` : ''
    const call = `mcp_${tool.serverAlias}.${tool.alias}(…)`
    return new BridgeError('OUTCOME_UNKNOWN', `${tool.server}.${tool.name} ${what}. It was sent with ${sent}`, {
      hint: this.#options.hint ?? `Find out first${how}. To send it once more: await runtime.again(${call}).`,
      data: { server: tool.server, tool: tool.name },
    })
  }

  ended(isOk: boolean): string | undefined {
    this.isOpen = false
    this.#endedAt = Date.now()
    if (isOk) this.#isStopped = false
    if (this.#callCount > 0) void this.#journal.log.add({ made: this.#endedAt })
    const told: string[] = []
    const { length } = this.#reused
    if (length > 0) {
      const whose = length === 1 ? 'its answer was' : 'their answers were'
      const before = `${count(length, 'call')} had been answered before the connection broke; ${whose} used again`
      told.push(`${before}: ${counted(this.#reused)}.`)
    }
    const own = [...this.#journal.entries()].filter((entry) => this.#holds(entry))
    const left = [...own, ...(this.#journal.before?.entries() ?? [])].filter((entry) => this.#isUntold(entry))
    for (const entry of left) entry.isTold = true
    if (left.length > 0)
      told.push(`A cell whose result was lost had made calls that this one did not repeat: ${counted(left)}.`)
    return told.join(' ') || undefined
  }

  /** Of a cell whose result its client does not have. */
  #isUntold(entry: Entry): boolean {
    const { by, state, isTold } = entry
    return by !== this && state !== 'free' && !isTold && by?.isDelivered !== true && by?.handedOverAt === undefined
  }

  lost(): void {
    this.isDelivered ??= false
  }

  /** @param isDelivered undefined: its connection ended after the result was handed over */
  delivered(isDelivered: boolean | undefined): void {
    this.isOpen = false
    if (isDelivered === undefined) return
    this.isDelivered = isDelivered
    if (this.#callCount === 0) return
    if (!isDelivered) void this.#journal.log.add({ lost: true })
    // A cell that was stopped is corrected and sent again: what it has done is still done.
    else if (!this.#isStopped) this.#journal.clear(this)
  }
}

class MadeCall implements JournaledCall {
  readonly answer = undefined
  readonly #journal: Journal
  readonly #entry: Entry
  readonly #keyField: string | undefined

  constructor(journal: Journal, entry: Entry, { keyField }: WriteKind) {
    this.#journal = journal
    this.#entry = entry
    this.#keyField = keyField
  }

  sentArgs(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    if (this.#keyField === undefined || Object.hasOwn(args, this.#keyField)) return args
    this.#entry.filled ??= randomUUID()
    return { ...args, [this.#keyField]: this.#entry.filled }
  }

  sent(): Promise<void> | undefined {
    return this.#journal.note(this.#entry, { state: 'sent', at: Date.now() })
  }

  ended(result: ToolResult | undefined, error?: unknown): Promise<void> | undefined {
    const entry = this.#entry
    if (result && result.isError !== true) return this.#journal.note(entry, { state: 'answered', answer: result })
    const state =
      result || BridgeError.isInstance(error) ? stateAfter((error as BridgeError | undefined)?.code) : 'unknown'
    if (state === 'unknown') return undefined
    // What its tool refused is made again.
    return this.#journal.note(entry, { state: 'free' })
  }
}

const toolKeys = new WeakMap<CatalogTool, { of: string | undefined; key: string }>()

/** @param definition missing: the tool of any server of this name */
function toolKey(tool: CatalogTool, definition: ReturnType<EnteredCall['definition']>): string {
  const of = definition && definitionKey(definition)
  const known = toolKeys.get(tool)
  if (known && known.of === of) return known.key
  const key = hash('sha256', JSON.stringify([tool.server, of, tool.name]), 'base64url').slice(0, TOOL_CHARS)
  toolKeys.set(tool, { of, key })
  return key
}

/** Names of calls, each with its number: `mail.send (2), mail.label (1)`. */
function counted(entries: readonly Entry[]): string {
  const times = new Map<string, number>()
  for (const { name } of entries) times.set(name, (times.get(name) ?? 0) + 1)
  return [...times].map(([name, number]) => `${name} (${number})`).join(', ')
}

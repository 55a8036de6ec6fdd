// The log of one journal: written beside the calls, never in their way, and read by the bridge that goes on. It has no
// arguments, only their hash; answers are sealed where sign-ins are.
import type { JournalsOptions } from '@sandbridge/core/parts'
import type { Logs, LogWriter } from '@sandbridge/core/keep'
import type { ToolResult } from '@sandbridge/core/upstream'
import { exactJson, tryParseExact } from '@sandbridge/core/util/json'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import type { Entry } from './entry.ts'

/** After a write, lines wait this long for others; after one of many lines, a loop of calls goes on. */
const PAUSE_MS = 5
const LOOP_PAUSE_MS = 30
const LOOP_LINES = 8
/** Longer answers are not kept. */
const MAX_ANSWER_CHARS = 4 << 20
/** Longer ones are in the log only. */
const MAX_IN_MEMORY = 64 << 10

/** A line about a call, in short names: a cell may make thousands. */
interface CallLine {
  /** Its key and number: see `Entry`. */
  k: string
  n: number
  t?: string
  s: Entry['state']
  /** Its idempotency key. */
  i?: string | undefined
  /** See `Entry.isAgain`. */
  g?: true | undefined
  at?: number
  /** Its answer as JSON, or sealed. */
  r?: string
  e?: string
}

type Line = object | (() => Promise<object>)

export interface LogPlace extends Pick<JournalsOptions, 'vault' | 'log'> {
  logs: Logs
  name: string
}

/** What a log holds. */
export interface ReadLog {
  head: Record<string, unknown>
  entries: Entry[]
  isFull: boolean
  /** When the last result was handed to its client, if nothing is known of it since. */
  handedOverAt: number | undefined
  /** The last line that is about no call and not about deliveries. */
  last: Record<string, unknown> | undefined
}

export class JournalLog {
  readonly name: string
  readonly #place: LogPlace
  readonly #isSynced: boolean
  #waiting: Line[] = []
  #writer: Promise<LogWriter> | undefined
  #writing: Promise<void> | undefined
  #isWarned = false
  #isClosed = false

  /**
   * @param head its first line
   * @param isSynced each line is on the disk before its call is made, and a failure to write it fails the call
   */
  constructor(place: LogPlace, head: object, isSynced = false) {
    this.name = place.name
    this.#place = place
    this.#isSynced = isSynced
    this.#waiting.push(head)
  }

  /** @returns a promise where its call must wait for the line */
  add(line: Line): Promise<void> | undefined {
    if (this.#isClosed) return undefined
    this.#waiting.push(line)
    const writing = this.written()
    writing.catch(() => {})
    return this.#isSynced ? writing : undefined
  }

  call({ key, n, name, state, filled, at, isAgain }: Entry): Promise<void> | undefined {
    return this.add({ k: key, n, t: name, s: state, i: filled, at, g: isAgain || undefined } satisfies CallLine)
  }

  /** An answer. Large ones leave the memory. @param onWritten gets the number of characters that stay in memory */
  answer(entry: Entry, onWritten: (chars: number) => void): Promise<void> | undefined {
    const { key: k, n, name: t, at, answer } = entry
    return this.add(async () => {
      const json = exactJson(answer)
      const line: CallLine = { k, n, t, s: 'answered', at }
      if (json.length > MAX_IN_MEMORY) entry.answer = undefined
      onWritten(json.length > MAX_IN_MEMORY ? 0 : json.length)
      return json.length > MAX_ANSWER_CHARS ? line : { ...line, ...(await this.#sealed(json)) }
    })
  }

  /** Without a key for the database, no answer is kept there. */
  async #sealed(json: string): Promise<Pick<CallLine, 'r' | 'e'>> {
    const { vault, name } = this.#place
    if (!vault) return { r: json }
    const sealed = await vault.seal(json, name).catch(() => '')
    return sealed === undefined ? { r: json } : sealed === '' ? {} : { e: sealed }
  }

  /** The answer of a call that is in the log only; undefined if it was not kept. */
  async answerOf({ key, n }: Entry): Promise<ToolResult | undefined> {
    await this.flush()
    const { entries } = await readLog(this.#place, (line) => line.k === key && line.n === n)
    return entries[0]?.answer
  }

  async #write(): Promise<void> {
    const { logs, name, log } = this.#place
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0)
      try {
        const made = []
        for (const line of lines) made.push(exactJson(typeof line === 'function' ? await line() : line))
        this.#writer ??= logs.create(name, this.#isSynced)
        await (await this.#writer).append(made)
      } catch (error) {
        if (this.#isSynced) throw error
        if (!this.#isWarned) log.warning('What cells have written cannot be noted', { error })
        this.#isWarned = true
      }
      if (!this.#isSynced)
        await new Promise((resolve) => setTimeout(resolve, lines.length > LOOP_LINES ? LOOP_PAUSE_MS : PAUSE_MS))
    }
  }

  /** Resolves when everything is written. @throws what the store throws, where calls wait for it */
  written(): Promise<void> {
    return (this.#writing ??= this.#write().finally(() => (this.#writing = undefined)))
  }

  /** Never rejects. */
  async flush(): Promise<void> {
    await this.#writing?.catch(() => {})
  }

  /** Nothing is written from now on. Never rejects. */
  async close(isKept: boolean): Promise<void> {
    this.#isClosed = true
    await this.flush()
    const writer = await this.#writer?.catch(() => undefined)
    await writer?.close().catch(() => {})
    if (!isKept && writer) await this.#place.logs.remove(this.#place.name).catch(() => {})
  }
}

/** Empty for a log that is gone. Skips lines that cannot be read. */
export async function readLog(
  { logs, name, vault }: Pick<LogPlace, 'logs' | 'name' | 'vault'>,
  isWanted: (line: CallLine) => boolean = () => true,
): Promise<ReadLog> {
  const found: ReadLog = { head: {}, entries: [], isFull: false, handedOverAt: undefined, last: undefined }
  const entries = new Map<string, Entry>()
  for await (const text of logs.lines(name)) {
    const line = parseJson(text)
    if (!isRecord(line)) continue
    if (isCall(line)) {
      found.handedOverAt = undefined
      if (!isWanted(line)) continue
      const { k: key, n, t = '', s: state, i: filled, at = 0, g, r, e } = line
      const json = e === undefined ? r : await vault?.open(e, name)
      // Parsed by the bridge that wrote it.
      const answer = json === undefined ? undefined : (tryParseExact(json) as ToolResult)
      const before = entries.get(`${key} ${n}`)
      const kept = { answer, filled: filled ?? before?.filled, isAgain: g === true }
      entries.set(`${key} ${n}`, { key, n, name: t, state, at, by: undefined, ...kept })
    } else if (line['clear'] === true) {
      entries.clear()
      found.isFull = false
    } else if (line['full'] === true) found.isFull = true
    else if (typeof line['made'] === 'number') found.handedOverAt = line['made']
    else if (line['lost'] === true) found.handedOverAt = undefined
    else {
      if (Object.keys(found.head).length === 0) found.head = line
      found.last = line
    }
  }
  found.entries = [...entries.values()].filter(({ state }) => state !== 'free')
  return found
}

const STATES = new Set<unknown>(['free', 'sent', 'answered'])

function isCall(line: Record<string, unknown>): line is Record<string, unknown> & CallLine {
  return typeof line['k'] === 'string' && Number.isInteger(line['n']) && STATES.has(line['s'])
}

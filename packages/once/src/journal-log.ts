// The log of one journal: written beside the calls, never in their way, and read by the bridge that goes on. It has no
// arguments, only their hash; answers are sealed where sign-ins are.
import { setTimeout as sleep } from 'node:timers/promises'
import type { JournalsOptions } from '@sandbridge/core/parts'
import type { Logs, LogWriter } from '@sandbridge/core/util/stores'
import type { ToolResult } from '@sandbridge/core/upstream'
import { exactJson, tryParseExact } from '@sandbridge/core/util/json'
import { isRecord, itemsOf } from '@sandbridge/core/util/json/json.ts'
import type { Entry } from './entry.ts'

/** After a write, lines wait this long for others, unless a flush waits: most calls of a loop then have one line. */
const PAUSE_MS = 30
/** Longer answers are in the log only, and so are those beyond this sum. */
const MAX_IN_MEMORY = 64 << 10
/** For those: while its cell reads 10 MB, making their JSON would add a quarter to that time. */
const LONG_PAUSE_MS = 300
const MAX_ALL_IN_MEMORY = 512 << 10
/** Of all answers of a log. Further ones are not kept. */
const MAX_KEPT_CHARS = 16 << 20
/** A log of which nothing is needed any more begins anew from this size on. */
const RESTARTED_BYTES = 1 << 20

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
  /** Its answer, or the sealed JSON of it. */
  r?: unknown
  e?: string
}

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
  readonly #head: object
  /** Lines, and entries whose lines say how they are when they are written. */
  readonly #waiting = new Set<object | Entry>()
  #writer: Promise<LogWriter> | undefined
  #writing: Promise<void> | undefined
  /** Characters of answers. */
  #inMemory = 0
  #kept = 0
  #isWarned = false
  #flushes = 0
  #endPause = (): void => {}
  #isClosed = false

  /**
   * @param head its first line
   * @param isSynced each line is on the disk before its call is made, and a failure to write it fails the call
   */
  constructor(place: LogPlace, head: object, isSynced = false) {
    this.name = place.name
    this.#place = place
    this.#isSynced = isSynced
    this.#head = head
    if (isSynced) this.#waiting.add(head)
  }

  /** @returns a promise where its call must wait for the line */
  add(line: object | Entry): Promise<void> | undefined {
    if (this.#isClosed) return undefined
    if (!this.#writer && !this.#writing) this.#waiting.add(this.#head)
    // To the end: a line about a call also says that its cell goes on.
    this.#waiting.delete(line)
    this.#waiting.add(line)
    if (this.#writing && !this.#isSynced) return undefined
    const writing = this.written()
    writing.catch(() => {})
    return this.#isSynced ? writing : undefined
  }

  /** Nothing of it is needed any more. */
  clear(): void {
    this.#waiting.clear()
    this.#inMemory = this.#kept = 0
    if (this.#writer || this.#writing) void this.add({ clear: true })
  }

  async #write(): Promise<void> {
    const { logs, name, log } = this.#place
    while (this.#waiting.size > 0) {
      if (!this.#isSynced && [...this.#waiting].some(hasLongAnswer)) await this.#pause(LONG_PAUSE_MS)
      const lines = [...this.#waiting]
      this.#waiting.clear()
      try {
        this.#writer ??= logs.create(name, this.#isSynced)
        const writer = await this.#writer
        const made: string[] = []
        for (const line of lines) {
          const text = 'key' in line ? this.#callLine(line) : exactJson(line)
          made.push(typeof text === 'string' ? text : await text)
        }
        const bytes = await writer.append(made)
        // After a day without a call, another bridge has removed it.
        if (bytes === undefined && !this.#isSynced) {
          await this.#restart(writer, lines)
          // No flush hurries it: where each log is removed at once, this has no end.
          await sleep(PAUSE_MS)
          continue
        }
        if (bytes! > RESTARTED_BYTES && 'clear' in lines.at(-1)!) await this.#restart(writer, [])
      } catch (error) {
        if (this.#isSynced) throw error
        if (!this.#isWarned) log.warning('What cells have written cannot be noted', { error })
        this.#isWarned = true
      }
      if (!this.#isSynced) await this.#pause(PAUSE_MS)
    }
  }

  /** Ends at once where a flush waits, or comes. */
  #pause(pauseMs: number): Promise<void> | undefined {
    if (this.#flushes > 0) return undefined
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs)
      this.#endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #restart(writer: LogWriter, lines: readonly object[]): Promise<void> {
    this.#writer = undefined
    await writer.close()
    await this.#place.logs.remove(this.name)
    const left = [...lines, ...this.#waiting]
    this.#waiting.clear()
    for (const line of left.length > 0 ? [this.#head, ...left] : []) this.#waiting.add(line)
  }

  #callLine(entry: Entry): string | Promise<string> {
    const { key, n, name, state, filled, at, isAgain, answer } = entry
    const line: CallLine = { k: key, n, t: name, s: state, i: filled, at, g: isAgain || undefined }
    const text = JSON.stringify(line)
    if (!answer) return text
    if (this.#kept + leastLengthOf(answer) > MAX_KEPT_CHARS) {
      entry.answer = undefined
      return text
    }
    const json = exactJson(answer)
    const isShort = json.length <= MAX_IN_MEMORY && this.#inMemory + json.length <= MAX_ALL_IN_MEMORY
    if (isShort) this.#inMemory += json.length
    else entry.answer = undefined
    if (this.#kept + json.length > MAX_KEPT_CHARS) return text
    this.#kept += json.length
    const { vault } = this.#place
    const withAnswer = `${text.slice(0, -1)},"r":${json}}`
    if (!vault) return withAnswer
    // Without a key for the database, no answer is kept there.
    return vault.seal(json, sealPlace(this.name, line)).then(
      (sealed) => (sealed === undefined ? withAnswer : JSON.stringify({ ...line, e: sealed })),
      () => text,
    )
  }

  /** The answer of a call that is in the log only; undefined if it was not kept. */
  async answerOf({ key, n }: Entry): Promise<ToolResult | undefined> {
    await this.flush()
    const { entries } = await readLog(this.#place, (line) => line.k === key && line.n === n)
    return entries[0]?.answer
  }

  /** Resolves when everything is written. @throws what the store throws, where calls wait for it */
  written(): Promise<void> {
    return (this.#writing ??= this.#write().finally(() => (this.#writing = undefined)))
  }

  /** Never rejects. */
  async flush(): Promise<void> {
    // A first cell waits for the logs of many sessions, one after the other.
    this.#flushes += 1
    this.#endPause()
    await this.#writing?.catch(() => {})
    this.#flushes -= 1
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
    const line = tryParseExact(text)
    if (!isRecord(line)) continue
    if (isCall(line)) {
      found.handedOverAt = undefined
      if (!isWanted(line)) continue
      const { k: key, n, t = '', s: state, i: filled, at = 0, g, r, e } = line
      const opened = e === undefined ? undefined : await vault?.open(e, sealPlace(name, line))
      const own = opened === undefined ? r : tryParseExact(opened)
      const before = entries.get(`${key} ${n}`)
      // A long one is in the first of two lines that were written at once.
      const answer = isResult(own) ? own : state === 'answered' ? before?.answer : undefined
      const kept = { answer, filled: filled ?? before?.filled, isAgain: g === true, isTold: false }
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
  for (const entry of found.entries) entry.isTold = found.handedOverAt !== undefined
  return found
}

function hasLongAnswer(line: object | Entry): boolean {
  return 'key' in line && line.answer !== undefined && leastLengthOf(line.answer) > MAX_IN_MEMORY
}

/** Characters that its JSON has at least, without making it: the JSON of many MB keeps the process busy. */
function leastLengthOf({ content }: ToolResult): number {
  const texts = itemsOf(content).flatMap((block) => (isRecord(block) ? [block['text'], block['data']] : []))
  return texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0)
}

/** An answer opens as that of its call only. */
const sealPlace = (name: string, { k, n }: CallLine): string => `${name} ${k} ${n}`

const isResult = (answer: unknown): answer is ToolResult =>
  isRecord(answer) && Array.isArray(answer['content'] ?? []) && itemsOf(answer['content']).every(isRecord)

const STATES = new Set<unknown>(['free', 'sent', 'answered'])

function isCall(line: Record<string, unknown>): line is Record<string, unknown> & CallLine {
  return typeof line['k'] === 'string' && Number.isInteger(line['n']) && STATES.has(line['s'])
}

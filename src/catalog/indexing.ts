// Reads servers whose tools are not known yet: a few at a time, each for a limited time, one that failed not again too soon.
// A caller can stop waiting; the listing itself goes on for the next caller.
import { BridgeError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Abortable } from '../process/cancellation.ts'
import { untilAborted, withTimeout } from '../process/wait.ts'
import { type Caller, callerOf, setCaller } from '../upstream/lifecycle/callers.ts'
import type { ServerError } from './disk-cache.ts'
import type { ServerRecord } from './server-record.ts'
import { oneLine } from '../text/one-line.ts'

const AT_ONCE = 4
/** When a person waits for all of them. More would have servers run into their time limit for want of a processor. */
const ALL_AT_ONCE = 8
/** Many servers are downloaded by their package manager when they are started for the first time. */
const TIME_LIMIT_MS = 60_000
const REASON_LIMIT = 400
const LATE = `No answer within ${TIME_LIMIT_MS / 1000} s`

/** Hears which server is being read, and which has been. */
export interface IndexingWatch {
  onStart?: (record: ServerRecord) => void
  onEnd?: (record: ServerRecord) => void
}

export class Indexing {
  readonly #read: (record: ServerRecord, signal: AbortSignal) => Promise<void>
  readonly #log: Log | undefined
  readonly #running = new Map<ServerRecord, Promise<void>>()
  readonly #closed = new AbortController()
  readonly #waiting: (() => void)[] = []
  #active = 0

  constructor(read: (record: ServerRecord, signal: AbortSignal) => Promise<void>, log?: Log) {
    this.#read = read
    this.#log = log
  }

  /**
   * Read all of `records`, whatever happened before, a few at a time. Never fails because of a server.
   * @throws BridgeError CANCELLED
   */
  async everyOne(records: readonly ServerRecord[], watch: IndexingWatch): Promise<void> {
    const queue = [...records]
    const work = async (): Promise<void> => {
      for (let record = queue.shift(); record !== undefined; record = queue.shift()) {
        watch.onStart?.(record)
        await this.now(record).catch((error: unknown) => {
          if (isCancellation(error)) throw error
        })
        watch.onEnd?.(record)
      }
    }
    await Promise.all(Array.from({ length: ALL_AT_ONCE }, work))
  }

  /** Read one server now, whatever happened before. @throws what reading it throws, or CANCELLED */
  now(record: ServerRecord, signal?: Abortable): Promise<void> {
    return until(this.#start(record, false, signal), signal)
  }

  /**
   * Read all of `records` that nothing is known of, except those that failed lately, and wait for them for up to `waitMs`.
   * Never fails because of a server: the reasons are with the records.
   * @throws BridgeError CANCELLED
   */
  async inBackground(records: readonly ServerRecord[], waitMs: number, signal?: AbortSignal): Promise<void> {
    const unseen = records.filter((record) => record.tools === undefined && record.mayRetry)
    // Old lists are read again in the background.
    for (const record of records) if (record.isOld && record.mayRetry) this.#start(record, true).catch(ignore)
    if (unseen.length === 0) return
    const all = Promise.allSettled(unseen.map((record) => this.#start(record, true)))
    await until(withTimeout(all, waitMs, ignore), signal)
  }

  close(): void {
    this.#closed.abort()
  }

  /** @param asked by the first caller: questions that the server asks when it starts go to that caller */
  #start(record: ServerRecord, isQueued: boolean, asked?: Abortable): Promise<void> {
    const running = this.#running.get(record)
    if (running !== undefined) return running
    const reading = this.#readOne(record, isQueued, callerOf(asked)).finally(() => this.#running.delete(record))
    this.#running.set(record, reading)
    return reading
  }

  async #readOne(record: ServerRecord, isQueued: boolean, caller: Caller | undefined): Promise<void> {
    if (isQueued && this.#active >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#active += 1
    const limit = AbortSignal.timeout(TIME_LIMIT_MS)
    try {
      const signal = AbortSignal.any([this.#closed.signal, limit])
      setCaller(signal, caller)
      signal.throwIfAborted()
      await until(this.#read(record, signal), signal)
    } catch (error) {
      // A cancellation says nothing about the server.
      const isServers = !this.#closed.signal.aborted && (limit.aborted || !isCancellation(error))
      if (isServers) {
        const failure = limit.aborted ? { reason: LATE } : serverError(error)
        record.fail(failure)
        const { reason } = failure
        this.#log?.info('Listing the tools of a server failed', { server: record.name, reason })
      }
      throw error
    } finally {
      this.#active -= 1
      this.#waiting.shift()?.()
    }
  }
}

/** An error of a server as it is kept for its user. Only our own errors are known to hold no secrets. */
export function serverError(error: unknown): Omit<ServerError, 'at'> {
  if (!BridgeError.isInstance(error)) return { reason: 'Listing its tools failed' }
  const { message, userHint: hint, log } = error
  return { reason: oneLine(message, REASON_LIMIT), ...(hint && { hint }), ...(log && { log }) }
}

function isCancellation(error: unknown): boolean {
  return BridgeError.isInstance(error) && (error.code === 'CANCELLED' || error.code === 'SHUTTING_DOWN')
}

/** `work`, or CANCELLED as soon as `signal` says so. The work is not stopped. */
function until<T>(work: Promise<T>, signal: Abortable | undefined): Promise<T> {
  return untilAborted(work, signal, () => {
    const reason: unknown = signal?.reason
    if (reason instanceof DOMException && reason.name === 'TimeoutError') return reason
    return new BridgeError('CANCELLED', 'Listing the tools was cancelled', { cause: reason })
  })
}

function ignore(): void {}

// Lists servers whose tools are unknown: a few at a time, each with a time limit, and a failed one not again too soon.
// A caller can stop waiting; the listing itself continues for the next caller.
import { BridgeError } from '../../errors.ts'
import type { Log } from '../../util/log.ts'
import type { Abortable } from '../../util/async/cancellation.ts'
import { mapFew } from '../../util/async/map-few.ts'
import { untilAborted, withTimeout } from '../../util/async/wait.ts'
import { type Caller, callerOf, setCaller } from '../../upstream/lifecycle/callers.ts'
import type { ServerError } from './toolbook.ts'
import type { ServerRecord } from './server-record.ts'
import { oneLine } from '../../util/text/server-words.ts'

const AT_ONCE = 4
/** Does not include the time in which a package manager installs the server. */
const TIME_LIMIT_MS = 60_000
const LOOK_MS = 500
/** A search waits this many times as long for the first server that answers, as long as nothing is known. */
const MAX_WAITS = 4
const REASON_LIMIT = 400
const LATE = `No answer within ${TIME_LIMIT_MS / 1000} s`

export interface IndexingWatch {
  onStart?: (record: ServerRecord) => void
  onEnd?: (record: ServerRecord) => void
}

export interface IndexingOptions {
  /** @param again asks the server, whatever it has said before */
  read: (record: ServerRecord, signal: AbortSignal, again: boolean) => Promise<void>
  isInstalling: (server: string) => boolean
  /** Whether the server has said that its tools are others than those that were read. */
  isOutdated: (server: string) => boolean
}

export class Indexing {
  readonly #options: IndexingOptions
  readonly #log: Log | undefined
  readonly #running = new Map<ServerRecord, { reading: Promise<void>; again: boolean }>()
  readonly #closed = new AbortController()
  readonly #waiting: (() => void)[] = []
  #active = 0

  constructor(options: IndexingOptions, log?: Log) {
    this.#options = options
    this.#log = log
  }

  /**
   * Lists all of `records`, regardless of earlier attempts, a few at a time. A server's failure does not reject.
   * @throws BridgeError CANCELLED
   */
  async everyOne(records: readonly ServerRecord[], watch: IndexingWatch): Promise<void> {
    await mapFew(records, async (record) => {
      watch.onStart?.(record)
      await this.now(record).catch((error: unknown) => {
        if (isCancellation(error)) throw error
      })
      watch.onEnd?.(record)
    })
  }

  /**
   * Lists one server now, regardless of earlier attempts.
   * @param again asks the server, whatever it has said before
   * @throws what listing it throws, or CANCELLED
   */
  now(record: ServerRecord, signal?: Abortable, again = false): Promise<void> {
    return until(this.#start(record, false, signal, again), signal)
  }

  /**
   * Lists all of `records` that were never listed or have changed, except recent failures. Waits for them for `waitMs`,
   * and longer while no tool of any is known. A server's failure does not reject: the record holds the reason.
   * @throws BridgeError CANCELLED
   */
  async inBackground(records: readonly ServerRecord[], waitMs: number, signal?: AbortSignal): Promise<void> {
    const unseen = records.filter(
      ({ name, tools, mayRetry }) => (tools === undefined || this.#options.isOutdated(name)) && mayRetry,
    )
    // Outdated lists are renewed in the background.
    for (const record of records) if (record.isOld && record.mayRetry) this.#start(record, true).catch(ignore)
    const soon = unseen.flatMap((record) => {
      const reading = this.#start(record, true).catch(ignore)
      return this.#options.isInstalling(record.name) ? [] : [reading]
    })
    if (waitMs <= 0) return
    const isNothingKnown = () => records.every(({ tools = [] }) => tools.length === 0)
    await until(untilAnswered(soon, waitMs, isNothingKnown), signal)
  }

  close(): void {
    this.#closed.abort()
  }

  /** @param asked the signal of the first caller, which receives questions that the server asks while it starts */
  #start(record: ServerRecord, isQueued: boolean, asked?: Abortable, again = false): Promise<void> {
    const running = this.#running.get(record)
    // One that began before may have been answered already.
    if (running?.again === false && again)
      return running.reading.catch(ignore).then(() => this.#start(record, isQueued, asked, again))
    if (running) return running.reading
    const reading = this.#readOne(record, isQueued, callerOf(asked), again).finally(() => this.#running.delete(record))
    this.#running.set(record, { reading, again })
    return reading
  }

  async #readOne(record: ServerRecord, isQueued: boolean, caller: Caller | undefined, again: boolean): Promise<void> {
    if (isQueued && this.#active >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#active += 1
    let hasPlace = true
    const leave = (): void => {
      if (!hasPlace) return
      hasPlace = false
      this.#active -= 1
      this.#waiting.shift()?.()
    }
    const limiter = new AbortController()
    const limit = limiter.signal
    let leftMs = TIME_LIMIT_MS
    const timer = setInterval(() => {
      // An installation takes minutes, and the servers of one cache wait for each other.
      if (this.#options.isInstalling(record.name)) return leave()
      leftMs -= LOOK_MS
      if (leftMs <= 0) limiter.abort(new DOMException(LATE, 'TimeoutError'))
    }, LOOK_MS).unref()
    try {
      const signal = AbortSignal.any([this.#closed.signal, limit])
      setCaller(signal, caller)
      signal.throwIfAborted()
      await until(this.#options.read(record, signal, again), signal)
    } catch (error) {
      // A cancellation is not the server's failure.
      const isServers = !this.#closed.signal.aborted && (limit.aborted || !isCancellation(error))
      if (isServers) {
        const failure = limit.aborted ? { reason: LATE } : serverError(error)
        record.fail(failure)
        const { reason } = failure
        this.#log?.info('Listing the tools of a server failed', { server: record.name, reason })
      }
      throw error
    } finally {
      clearInterval(timer)
      leave()
    }
  }
}

/** Resolves when all are over, or after `waitMs`; while nothing is known, within limits, when something is. */
async function untilAnswered(
  reading: readonly Promise<void>[],
  waitMs: number,
  isNothingKnown: () => boolean,
): Promise<void> {
  const endsAt = performance.now() + MAX_WAITS * waitMs
  const open = new Set(reading)
  for (const one of reading) void one.then(() => open.delete(one))
  await withTimeout(Promise.all(reading), waitMs, () => {})
  while (open.size > 0 && isNothingKnown() && performance.now() < endsAt)
    await withTimeout(Promise.race(open), endsAt - performance.now(), () => {})
}

/** A server's error as it is kept for its user. Only the bridge's own errors are known to contain no secrets. */
export function serverError(error: unknown): Omit<ServerError, 'at'> {
  if (!BridgeError.isInstance(error)) return { reason: 'Listing its tools failed' }
  const { message, userHint: hint, log } = error
  return { reason: oneLine(message, REASON_LIMIT), ...(hint && { hint }), ...(log && { log }) }
}

function isCancellation(error: unknown): boolean {
  return BridgeError.isInstance(error) && (error.code === 'CANCELLED' || error.code === 'SHUTTING_DOWN')
}

/** Awaits `work`, or throws CANCELLED as soon as `signal` is aborted. The work continues. */
function until<T>(work: Promise<T>, signal: Abortable | undefined): Promise<T> {
  return untilAborted(work, signal, () => {
    const reason: unknown = signal?.reason
    if (reason instanceof DOMException && reason.name === 'TimeoutError') return reason
    return new BridgeError('CANCELLED', 'Listing the tools was cancelled', { cause: reason })
  })
}

function ignore(): void {}

// Sends and receives the frames of one kernel over its sandbox's pipe, and passes each to the code that waits for it.
// Trusts nothing beyond what the frame check accepts, and does not know what a cell is for.
import { BridgeError } from '../../errors.ts'
import type { Log } from '../../util/log.ts'
import { encodeFrame, FrameDecoder } from '../protocol/codec.ts'
import type {
  BridgeFrame,
  DoneFrame,
  KernelFrame,
  MimeBundle,
  ProgressFrame,
  ReadyFrame,
  ReplyFrame,
} from '../protocol/frames.ts'
import type { LeftBehind, Sandbox, SandboxExit } from '../../isolation/provider.ts'
import { letOthers, withTimeout } from '../../util/async/wait.ts'
import { writeBatched } from '../../util/bytes/write-batched.ts'
import { exitSignal } from '../../util/process/process-group.ts'
import { type CallServer, OpenCalls, replyError } from './open-calls.ts'
import { MAX_KEPT_BYTES, MAX_UNREAD_BYTES, ReplyRoom } from './reply-room.ts'

export interface CellObserver extends CallServer {
  onOutput(stream: 'stdout' | 'stderr', text: string): void
  /** @param id replaces what the cell has displayed with the same id */
  onDisplay(data: MimeBundle, id?: string): void
  /** The cell takes back what it has shown; with `waits`, when it shows more. */
  onClear?(waits: boolean): void
  onProgress?(progress: ProgressFrame): void
}

interface RunningCell {
  number: number
  observer: CellObserver
  finish: (done: DoneFrame) => void
  fail: (error: BridgeError) => void
}

/** How much of the end of a sandbox's output is reported when it fails to start. */
const MAX_DETAIL_CHARS = 1_000
/** A kernel that sends this many invalid lines is killed. */
const MAX_MALFORMED = 100
/** The longest reason that is reported for an invalid line. */
const MAX_REASON_CHARS = 200

/** The bridge wrote the detail of this exit, so it may be shown: it contains nothing that a cell wrote. */
const LEFT = 'The bridge ended while the cell ran'
const GOES_ON = 'The cell goes on, and the next call gets its result'

/** Passes the frames of one kernel to the code that waits for them. Drops late and unexpected frames. */
export class Channel {
  readonly sandbox: Sandbox
  /** Number of lines dropped because they were not valid frames. */
  malformedCount = 0
  /** Why the latest malformed line was dropped. */
  malformedReason = ''
  readonly #log: Log | undefined
  readonly #decoder: FrameDecoder
  readonly #calls: OpenCalls
  readonly #room: ReplyRoom
  #readsNothing = false
  #cell: RunningCell | undefined
  #onReady: ((frame: ReadyFrame) => void) | undefined
  #exit: SandboxExit | undefined

  constructor(sandbox: Sandbox, log?: Log) {
    this.sandbox = sandbox
    this.#log = log
    this.#room = new ReplyRoom(sandbox.stdin)
    this.#calls = new OpenCalls(this.#room, (frame, more) => this.#sendReply(frame, more))
    this.#decoder = new FrameDecoder({
      onFrame: (frame, bytes) => this.#receive(frame, bytes),
      onMalformed: (reason) => this.#countMalformed(reason),
    })
    sandbox.stdout.on('data', (chunk: Buffer) => {
      this.#decoder.push(chunk)
      letOthers(sandbox.stdout, chunk)
    })
    sandbox.stdout.on('error', () => {})
    sandbox.stdin.on('error', () => {})
    void sandbox.exited.then((exit) => {
      this.#exit = exit
      this.#calls.cancelAll()
      this.#cell?.fail(this.#died(exit))
    })
  }

  ready(timeoutMs: number): Promise<ReadyFrame> {
    const ready = new Promise<ReadyFrame>((resolve, reject) => {
      this.#onReady = resolve
      void this.sandbox.exited.then((exit) => {
        // No cell has run yet, so this text comes from the engine or from Python's start.
        const detail = exit.detail.trim().slice(-MAX_DETAIL_CHARS)
        if (exit.reason === 'engine-gone') {
          reject(new BridgeError('SANDBOX_ENGINE_MISSING', `No sandbox can start: ${detail}`))
          return
        }
        if (exit.reason === 'no-room') {
          reject(new BridgeError('SANDBOX_BUSY', `No sandbox can start now: ${detail}`))
          return
        }
        // What the provider says is the cause; how the process ended adds nothing.
        const ended =
          exit.reason === 'failed-to-start' && detail !== ''
            ? 'The sandbox did not start'
            : `The sandbox ended before it was ready (${describeExit(exit)})`
        reject(new BridgeError('SANDBOX_START_FAILED', detail ? `${ended}: ${detail}` : ended))
      })
    })
    return withTimeout(ready, timeoutMs, () => {
      throw new BridgeError('SANDBOX_START_TIMEOUT', `The sandbox did not start within ${timeoutMs / 1000} s`)
    })
  }

  run(frame: BridgeFrame & { type: 'run' }, observer: CellObserver): Promise<DoneFrame> {
    return this.#begin(frame.cell, observer, () => writeBatched(this.sandbox.stdin, encodeFrame(frame)))
  }

  /** Resumes a cell of an earlier bridge. Its unanswered calls fail: they may or may not have taken effect. */
  adopt({ number, openCalls }: LeftBehind, observer: CellObserver): Promise<DoneFrame> {
    return this.#begin(number, observer, () => {
      for (const id of openCalls) this.#sendReply({ type: 'reply', id, error: replyError(callInterrupted()) })
      this.sandbox.durable?.resume()
    })
  }

  #begin(number: number, observer: CellObserver, begin: () => void): Promise<DoneFrame> {
    return new Promise((resolve, reject) => {
      if (this.#exit) {
        reject(this.#died(this.#exit))
        return
      }
      this.#cell = { number, observer, finish: resolve, fail: reject }
      try {
        begin()
      } catch (error) {
        this.#cell = undefined
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
  }

  #receive(frame: KernelFrame, bytes: number): void {
    if (frame.type === 'ready') return this.#onReady?.(frame)
    if (frame.type === 'cancel') return this.#calls.cancel(frame.id)
    const cell = this.#cell
    if (cell?.number !== frame.cell) return
    const { observer } = cell
    if (frame.type === 'output') observer.onOutput(frame.stream, frame.text)
    else if (frame.type === 'display') observer.onDisplay(frame.data, frame.id)
    else if (frame.type === 'clear') observer.onClear?.(frame.wait)
    else if (frame.type === 'progress') observer.onProgress?.(frame)
    else if (frame.type === 'call') void this.#calls.answer(frame, bytes, observer)
    else {
      this.#cell = undefined
      // Cancel calls that the cell did not wait for.
      this.#calls.cancelAll()
      cell.finish(frame)
    }
  }

  #sendReply(frame: ReplyFrame, more?: (error: unknown) => string | undefined): void {
    try {
      const line = encodeFrame(frame)
      if (this.#room.unreadBytes + line.length > MAX_UNREAD_BYTES) throw unread(this.#room.unreadBytes)
      this.#write(line)
    } catch (error) {
      if (this.#room.unreadBytes > MAX_KEPT_BYTES) this.#endUnread()
      else this.#write(encodeFrame({ type: 'reply', id: frame.id, error: replyError(error, more?.(error)) }))
    }
  }

  #endUnread(): void {
    if (this.#readsNothing) return
    this.#readsNothing = true
    this.#decoder.stop()
    void this.sandbox.dispose()
  }

  #write(line: string | Buffer): void {
    if (!this.#exit) writeBatched(this.sandbox.stdin, line)
  }

  #countMalformed(reason: string): void {
    this.malformedCount += 1
    this.malformedReason = reason.slice(0, MAX_REASON_CHARS)
    // Only the first is a warning; at most a hundred are logged.
    this.#log?.[this.malformedCount === 1 ? 'warning' : 'debug']('A sandbox sent a malformed frame', {
      reason: this.malformedReason,
      count: this.malformedCount,
    })
    if (this.malformedCount < MAX_MALFORMED) return
    // Chunks that already arrived may hold tens of thousands of further invalid lines.
    this.#decoder.stop()
    void this.sandbox.dispose()
  }

  describeEnd(exit: SandboxExit): string {
    if (exit.reason === 'disposed' && this.#readsNothing)
      return 'the bridge stopped it: the cell kept sending requests without reading the answers'
    return exit.reason === 'disposed' && this.malformedCount >= MAX_MALFORMED
      ? `the bridge stopped it after ${MAX_MALFORMED} malformed frames, the last one ${this.malformedReason}`
      : describeExit(exit)
  }

  /** Omits the exit's `detail`: a cell can write it, and errors reach the model and other sandboxes. */
  #died(exit: SandboxExit): BridgeError {
    const { reason, code, signal } = exit
    if (reason === 'left')
      return new BridgeError('KERNEL_DIED', `${exit.detail || LEFT}. ${GOES_ON}`, { data: { reason } })
    return new BridgeError('KERNEL_DIED', `The sandbox ended while the cell ran: ${this.describeEnd(exit)}`, {
      data: { reason, code, signal },
    })
  }
}

export function describeExit(exit: SandboxExit): string {
  if (exit.reason === 'out-of-memory') return 'it ran out of memory, which MCP_BRIDGE_MEMORY limits'
  if (exit.reason === 'stack-overflow') return 'its stack overflowed, through deep nesting or recursion'
  if (exit.reason === 'disposed') return 'the bridge stopped it'
  if (exit.reason === 'left') return 'the bridge ended, and left it to the next one'
  if (exit.reason === 'engine-gone') return 'the container engine that ran it stopped, or the connection to it broke'
  if (exit.reason === 'evicted') return 'its cluster evicted it from its node'
  if (exit.reason === 'expired') return 'it reached the longest life that a sandbox of the cluster may have'
  const signal = exit.signal ?? (exit.reason === 'failed-to-start' ? exitSignal(exit.code) : null)
  // The system ends a process by the same signal as a person or a cell does.
  const memory = 'because memory ran out'
  if (exit.reason === 'exited' && signal)
    return `its Python was killed by ${signal} from inside the sandbox${signal === 'SIGKILL' ? `, or ${memory}` : ''}`
  // The embedded sandbox kills itself after Python exits; a shell around it reports that as a code.
  if (exit.reason === 'exited' && (exit.code === 137 || exit.code === null)) return 'Python exited'
  if (signal) return `it was killed by ${signal}${signal === 'SIGKILL' ? `, perhaps ${memory}` : ''}`
  if (exit.reason === 'killed') return `a process outside of the sandbox killed it, perhaps ${memory}`
  if (exit.code === null) return 'it did not start'
  return `its process exited with code ${exit.code}`
}

function callInterrupted(): BridgeError {
  return new BridgeError(
    'CALL_INTERRUPTED',
    'The bridge ended during this call, which may or may not have taken effect. It was not made again',
  )
}

function unread(bytes: number): BridgeError {
  const text = `The cell has not read ${bytes >> 20} MiB of earlier answers, so the bridge dropped this one`
  return new BridgeError('PROXY_ANSWERS_UNREAD', text)
}

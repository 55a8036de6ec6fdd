// The host half of a kernel: speaks frames over a sandbox's pipe, one cell at a time. It knows nothing of sessions, timeouts or tools,
// and believes nothing the other half says beyond what the schema lets through.
import { BridgeError } from '../errors.ts'
import { encodeFrame, FrameDecoder } from '../protocol/codec.ts'
import {
  type BridgeFrame,
  type DoneFrame,
  type KernelFrame,
  type MimeBundle,
  type ProgressFrame,
  PROTOCOL_VERSION,
  type ReadyFrame,
  type ReplyFrame,
  type VisibleServer,
} from '../protocol/frames.ts'
import type { Sandbox, SandboxExit } from '../sandbox/provider.ts'
import { writeBatched } from '../write-batched.ts'
import { type CallHandler, OpenCalls, replyError } from './open-calls.ts'

/** What a running cell does, as it happens. */
export interface CellObserver {
  onOutput(stream: 'stdout' | 'stderr', text: string): void
  onDisplay(data: MimeBundle): void
  onProgress?(progress: ProgressFrame): void
  onCall: CallHandler
}

export interface RunOptions {
  /** Its number, above that of the cell before. Missing: the next one. */
  cell?: number
  code: string
  servers: VisibleServer[]
  observer: CellObserver
  /** Have values come as JSON, too, where they have that form. */
  json?: true
  /** Have the kernel hand over its variables when the cell is over. */
  checkpoint?: true
  /** Variables that an earlier kernel handed over, to be there before the cell runs. */
  restore?: string
}

const DEAF: CellObserver = { onOutput() {}, onDisplay() {}, onCall: () => Promise.resolve(null) }

interface RunningCell {
  number: number
  observer: CellObserver
  finish: (done: DoneFrame) => void
  fail: (error: BridgeError) => void
}

const READY_TIMEOUT_MS = 60_000
/** Of what a sandbox that did not come up had to say: the end. */
const MAX_DETAIL_CHARS = 1_000
/** A kernel that sends this many lines that are no frames is ended: nothing good comes of it any more. */
const MAX_MALFORMED = 100

export class Kernel {
  readonly sandbox: Sandbox
  /** Of the Python inside, for example 3.14.2. */
  readonly python: string
  /** Resolves when the kernel has ended, for whatever reason. */
  readonly closed: Promise<SandboxExit>

  readonly #connection: Connection
  #cells = 0
  #sentServers: string | undefined

  private constructor(connection: Connection, ready: ReadyFrame) {
    this.#connection = connection
    this.sandbox = connection.sandbox
    this.closed = connection.sandbox.exited
    this.python = ready.python
  }

  /**
   * Wait for the kernel in a started sandbox. Disposes of the sandbox when that fails.
   * @throws BridgeError SANDBOX_START_FAILED, SANDBOX_START_TIMEOUT or PROTOCOL_VERSION_MISMATCH
   */
  static async attach(sandbox: Sandbox, readyTimeoutMs = READY_TIMEOUT_MS): Promise<Kernel> {
    const connection = new Connection(sandbox)
    try {
      const ready = await connection.ready(readyTimeoutMs)
      if (ready.protocol !== PROTOCOL_VERSION) {
        throw new BridgeError(
          'PROTOCOL_VERSION_MISMATCH',
          `The kernel speaks frame protocol ${ready.protocol}, the bridge ${PROTOCOL_VERSION}`,
        )
      }
      return new Kernel(connection, ready)
    } catch (error) {
      await sandbox.dispose()
      throw error
    }
  }

  /** Lines dropped because they were no frames, since the kernel started. */
  get malformedCount(): number {
    return this.#connection.malformedCount
  }

  /** Cells run so far. */
  get cellCount(): number {
    return this.#cells
  }

  /**
   * Run one cell to its end. A cell that raises is an ordinary outcome.
   * @throws BridgeError KERNEL_DIED when the kernel ends first
   */
  run({ cell, code, servers, observer, ...carriedOver }: RunOptions): Promise<DoneFrame> {
    this.#cells += 1
    // The list can be long and rarely changes.
    const key = JSON.stringify(servers)
    const changed = key !== this.#sentServers
    this.#sentServers = key
    return this.#connection.run(
      { type: 'run', cell: cell ?? this.#cells, code, ...(changed && { servers }), ...carriedOver },
      observer,
    )
  }

  /** Run cells that come to nothing, so that the first real one does not pay for what either half does at a first time. */
  async warmUp(): Promise<void> {
    for (const code of ['0', "await __import__('asyncio').sleep(0)", '0/0']) {
      await this.#connection.run({ type: 'run', cell: 0, code }, DEAF)
    }
  }

  /** Raise KeyboardInterrupt in the running cell. The cell may catch it. */
  interrupt(): void {
    this.sandbox.interrupt()
  }

  dispose(): Promise<void> {
    return this.sandbox.dispose()
  }
}

/** The frames of one kernel, sorted to whoever waits for them. Late and unexpected ones are dropped. */
class Connection {
  readonly sandbox: Sandbox
  malformedCount = 0
  readonly #calls: OpenCalls
  #cell: RunningCell | undefined
  #onReady: ((frame: ReadyFrame) => void) | undefined
  #exit: SandboxExit | undefined

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox
    this.#calls = new OpenCalls((frame) => this.#sendReply(frame))
    const decoder = new FrameDecoder({
      onFrame: (frame) => this.#receive(frame),
      onMalformed: (reason) => this.#countMalformed(reason),
    })
    sandbox.stdout.on('data', (chunk: Buffer) => decoder.push(chunk))
    sandbox.stdout.on('error', () => {})
    sandbox.stdin.on('error', () => {})
    void sandbox.exited.then((exit) => {
      this.#exit = exit
      this.#calls.cancelAll()
      this.#cell?.fail(kernelDied(exit))
    })
  }

  ready(timeoutMs: number): Promise<ReadyFrame> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new BridgeError('SANDBOX_START_TIMEOUT', `The sandbox did not start within ${timeoutMs / 1000} s`))
      }, timeoutMs)
      this.#onReady = (frame) => {
        clearTimeout(timer)
        resolve(frame)
      }
      void this.sandbox.exited.then((exit) => {
        clearTimeout(timer)
        // No cell has run: these are the engine's words, or those of Python's start.
        const detail = exit.detail.trim().slice(-MAX_DETAIL_CHARS)
        const ended = `The sandbox ended before it was ready (${describeExit(exit)})`
        reject(new BridgeError('SANDBOX_START_FAILED', detail ? `${ended}: ${detail}` : ended))
      })
    })
  }

  run(frame: BridgeFrame & { type: 'run' }, observer: CellObserver): Promise<DoneFrame> {
    return new Promise((resolve, reject) => {
      if (this.#exit) {
        reject(kernelDied(this.#exit))
        return
      }
      this.#cell = { number: frame.cell, observer, finish: resolve, fail: reject }
      try {
        this.#send(frame)
      } catch (error) {
        this.#cell = undefined
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
  }

  #receive(frame: KernelFrame): void {
    if (frame.type === 'ready') {
      this.#onReady?.(frame)
      this.#onReady = undefined
    } else if (frame.type === 'cancel') {
      this.#calls.cancel(frame.id)
    } else if (this.#cell?.number === frame.cell) {
      this.#receiveFromCell(this.#cell, frame)
    }
  }

  #receiveFromCell(cell: RunningCell, frame: Exclude<KernelFrame, { type: 'ready' | 'cancel' }>): void {
    switch (frame.type) {
      case 'output':
        cell.observer.onOutput(frame.stream, frame.text)
        break
      case 'display':
        cell.observer.onDisplay(frame.data)
        break
      case 'progress':
        cell.observer.onProgress?.(frame)
        break
      case 'call':
        void this.#calls.answer(frame, cell.observer.onCall)
        break
      case 'done':
        this.#cell = undefined
        // Whatever the cell did not wait for is of no use to anyone.
        this.#calls.cancelAll()
        cell.finish(frame)
        break
    }
  }

  #sendReply(frame: ReplyFrame): void {
    try {
      this.#send(frame)
    } catch (error) {
      this.#send({ type: 'reply', id: frame.id, error: replyError(error) })
    }
  }

  #send(frame: BridgeFrame): void {
    if (!this.#exit) writeBatched(this.sandbox.stdin, encodeFrame(frame))
  }

  #countMalformed(_reason: string): void {
    this.malformedCount += 1
    if (this.malformedCount === MAX_MALFORMED) void this.sandbox.dispose()
  }
}

/** Without the exit's `detail`: what processes of a cell wrote to stderr is anything at all, and errors reach the model and other sandboxes. */
function kernelDied(exit: SandboxExit): BridgeError {
  const { reason, code, signal } = exit
  return new BridgeError('KERNEL_DIED', `The sandbox ended while the cell ran: ${describeExit(exit)}`, {
    data: { reason, code, signal },
  })
}

/** How a sandbox ended, in words for the model. */
export function describeExit(exit: SandboxExit): string {
  if (exit.reason === 'out-of-memory') return 'it ran out of memory'
  if (exit.reason === 'stack-overflow') return 'something in it was nested or recursed too deeply for its stack'
  if (exit.reason === 'disposed') return 'it was ended by the bridge'
  if (exit.signal) return `it was killed by ${exit.signal}`
  if (exit.reason === 'killed') return 'it was killed from outside'
  return `its process exited with code ${exit.code}`
}

// The host side of a kernel: runs cells in a sandbox, one at a time. Knows nothing of sessions, timeouts or tools,
// and trusts nothing from the sandbox beyond what the frame check accepts.
import { BridgeError } from '../../errors.ts'
import type { Log } from '../../util/log.ts'
import {
  type DoneFrame,
  PROTOCOL_VERSION,
  type ReadyFrame,
  type RunFrame,
  type VisibleServer,
} from '../protocol/frames.ts'
import type { LeftBehind, Sandbox, SandboxExit } from '../../isolation/provider.ts'
import { type CellObserver, Channel } from './channel.ts'

export interface RunOptions extends Omit<RunFrame, 'type' | 'cell' | 'servers'> {
  /** The cell's number, greater than the previous one. Missing: the next number. 0: not counted by the session. */
  cell?: number
  servers: VisibleServer[]
  observer: CellObserver
}

const READY_TIMEOUT_MS = 60_000

export class Kernel {
  readonly sandbox: Sandbox
  /** Version of the Python in the sandbox, for example 3.14.2. */
  readonly python: string
  /** Resolves when the kernel has ended, for whatever reason. */
  readonly closed: Promise<SandboxExit>

  readonly channel: Channel
  cellCount = 0
  #sentServers: string | undefined

  private constructor(channel: Channel, ready: ReadyFrame) {
    this.channel = channel
    this.sandbox = channel.sandbox
    this.closed = channel.sandbox.exited
    this.python = ready.python
    this.cellCount = channel.sandbox.durable?.left?.number ?? 0
  }

  /**
   * Wait for the kernel in a started sandbox. On failure, disposes of the sandbox. `log` gets a line for each invalid
   * frame.
   * @throws BridgeError SANDBOX_START_FAILED, SANDBOX_START_TIMEOUT, SANDBOX_ENGINE_MISSING, SANDBOX_BUSY or
   * PROTOCOL_VERSION_MISMATCH
   */
  static async attach(
    sandbox: Sandbox,
    readyTimeoutMs = sandbox.startTimeoutMs ?? READY_TIMEOUT_MS,
    log?: Log,
  ): Promise<Kernel> {
    const channel = new Channel(sandbox, log)
    try {
      const ready = await channel.ready(readyTimeoutMs)
      if (ready.protocol !== PROTOCOL_VERSION) {
        throw new BridgeError(
          'PROTOCOL_VERSION_MISMATCH',
          `The kernel speaks frame protocol ${ready.protocol}, the bridge ${PROTOCOL_VERSION}`,
        )
      }
      return new Kernel(channel, ready)
    } catch (error) {
      await sandbox.dispose()
      throw error
    }
  }

  /** Runs one cell to its end, also one that raises. @throws BridgeError KERNEL_DIED when the kernel ends first */
  run({ cell, code, servers, observer, ...carriedOver }: RunOptions): Promise<DoneFrame> {
    if (cell !== 0) this.cellCount += 1
    // Sent only when it changes: the list can be long.
    const key = JSON.stringify(servers)
    const changed = key !== this.#sentServers
    this.#sentServers = key
    return this.channel.run(
      { type: 'run', cell: cell ?? this.cellCount, code, ...(changed && { servers }), ...carriedOver },
      observer,
    )
  }

  /** Runs a cell of an earlier bridge to its end, with its earlier output. @throws BridgeError KERNEL_DIED as `run` */
  runLeft(left: LeftBehind, observer: CellObserver): Promise<DoneFrame> {
    return this.channel.adopt(left, observer)
  }

  /** Raise KeyboardInterrupt in the running cell. The cell may catch it. */
  interrupt(): void {
    this.sandbox.interrupt()
  }

  dispose(): Promise<void> {
    return this.sandbox.dispose()
  }
}

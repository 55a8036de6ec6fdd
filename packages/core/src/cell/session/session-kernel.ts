// The kernel of one session: taken at first need, resumed from an earlier bridge, given up when idle.
import { BridgeError, messageOf } from '../../errors.ts'
import type { KeptPlace, KeptSession, LeftBehind, SandboxExit } from '../../isolation/provider.ts'
import type { Log } from '../../util/log.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { lossNote } from '../render/session-notes.ts'
import type { CellRequest } from './cell-run.ts'
import type { CheckpointKeeper } from './checkpoint.ts'
import type { KernelPool } from './kernel-pool.ts'
import type { KeptFor } from './kept-for.ts'
import type { SessionNewsKeeper } from './session-news.ts'

export interface SessionKernelOptions {
  pool: KernelPool
  log: Log
  /** A kernel that has run nothing for this long is killed; 0: never. */
  idleTimeoutMs: number
  /** Set when the sandbox can outlive the bridge. */
  kept?: KeptFor | undefined
  news: SessionNewsKeeper
  checkpoints: CheckpointKeeper
}

export class SessionKernel {
  /** Missing until it is needed, and after it has ended. */
  current: Kernel | undefined
  running: CellRequest | undefined
  /** Cells run so far, in any kernel of the session. */
  cells = 0
  /** A cell of an earlier bridge whose result was never delivered. */
  left: LeftBehind | undefined
  /** When the session got its sandbox. */
  takenAt = 0
  readonly #options: SessionKernelOptions
  #idleTimer: NodeJS.Timeout | undefined
  #isClosed = false
  #hasResumed = false
  /** The location of the sandbox that was left. */
  #place: KeptPlace | undefined

  constructor(options: SessionKernelOptions) {
    this.#options = options
  }

  /** Takes no kernel from now on. */
  close(): void {
    this.#isClosed = true
    this.beBusy()
  }

  /** It is used: it may not be given up. */
  beBusy(): void {
    clearTimeout(this.#idleTimer)
  }

  /** Takes a kernel, or resumes the one that an earlier bridge kept. @throws BridgeError */
  async take({ signal, listeners, onResumed, origin }: CellRequest): Promise<Kernel> {
    const { pool, kept } = this.#options
    const found = kept?.(origin)
    const session = found && { ...found, ...(this.#place && { place: this.#place }) }
    const resumed = session && (await this.#resume(session))
    if (resumed) onResumed?.()
    const kernel = resumed ?? (await pool.take({ signal, onPlace: listeners?.onPreparing }))
    const { durable } = kernel.sandbox
    if (this.#isClosed) {
      await (durable?.leave() ?? kernel.dispose())
      throw isOver()
    }
    if (session && durable && !durable.left) await keep(kernel, session)
    this.current = kernel
    this.takenAt = performance.now()
    void kernel.closed.then((exit) => this.#noteDeath(kernel, exit))
    return kernel
  }

  /** Resumes what an earlier bridge kept for this session: once, and again after another bridge had the sandbox. */
  async #resume(session: KeptSession): Promise<Kernel | undefined> {
    if (this.#hasResumed) return undefined
    const { kernel, note } = await this.#options.pool.resume(session)
    this.#hasResumed = true
    if (note !== undefined) this.#options.news.add(note)
    const left = kernel?.sandbox.durable?.left
    if (!left) return kernel
    this.cells = left.number
    if (left.isPending) this.left = left
    return kernel
  }

  /** The next cell reports a kernel that ended between two cells; one that ended during a cell, that cell's result. */
  #noteDeath(kernel: Kernel, exit: SandboxExit): void {
    const log = this.running?.origin?.log ?? this.#options.log
    if (exit.reason !== 'disposed' && exit.reason !== 'left') log.warning('A sandbox ended', { ...exit })
    if (this.current !== kernel) return
    this.current = undefined
    // The sandbox goes on, perhaps with another bridge.
    if (exit.reason === 'left') {
      this.#hasResumed = false
      this.#place = kernel.sandbox.durable?.place
      return
    }
    if (kernel.cellCount === 0 || this.running) return
    this.#options.news.lost = 'exited'
    const { restorable } = this.#options.checkpoints
    const how = `The session's sandbox had ended (${kernel.channel.describeEnd(exit)})`
    this.#options.news.add(lossNote(how, restorable))
  }

  /** It has run a cell, and is given up unless it runs another one soon. */
  beIdle(kernel: Kernel): void {
    const { idleTimeoutMs } = this.#options
    if (idleTimeoutMs === 0) return
    this.#idleTimer = setTimeout(() => {
      if (this.current !== kernel) return
      this.#options.news.lost = 'idle'
      const { restorable } = this.#options.checkpoints
      const how = `The session was idle for ${idleTimeoutMs / 1000} s and had ended`
      this.#options.news.add(lossNote(how, restorable))
      this.current = undefined
      void kernel.dispose()
    }, idleTimeoutMs)
    this.#idleTimer.unref()
  }
}

async function keep(kernel: Kernel, session: KeptSession): Promise<void> {
  try {
    await kernel.sandbox.durable?.keep(session)
  } catch (cause) {
    await kernel.dispose()
    throw new BridgeError('STATE_UNWRITABLE', `The durable session cannot be stored: ${messageOf(cause)}`, { cause })
  }
}

export function isOver(): BridgeError {
  return new BridgeError('SHUTTING_DOWN', 'The session is closed')
}

// A session binds one conversation to one kernel with its variables. It runs one cell at a time, holds it to its time limit,
// and tells what became of it. What calls may reach is the proxy's business, how results look is render's.
import { BridgeError } from '../errors.ts'
import { type EventStream, NO_EVENTS } from '../events/event-stream.ts'
import { newId } from '../events/new-id.ts'
import type { Kernel, RunOptions } from '../kernel/kernel.ts'
import type { Log } from '../log.ts'
import type { Sandbox, SandboxExit } from '../sandbox/provider.ts'
import type { CellResult } from '../cell/cell-result.ts'
import { type CellRequest, CellRun } from './cell-run.ts'
import { type Checkpoint, CheckpointKeeper } from './checkpoint.ts'
import { GuestCells } from './guest-cells.ts'
import type { KernelPool } from './kernel-pool.ts'
import type { KeptTexts } from './kept-text.ts'
import { OutputStore } from './output-store.ts'

interface SessionOptions {
  pool: KernelPool
  /** Where the output of its cells is kept. */
  texts: KeptTexts
  log: Log
  events?: EventStream
  /** A kernel that has run nothing for this long is ended; 0 means never. */
  idleTimeoutMs: number
  /** Give each cell a sandbox of its own. */
  fresh?: boolean
  /** Carry variables over to the next kernel when one has to be ended. */
  checkpoint?: boolean
  /** Have values come as JSON, too, where they have that form. */
  json?: boolean
  /** Give cells the forms of the system this one re-creates. */
  compat?: boolean
  /** Limits that are held elsewhere, for `describe`. */
  limits?: SessionLimits
}

interface SessionLimits {
  memoryBytes: number
  maxTimeoutSeconds: number
  outputTokenCount: number
}

/** What a cell can learn of its session. */
export interface SessionInfo extends Partial<SessionLimits> {
  mode: 'shared' | 'fresh'
  /** Since the sandbox was given to this session. */
  ageSeconds: number
  /** Cells run in this sandbox, this one included. */
  cellCount: number
  provider: string
  python: string
  /** Of the running cell. */
  timeoutSeconds: number
  idleTimeoutSeconds: number
}

/** Cells that may wait behind the one that runs. */
const MAX_QUEUED = 16
export class Session {
  /** In events. It is not secret, and gives no access. */
  readonly id = newId()
  readonly #openedAt = performance.now()
  /** All that its cells have shown. */
  readonly outputs: OutputStore
  readonly #options: SessionOptions
  #kernel: Kernel | undefined
  /** Cells run so far, in whichever kernel. */
  #cells = 0
  #last: Promise<unknown> = Promise.resolve()
  #queued = 0
  /** Cells that the user has run beside the client, which has not been told. */
  readonly #guestCells: GuestCells = new GuestCells()
  #idleTimer: NodeJS.Timeout | undefined
  /** What is to be told with the cell that runs, or the next one: for the most part, what happened to the variables since the last. */
  #news: string[] = []
  readonly #toldOnce = new Set<string>()
  /** Why it is over. */
  #closed: string | undefined
  #takenAt = 0
  #running: CellRequest | undefined
  #resetAsked = false
  readonly #checkpoints = new CheckpointKeeper()
  /** Why variables of earlier cells are gone, for a kernel that has not been told. */
  #lost: string | undefined
  /** Kernels that are done with, on their way out. */
  #ending: Promise<unknown> = Promise.resolve()

  constructor(options: SessionOptions) {
    this.#options = options
    this.outputs = new OutputStore(options.texts)
    this.#events.emit({ type: 'session.started', id: this.id })
  }

  get #events(): EventStream {
    return this.#options.events ?? NO_EVENTS
  }

  /**
   * Run a cell after those that came before it.
   * @throws BridgeError SESSION_LIMIT when too many wait already, SANDBOX_* when no sandbox can be started, SHUTTING_DOWN
   */
  async run(request: CellRequest): Promise<CellResult> {
    if (this.#queued >= MAX_QUEUED) {
      throw new BridgeError('SESSION_LIMIT', `${MAX_QUEUED} cells are already waiting in this session`)
    }
    this.#queued += 1
    // Also while it waits for its turn: that may be because the cell before it waits for the sandbox.
    const stopHearing = request.onPreparing ? this.#options.pool.onPreparing(request.onPreparing) : () => {}
    const turn = this.#last.then(() => this.#runNow(request, stopHearing))
    this.#last = turn.catch(() => {})
    try {
      return await turn
    } finally {
      stopHearing()
      this.#queued -= 1
    }
  }

  /** End the session's kernel. A cell that runs ends as killed. @param why for its reader */
  async close(why = 'The session was closed'): Promise<void> {
    if (this.#closed === undefined) {
      this.#events.emit({ type: 'session.ended', id: this.id, durationMs: performance.now() - this.#openedAt })
    }
    this.#closed ??= why
    clearTimeout(this.#idleTimer)
    this.outputs.clear()
    await Promise.all([this.#kernel?.dispose(), this.#ending])
  }

  describe(): SessionInfo {
    const { fresh, idleTimeoutMs, limits } = this.#options
    return {
      mode: fresh ? 'fresh' : 'shared',
      ageSeconds: Math.round((performance.now() - this.#takenAt) / 1000),
      cellCount: this.#kernel?.cellCount ?? 0,
      provider: this.#kernel?.sandbox.provider ?? '',
      python: this.#kernel?.python ?? '',
      timeoutSeconds: (this.#running?.timeoutMs ?? 0) / 1000,
      idleTimeoutSeconds: idleTimeoutMs / 1000,
      ...limits,
    }
  }

  /** Whether a cell runs or waits. */
  get isBusy(): boolean {
    return this.#queued > 0
  }

  /** Undefined while there is none. */
  get sandbox(): Sandbox | undefined {
    return this.#kernel?.sandbox
  }

  /** A note for the running cell's result, unless an earlier one had it. */
  tellOnce(note: string): void {
    if (this.#toldOnce.has(note)) return
    this.#toldOnce.add(note)
    this.#news.push(note)
  }

  /** Give the next cell a sandbox of its own. The running one keeps what it has to its end. */
  resetAfterCell(): void {
    this.#resetAsked = true
  }

  /** @throws BridgeError PROXY_METHOD_UNKNOWN when this session keeps none */
  keepCheckpoint(latest: Checkpoint): void {
    if (!this.#options.checkpoint) throw new BridgeError('PROXY_METHOD_UNKNOWN', 'MCP_BRIDGE_CHECKPOINT is not set')
    this.#checkpoints.keep(latest)
  }

  async #runNow(request: CellRequest, stopHearing: () => void): Promise<CellResult> {
    if (request.signal?.aborted) return neverRun(request)
    clearTimeout(this.#idleTimer)
    if (this.#closed !== undefined) throw isOver()
    const kernel =
      this.#kernel ??
      (await this.#takeKernel(request).catch((error: unknown) => {
        if (request.signal?.aborted) return undefined
        throw error
      }))
    if (!kernel) return neverRun(request)
    stopHearing()
    if (request.signal?.aborted) {
      this.#startIdleTimer(kernel)
      return neverRun(request)
    }
    this.#running = request
    if (!request.aside) this.#cells += 1
    const options = {
      cell: request.aside ? 0 : this.#cells,
      ...(this.#options.json && { json: true as const }),
      ...(request.projects && { projects: request.projects() }),
      ...(this.#options.compat && { compat: true as const }),
      ...(request.named && { named: request.named }),
      ...(!request.aside && {
        ...(kernel.cellCount === 0 && this.#lost !== undefined && { lost: this.#lost }),
        ...this.#carriedOver(kernel),
      }),
    }
    const ran = await new CellRun(kernel, request, options, this.#events).result()
    this.#running = undefined
    const result = request.aside && !ran.stateLost ? ran : this.#withNews(ran, request)
    if (result.stateLost) {
      this.#kernel = undefined
      if (!ran.stateLost) this.#ending = Promise.allSettled([this.#ending, kernel.dispose()])
      // The next cell should not have to wait for what can be started now.
      if (this.#closed === undefined) this.#options.pool.warm()
    } else {
      this.#startIdleTimer(kernel)
    }
    return result
  }

  /** A cell's result with what has become of the session: the only place that adds to it. */
  #withNews(ran: CellResult, { guest: isGuest, aside: isAside }: CellRequest): CellResult {
    const isReset = this.#resetAsked
    const isLast = this.#options.fresh === true || isReset
    const restorable = ran.stateLost ? this.#checkpoints.describeRestorable() : undefined
    const closed =
      this.#closed === undefined
        ? []
        : [`${this.#closed} while this cell ran. Output up to then is kept; the variables are lost.`]
    const own = [
      ...(restorable === undefined ? [] : [restorable]),
      ...(isReset ? ['The session was reset: the next cell has no variables, and an empty /workspace.'] : []),
    ]
    const notes = [
      ...closed,
      ...(isGuest || isAside ? [] : this.#guestCells.tell()),
      ...this.#news,
      ...ran.notes,
      ...own,
    ]
    // What became of the session is told to its client as well, with its own next cell.
    if (isGuest) {
      this.#guestCells.add(ran.cell)
      this.#news.push(...own, ...(ran.stateLost && own.length === 0 ? [GUEST_LOST] : []))
    } else this.#news = []
    this.#resetAsked = false
    if (isReset) {
      this.#lost = 'the session was reset, and variables of earlier cells are gone.'
      this.#checkpoints.drop()
    } else if (isLast) this.#lost = 'each cell has its own sandbox, so no variable is kept.'
    else if (ran.stateLost) this.#lost = 'the sandbox of earlier cells was lost, and their variables with it.'
    const carriedOver = restorable !== undefined && !isReset
    return { ...ran, notes, stateLost: ran.stateLost || isLast, ...(carriedOver && { carriedOver }) }
  }

  /** What a kernel is told besides the cell. */
  #carriedOver(kernel: Kernel): Pick<RunOptions, 'checkpoint' | 'restore'> {
    if (!this.#options.checkpoint) return {}
    const restore = kernel.cellCount === 0 ? this.#checkpoints.take() : undefined
    return { checkpoint: true, ...(restore !== undefined && { restore }) }
  }

  async #takeKernel({ signal, onPreparing }: CellRequest): Promise<Kernel> {
    const kernel = await this.#options.pool.take({ signal, onPlace: onPreparing })
    if (this.#closed !== undefined) {
      await kernel.dispose()
      throw isOver()
    }
    this.#kernel = kernel
    this.#takenAt = performance.now()
    void kernel.closed.then((exit) => this.#noteDeath(kernel, exit))
    return kernel
  }

  /** A kernel that dies between two cells is told of with the next one; one that dies under a cell, by that cell's result. */
  #noteDeath(kernel: Kernel, exit: SandboxExit): void {
    const log = this.#running?.origin?.log ?? this.#options.log
    if (exit.reason !== 'disposed') log.warning('A sandbox ended', { ...exit })
    if (this.#kernel !== kernel) return
    this.#kernel = undefined
    if (kernel.cellCount === 0 || this.#running) return
    this.#lost = 'the sandbox of earlier cells exited, and their variables are gone.'
    this.#news.push(
      `The session's sandbox had ended (${kernel.channel.describeEnd(exit)}): ${this.#checkpoints.describeLost()}`,
    )
  }

  #startIdleTimer(kernel: Kernel): void {
    const { idleTimeoutMs } = this.#options
    if (idleTimeoutMs === 0) return
    this.#idleTimer = setTimeout(() => {
      if (this.#kernel !== kernel) return
      this.#lost = `the session was idle for ${idleTimeoutMs / 1000} s and ended, and its variables are gone.`
      this.#news.push(
        `The session was idle for ${idleTimeoutMs / 1000} s and had ended: ${this.#checkpoints.describeLost()}`,
      )
      this.#kernel = undefined
      void kernel.dispose()
    }, idleTimeoutMs)
    this.#idleTimer.unref()
  }
}

const GUEST_LOST = 'A cell of the user ended the sandbox of this session, and its variables are gone.'

function isOver(): BridgeError {
  return new BridgeError('SHUTTING_DOWN', 'The session is closed')
}

/** The result of a cell that was cancelled while it waited for its turn, or for its sandbox. */
function neverRun({ timeoutMs }: CellRequest): CellResult {
  return {
    status: 'interrupted',
    stdout: '',
    stderr: '',
    displays: [],
    notes: [],
    stateLost: false,
    durationMs: 0,
    timeoutMs,
  }
}

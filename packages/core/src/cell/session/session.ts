// Binds a conversation to a kernel and its variables: one cell at a time; results tell what happened to it.
import { BridgeError } from '../../errors.ts'
import { type EventStream, NO_EVENTS } from '../../observe/events/event-stream.ts'
import { newId } from '../../observe/events/new-id.ts'
import type { Kernel, RunOptions } from '../kernel/kernel.ts'
import type { LeftBehind, Sandbox } from '../../isolation/provider.ts'
import type { CellResult } from '../cell-result.ts'
import { type CellRequest, CellRun } from './cell-run.ts'
import { type Checkpoint, CheckpointKeeper } from './checkpoint.ts'
import { describeLeft, leftNotes, missingNote, restoresNote } from '../render/session-notes.ts'
import type { KeptFor } from './kept-for.ts'
import type { KeptTexts } from './kept-text.ts'
import { OutputStore } from './output-store.ts'
import { isOver, SessionKernel, type SessionKernelOptions } from './session-kernel.ts'
import { SessionNewsKeeper } from './session-news.ts'
import { sandboxName } from '../../util/text/count.ts'
import { hash } from 'node:crypto'

interface SessionOptions extends Omit<SessionKernelOptions, 'news' | 'checkpoints'> {
  /** Stores the output of its cells. */
  texts: KeptTexts
  events?: EventStream
  /** Run each cell in its own sandbox. */
  fresh?: boolean
  /** Names who may go on with the session, whether or not its sandbox is kept. */
  owner?: KeptFor | undefined
  /** Carry variables over to the next kernel when one has to be killed. */
  checkpoint?: boolean
  /** Also request values as JSON, where they have a JSON form. */
  json?: boolean
  /** Give cells the API forms of the system that this one re-creates. */
  compat?: boolean
  /** Limits that other code enforces, for `describe`. */
  limits?: SessionLimits
}

/** Most cells that may wait behind the running one. */
const MAX_QUEUED = 16
/** How long to wait for the result of a cell that has already ended. */
const RESULT_MS = 60_000

export class Session {
  /** Identifies the session in events. Not secret: it grants no access. */
  readonly id = newId()
  /** Its client's connection broke, and no other is open. */
  isLeft = false
  readonly #openedAt = performance.now()
  /** The full output of its cells. */
  readonly outputs: OutputStore
  readonly #options: SessionOptions
  #last: Promise<unknown> = Promise.resolve()
  #queued = 0
  /** For the running or next cell's result: mostly what happened to the variables since the last one. */
  readonly #news = new SessionNewsKeeper()
  /** Why the session is closed. */
  #closed: string | undefined
  #resetAsked = false
  readonly #checkpoints = new CheckpointKeeper()
  readonly #kernel: SessionKernel
  /** Resolves when the kernels given up so far are disposed of. */
  #ending: Promise<unknown> = Promise.resolve()

  constructor(options: SessionOptions) {
    this.#options = options
    this.outputs = new OutputStore(options.texts)
    this.#kernel = new SessionKernel({ ...options, news: this.#news, checkpoints: this.#checkpoints })
    this.#events.emit({ type: 'session.started', id: this.id })
  }

  get #events(): EventStream {
    return this.#options.events ?? NO_EVENTS
  }

  /** Runs a cell after those before it. @throws BridgeError SESSION_LIMIT if too many wait, SANDBOX_*, SHUTTING_DOWN */
  async run(request: CellRequest): Promise<CellResult> {
    if (this.#queued >= MAX_QUEUED) {
      throw new BridgeError('SESSION_LIMIT', `${MAX_QUEUED} cells are already waiting in this session`)
    }
    this.#queued += 1
    // Also while queued: the cell before it may be waiting for the sandbox.
    const { onPreparing } = request.listeners ?? {}
    const stopHearing = onPreparing ? this.#options.pool.onPreparing(onPreparing) : () => {}
    const turn = this.#last.then(() => this.#runNow(request, stopHearing))
    this.#last = turn.catch(() => {})
    try {
      return await turn
    } finally {
      stopHearing()
      this.#queued -= 1
    }
  }

  get isClosed(): boolean {
    return this.#closed !== undefined
  }

  get owner(): KeptFor | undefined {
    return this.#options.owner
  }

  /** End the session's kernel. A running cell ends as killed. @param why shown to its reader */
  async close(why = 'The session was closed'): Promise<void> {
    if (this.#closed === undefined) {
      this.#events.emit({ type: 'session.ended', id: this.id, durationMs: performance.now() - this.#openedAt })
    }
    this.#closed ??= why
    this.#kernel.close()
    this.outputs.clear()
    await Promise.all([this.#kernel.current?.dispose(), this.#ending])
  }

  /** Like `close`, when the bridge ends: leaves a durable sandbox to the next bridge. */
  async leave(why: string): Promise<void> {
    const { durable } = this.#kernel.current?.sandbox ?? {}
    if (!durable) return this.close(why)
    this.#kernel.beBusy()
    await durable.leave()
    await this.close(why)
  }

  /** The client has received the results of all cells so far, so a durable sandbox can drop what it kept for them. */
  delivered(): void {
    if (!this.#kernel.running) this.#kernel.current?.sandbox.durable?.release()
  }

  describe() {
    const { fresh, idleTimeoutMs, limits } = this.#options
    return {
      mode: fresh ? 'fresh' : this.#options.kept ? 'durable' : 'shared',
      /** Since the session got its sandbox. */
      ageSeconds: Math.round((performance.now() - this.#kernel.takenAt) / 1000),
      /** Cells run in this sandbox, including this one. */
      cellCount: this.#kernel.current?.cellCount ?? 0,
      /** For a reader. */
      sandbox: sandboxName(this.#kernel.current?.sandbox.provider ?? ''),
      provider: this.#kernel.current?.sandbox.provider ?? '',
      python: this.#kernel.current?.python ?? '',
      timeoutSeconds: (this.#kernel.running?.timeoutMs ?? 0) / 1000,
      idleTimeoutSeconds: idleTimeoutMs / 1000,
      ...limits,
    }
  }

  get isBusy(): boolean {
    return this.#queued > 0
  }

  /** Undefined while the session has no sandbox. */
  get sandbox(): Sandbox | undefined {
    return this.#kernel.current?.sandbox
  }

  /** Keys of what its client was told, for notes that come once. */
  get told(): Set<string> {
    return this.#news.told
  }

  /** Add a note to the running cell's result, unless an earlier result had it. */
  tellOnce(note: string): void {
    this.#news.addOnce(note, () => note)
  }

  /** Give the next cell a new sandbox. The running cell keeps its own until it ends. */
  resetAfterCell(): void {
    this.#resetAsked = true
  }

  /** @throws BridgeError PROXY_METHOD_UNKNOWN when this session keeps no checkpoints */
  keepCheckpoint(latest: Checkpoint): void {
    if (!this.#options.checkpoint) throw new BridgeError('PROXY_METHOD_UNKNOWN', 'MCP_BRIDGE_SESSION is not checkpoint')
    this.#checkpoints.keep(latest)
  }

  async #runNow(request: CellRequest, stopHearing: () => void): Promise<CellResult> {
    if (request.signal?.aborted) return neverRun(request)
    this.#kernel.beBusy()
    if (this.#closed !== undefined) throw isOver()
    const kernel =
      this.#kernel.current ??
      (await this.#kernel.take(request).catch((error: unknown) => {
        if (request.signal?.aborted) return undefined
        throw error
      }))
    if (!kernel) return neverRun(request)
    stopHearing()
    if (request.signal?.aborted) {
      this.#kernel.beIdle(kernel)
      return neverRun(request)
    }
    const { left } = this.#kernel
    if (left && !request.aside) {
      this.#kernel.left = undefined
      const finished = await this.#finishLeft(kernel, left, request)
      if (finished) return finished
      return this.#runNow(request, stopHearing)
    }
    this.#kernel.running = request
    if (!request.aside) {
      const passedOver = this.#options.pool.takeNews(kernel)
      if (passedOver !== undefined) this.#news.add(passedOver)
      this.#markCell(kernel, request)
      this.#kernel.cells += 1
    }
    const options = {
      cell: request.aside ? 0 : this.#kernel.cells,
      ...(this.#options.json && { json: true as const }),
      ...(request.projects && { projects: request.projects() }),
      ...(this.#options.compat && { compat: true as const }),
      ...(request.named && { named: request.named }),
      ...(!request.aside && {
        ...(kernel.cellCount === 0 && this.#news.lost !== undefined && { lost: this.#news.lost }),
        ...(kernel.cellCount === 0 && this.#missingPackages()),
        ...this.#carriedOver(kernel),
      }),
    }
    const ran = await new CellRun(kernel, request, options, this.#events).result()
    this.#kernel.running = undefined
    if (!request.aside && !ran.stateLost) this.#checkpoints.cellEnded(ran.cell)
    const result = request.aside && !ran.stateLost ? ran : this.#withNews(ran, request)
    if (result.stateLost) {
      this.#kernel.current = undefined
      if (!ran.stateLost) this.#ending = Promise.allSettled([this.#ending, kernel.dispose()])
      // Start now, so that the next cell need not wait.
      if (this.#closed === undefined) this.#options.pool.warm()
    } else {
      this.#kernel.beIdle(kernel)
    }
    return result
  }

  /** For the first cell of a kernel. Tells the client once in the session. */
  #missingPackages(): Pick<RunOptions, 'missing'> {
    const missing = this.#options.pool.missingPackages
    if (missing.length === 0) return {}
    this.#news.addOnce('packages-missing', () => missingNote(missing))
    return { missing: missing.map(({ name, reason }) => ({ name, reason })) }
  }

  /** Ends a cell of an earlier bridge. Returns its result for the same source; else the next cell's notes have it. */
  async #finishLeft(kernel: Kernel, left: LeftBehind, request: CellRequest): Promise<CellResult | undefined> {
    const isSame = left.digest === digestOf(request)
    const { maxTimeoutSeconds = Infinity } = this.#options.limits ?? {}
    const restMs = Math.min(left.deadline - Date.now(), maxTimeoutSeconds * 1000)
    // If the cell has ended, only its result must still arrive.
    const timeoutMs = left.isRunning ? Math.max(1, restMs) : RESULT_MS
    // Without an origin, so that no observer is told: the one that saw the cell start is gone.
    const { timeLimit: _, origin: __, ...rest } = request
    this.#kernel.running = request
    const ran = await new CellRun(kernel, { ...rest, timeoutMs }, { cell: left.number, left }).result()
    this.#kernel.running = undefined
    if (ran.stateLost) this.#kernel.current = undefined
    if (isSame) {
      const same = `Cell ${left.number} had the same source and ran when the bridge ended.`
      this.#news.add(`${same} It was not run again: this is its result.`)
      if (!ran.stateLost) this.#kernel.beIdle(kernel)
      return this.#withNews({ ...ran, notes: [...leftNotes(left), ...ran.notes] }, request)
    }
    this.#news.add(...leftNotes(left), describeLeft(left.number, ran))
    return undefined
  }

  #markCell(kernel: Kernel, request: CellRequest): void {
    const deadline = Date.now() + request.timeoutMs
    kernel.sandbox.durable?.beginCell({ number: this.#kernel.cells + 1, deadline, digest: digestOf(request) })
  }

  /** Adds the session's notes to a cell's result. No other code does. */
  #withNews(ran: CellResult, { guest: isGuest, aside: isAside }: CellRequest): CellResult {
    const isReset = this.#resetAsked
    const isLast = this.#options.fresh === true || isReset
    const restorable = ran.stateLost ? this.#checkpoints.restorable : undefined
    const why = ran.stateLost ? this.#closed : undefined
    const own = [
      ...(restorable ? [restoresNote(restorable)] : []),
      ...(isReset ? ['The session was reset: the next cell has no variables, and an empty /workspace.'] : []),
    ]
    const before = [
      ...(why ? [`${why} while this cell ran. Output up to then is kept; the variables are lost.`] : []),
      ...this.#news.tell(!isGuest && !isAside),
    ]
    const notes = [...before, ...ran.notes, ...own]
    // The client learns of this with its own next cell.
    if (isGuest) {
      this.#news.guestRan(ran.cell)
      this.#news.add(...own)
      const ended = 'A cell of the user ended the sandbox of this session, and its variables are gone.'
      if (ran.stateLost && own.length === 0) this.#news.add(ended)
    } else this.#news.clear()
    this.#resetAsked = false
    if (isReset) this.#checkpoints.drop()
    if (isLast || ran.stateLost) this.#news.lost = isReset ? 'reset' : isLast ? 'fresh' : 'ended'
    const carriedOver = restorable !== undefined && !isReset
    return { ...ran, notes, stateLost: ran.stateLost || isLast, ...(carriedOver && { carriedOver }) }
  }

  #carriedOver(kernel: Kernel): Pick<RunOptions, 'checkpoint' | 'restore'> {
    if (!this.#options.checkpoint) return {}
    const restore = kernel.cellCount === 0 ? this.#checkpoints.take() : undefined
    return { checkpoint: true, ...(restore !== undefined && { restore }) }
  }
}

/** The result of a cell that was cancelled while it waited for its turn or its sandbox. */
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

/** Identifies the source of a cell. */
function digestOf({ code, language }: Pick<CellRequest, 'code' | 'language'>): string {
  return hash('sha256', `${language ?? 'python'}\n${code}`)
}

/** Limits that other code enforces. */
interface SessionLimits {
  memoryBytes: number
  maxTimeoutSeconds: number
  outputTokenCount: number
}

// One run of one cell: collects its output within bounds, and enforces its time limit and interrupts.
import { kernelNote } from '../render/notice.ts'
import { BridgeError } from '../../errors.ts'
import { ofCell, type Origin } from '../../observe/events/event.ts'
import { type EventStream, NO_EVENTS } from '../../observe/events/event-stream.ts'
import type { CellObserver } from '../kernel/channel.ts'
import type { Kernel, RunOptions } from '../kernel/kernel.ts'
import type { CallHandler, CallServer } from '../kernel/open-calls.ts'
import type { OtherLanguage } from '../../config/settings/cells.ts'
import type { DoneFrame, MimeBundle, ProgressFrame, VisibleServer } from '../protocol/frames.ts'
import type { LeftBehind } from '../../isolation/provider.ts'
import type { CellResult } from '../cell-result.ts'
import { isRecord } from '../../util/json/json.ts'
import { ShownOutput } from './shown-output.ts'
import { TimeLimit } from '../time-limit.ts'
import { type ToolCallProgress, ToolCalls, type UpstreamProgress } from '../tool-calls.ts'
import { shortName } from '../../util/text/server-words.ts'

/** Receives messages about slow one-off work before the first sandbox can start, such as pulling an image. */
export type OnPreparing = (message: string) => void

export interface CellListeners {
  /** Called with the reason while the cell waits for its sandbox. */
  onPreparing?: OnPreparing | undefined
  onOutput?: ((stream: 'stdout' | 'stderr', text: string) => void) | undefined
  onProgress?: ((progress: ProgressFrame) => void) | undefined
  onToolCall?: ((progress: ToolCallProgress) => void) | undefined
  /** Servers are asked for progress only if this is set. */
  onUpstreamProgress?: ((progress: UpstreamProgress) => void) | undefined
}

export interface CellRequest {
  code: string
  /** Missing: Python. */
  language?: OtherLanguage | undefined
  /** Outside the session's count: no number, not seen by observers; the session's notices wait for the next cell. */
  aside?: true | undefined
  /** The user runs this cell in a client's session, whose next result mentions it and carries the notices. */
  guest?: boolean | undefined
  timeoutMs: number
  /** The same limit as an object, for code that pauses it. */
  timeLimit?: TimeLimit | undefined
  servers: VisibleServer[]
  /** The client named the servers. */
  named?: true | undefined
  onCall: CallHandler
  /** Called when a call fails. @returns more text for the error's hint */
  onCallFailed?: CallServer['onCallFailed']
  /** Returns the revision of the files in `/projects`; missing when no files are kept. */
  projects?: (() => string) | undefined
  listeners?: CellListeners | undefined
  /** Called when the cell finds the variables of an earlier bridge. */
  onResumed?: (() => void) | undefined
  /** Aborted when the result is no longer wanted; interrupts the cell. */
  signal?: AbortSignal | undefined
  /** Whom the cell belongs to; missing hides the cell from observers. */
  origin?: Origin | undefined
  /** The id of the client's run. */
  run?: string | undefined
}

/** What the kernel gets with the cell. */
export type CellRunOptions = Pick<
  RunOptions,
  'checkpoint' | 'restore' | 'json' | 'compat' | 'projects' | 'named' | 'lost' | 'missing'
> & {
  cell: number
  /** An earlier bridge started this cell; only run it to its end. */
  left?: LeftBehind
}

/** How long an interrupted cell may clean up before the bridge stops its sandbox. */
const INTERRUPT_GRACE_MS = 2_000
/** Waited one after the other: of a time in which the machine stands still, only the first is over. */
const GRACE_PARTS = 20
const IGNORED = `The cell did not stop within ${INTERRUPT_GRACE_MS / 1000} s of the interrupt, so the bridge stopped its sandbox.`
const UNHEARD =
  'Its sandbox does not answer, so the interrupt has to wait. Its variables are kept: the next cell has them once it answers again.'
type Stop = 'timeout' | 'interrupted'

/** One run of one cell. Create one per run and call `result` once. */
export class CellRun {
  readonly #kernel: Kernel
  readonly #request: CellRequest
  readonly #options: CellRunOptions
  readonly #events: EventStream
  readonly #malformedBefore: number
  readonly #shown = new ShownOutput()
  readonly #toolCalls: ToolCalls
  #stop: Stop | undefined
  #timeInCalls: string | undefined
  #killTimer: NodeJS.Timeout | undefined

  constructor(kernel: Kernel, request: CellRequest, options: CellRunOptions, events = NO_EVENTS) {
    this.#kernel = kernel
    this.#request = request
    this.#options = options
    this.#events = request.origin && !request.aside ? events : NO_EVENTS
    this.#toolCalls = new ToolCalls(request.listeners?.onToolCall)
    this.#malformedBefore = kernel.channel.malformedCount
  }

  async result(): Promise<CellResult> {
    const { code, language, servers, timeoutMs, timeLimit = new TimeLimit(timeoutMs), signal } = this.#request
    const startedAt = performance.now()
    timeLimit.start(() => this.#interrupt('timeout'))
    const onAbort = () => this.#interrupt('interrupted')
    signal?.addEventListener('abort', onAbort, { once: true })
    if (this.#events.active) this.#emitStarted()
    try {
      const { left, ...options } = this.#options
      const observer = this.#observer()
      const done = await (left
        ? this.#kernel.runLeft(left, observer)
        : this.#kernel.run({ code, servers, observer, ...(language && { language }), ...options }))
      return this.#told(this.#finished(done, performance.now() - startedAt))
    } catch (error) {
      return this.#told(this.#died(error, performance.now() - startedAt))
    } finally {
      timeLimit.stop()
      clearTimeout(this.#killTimer)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  #observer(): CellObserver {
    const { listeners: { onOutput, onProgress } = {}, onCall, onCallFailed } = this.#request
    return {
      onOutput: (stream, text) => {
        this.#shown.print(stream, text)
        onOutput?.(stream, text)
        if (this.#events.active) this.#events.emit({ type: 'cell.output', ...this.#about(), stream, text })
      },
      onDisplay: (data, id) => this.#display(data, id),
      onClear: (waits) => this.#shown.clear(waits),
      onProgress: (progress) => onProgress?.(progress),
      onCall,
      ...(onCallFailed && { onCallFailed }),
      onCallBegin: (call) => this.#toolCalls.begin(call),
    }
  }

  #display(data: MimeBundle, id?: string): void {
    this.#shown.display(data, id)
    if (this.#events.active) this.#events.emit({ type: 'cell.display', ...this.#about(), data })
  }

  #about() {
    const { origin, run } = this.#request
    return { ...ofCell(origin!), id: origin!.cell, parent: run }
  }

  #emitStarted(): void {
    const { code, servers, timeoutMs } = this.#request
    this.#events.emit({
      type: 'cell.started',
      ...this.#about(),
      number: this.#options.cell,
      code,
      servers: servers.map(({ name }) => name),
      timeoutMs,
      sandbox: this.#kernel.sandbox.id,
      provider: this.#kernel.sandbox.provider,
      trace: this.#request.origin?.trace,
    })
  }

  #told(result: CellResult): CellResult {
    const { origin, aside } = this.#request
    if (!aside) {
      const { cell, status, durationMs } = result
      origin?.log.debug('A cell has ended', { number: cell, status, ms: Math.round(durationMs) })
    }
    if (this.#events.active) {
      const { status, durationMs, value, error, stateLost } = result
      // The cell chooses the name. Observers keep it: as a key, in spans, in lists.
      const raised = error && { name: shortName(error.name), message: error.message }
      this.#events.emit({ type: 'cell.ended', ...this.#about(), status, durationMs, value, raised, stateLost })
    }
    return result
  }

  #interrupt(stop: Stop): void {
    if (this.#stop) return
    this.#stop = stop
    // Before the interrupt, which ends the open calls.
    this.#timeInCalls = this.#toolCalls.summary()
    this.#kernel.interrupt()
    this.#wait(GRACE_PARTS)
  }

  /** Waits for the rest of the grace, then gives up. */
  #wait(parts: number): void {
    if (parts === 0) void this.#giveUp()
    else this.#killTimer = setTimeout(() => this.#wait(parts - 1), INTERRUPT_GRACE_MS / GRACE_PARTS)
  }

  /** Stops the sandbox of a cell that ignored the interrupt. */
  async #giveUp(): Promise<void> {
    const { durable } = this.#kernel.sandbox
    // An unreachable durable sandbox interrupts the cell itself at the time limit. Leave it; the next cell resumes it.
    if (durable?.isUnheard) await durable.leave()
    else await this.#kernel.dispose()
  }

  #finished(done: DoneFrame, durationMs: number): CellResult {
    // A cell that finishes after an interrupt caught the KeyboardInterrupt. It still reached its limit, unless it had
    // ended before, and only its variables were still being sent.
    const status = done.uninterrupted ? done.status : (this.#stop ?? done.status)
    const result = this.#result(status, durationMs, (done.notes ?? []).map(kernelNote))
    if (done.value && result.status === 'ok') result.value = done.value
    if (done.error) result.error = done.error
    return result
  }

  #died(error: unknown, durationMs: number): CellResult {
    if (!BridgeError.isInstance(error) || error.code !== 'KERNEL_DIED') throw error
    const isLeft = isRecord(error.data) && error.data['reason'] === 'left'
    const reason = this.#stop ? (isLeft ? UNHEARD : IGNORED) : `${error.message}.`
    const result = this.#result(this.#stop ?? 'killed', durationMs, [reason])
    result.stateLost = !isLeft
    return result
  }

  #result(status: CellResult['status'], durationMs: number, notes: readonly string[] = []): CellResult {
    return {
      status,
      cell: this.#options.cell,
      ...this.#shown.finish(),
      notes: [...notes, ...this.#ownNotes()],
      stateLost: false,
      durationMs,
      timeoutMs: this.#request.timeoutMs,
    }
  }

  #ownNotes(): string[] {
    const malformed = this.#kernel.channel.malformedCount - this.#malformedBefore
    return [
      ...(this.#timeInCalls ? [this.#timeInCalls] : []),
      ...(malformed > 0 ? [describeMalformed(malformed, this.#kernel.channel.malformedReason)] : []),
      ...this.#shown.notes(),
    ]
  }
}

function describeMalformed(count: number, reason: string): string {
  return count === 1
    ? `1 malformed frame came from this sandbox and was dropped: ${reason}.`
    : `${count} malformed frames came from this sandbox and were dropped, the last one: ${reason}.`
}

// Long calls as tasks, for clients with io.modelcontextprotocol/tasks (MCP 2026-07-28, SEP-2663): the call is answered
// with a handle, by which the client asks for the state, answers questions and fetches the result, over any connection.
import { randomUUID } from 'node:crypto'
import { type CallToolResult, ProtocolError, ProtocolErrorCode, type Result } from '@modelcontextprotocol/server'
import type { Question } from '@sandbridge/core/calls'
import type { TaskWaits } from '@sandbridge/core/parts'
import type { OpenRun } from '@sandbridge/core/serve/mcp'

/** How long a task and its result are kept, at least, if its result is not among too many large ones. */
const TTL_MS = 60 * 60_000
const POLL_MS = 1_000
/** That run, and that are kept. */
export const MAX_TASKS = 64
/** How long after its end a client is expected to fetch a result. */
const FETCH_MS = 60_000
/** Of all kept results, as JSON. Images of one result may take a third of it. */
const MAX_RESULT_CHARS = 64_000_000

interface Task {
  run: OpenRun
  createdAt: Date
  changedAt: Date
  result?: CallToolResult
  resultChars?: number
  isFetched?: boolean
  /** Removes it. */
  timer?: NodeJS.Timeout
  /** The client has cancelled it. */
  isCancelled?: boolean
  /** Called when the client has answered something. */
  onAnswer?: () => void
  /** Called when the cell asks something, or has ended. */
  onEvent: Set<() => void>
  /** Keys of questions that the client was sent. */
  asked: Set<string>
}

export class TaskRuns {
  readonly #waits: TaskWaits
  /** Not guessable: a client that knows the id may fetch the result. */
  readonly #tasks = new Map<string, Task>()

  constructor(waits: TaskWaits) {
    this.#waits = waits
  }

  /** Whether another task may run. Those that have ended make room. */
  get hasRoom(): boolean {
    return [...this.#tasks.values()].filter(({ result }) => !result).length < MAX_TASKS
  }

  /** Turns a run into a task. @returns the answer to its call */
  add(run: OpenRun): Result {
    const id = this.open(run)
    return { resultType: 'task', ...stateOf(id, this.#find(id)) }
  }

  /** Turns a run into a task. @returns its id */
  open(run: OpenRun): string {
    const id = randomUUID()
    const now = new Date()
    const task: Task = { run, createdAt: now, changedAt: now, onEvent: new Set(), asked: new Set() }
    this.#makeRoom()
    this.#tasks.set(id, task)
    this.#expireLater(id, task)
    void this.#follow(id, task)
    return id
  }

  /** How many tasks run, or have ended a moment ago with a result that their client has not fetched. */
  get unfetchedCount(): number {
    const since = Date.now() - FETCH_MS
    return [...this.#tasks.values()].filter(
      ({ result, isFetched, isCancelled, changedAt }) =>
        !isFetched && !isCancelled && (!result || changedAt.getTime() > since),
    ).length
  }

  has(id: string): boolean {
    return this.#tasks.has(id)
  }

  /**
   * Waits for the result of a task, and asks the client meanwhile what its cell asks.
   * @throws ProtocolError for an unknown id or a cancelled task, and when the client no longer waits
   */
  async resultOf(
    id: string,
    signal: AbortSignal,
    ask: (question: Question) => Promise<Record<string, unknown>>,
  ): Promise<CallToolResult> {
    const task = this.#find(id)
    const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    while (!task.result && !task.isCancelled && !signal.aborted) {
      for (const [key, question] of Object.entries(task.run.openQuestions)) {
        if (task.asked.has(key)) continue
        task.asked.add(key)
        const answer = (given: Record<string, unknown>): void => {
          task.run.answer({ [key]: given })
          task.onAnswer?.()
        }
        // A client that waits no longer may come back; one that cannot answer has declined.
        ask(question as Question).then(answer, () =>
          signal.aborted ? void task.asked.delete(key) : answer({ action: 'decline' }),
        )
      }
      let wake = (): void => {}
      await Promise.race([new Promise<void>((resolve) => task.onEvent.add((wake = resolve))), over])
      task.onEvent.delete(wake)
    }
    if (task.result && !task.isCancelled) {
      fetched(task)
      return task.result
    }
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, task.isCancelled ? 'The task was cancelled' : 'Cancelled')
  }

  /** The state of a task, and its result once it has one. @throws ProtocolError for an unknown id */
  get(id: string): Result {
    const task = this.#find(id)
    if (!task.result || task.isCancelled) return this.stateOf(id)
    fetched(task)
    return { ...this.stateOf(id), result: task.result }
  }

  /** The state of a task without its result. @throws ProtocolError for an unknown id */
  stateOf(id: string): Result {
    const task = this.#find(id)
    const { run, result } = task
    if (result || task.isCancelled) return stateOf(id, task)
    const statusMessage = run.progress.takeNews()
    if (statusMessage) run.onShown?.(statusMessage)
    const inputRequests = run.openQuestions
    const asks = Object.keys(inputRequests).length > 0
    return { ...stateOf(id, task), ...(statusMessage && { statusMessage }), ...(asks && { inputRequests }) }
  }

  /** The client's answers to questions; those to unknown ones are ignored. @throws ProtocolError for an unknown id */
  update(id: string, responses: Record<string, unknown> | undefined): void {
    const { run, onAnswer } = this.#find(id)
    run.answer(responses)
    onAnswer?.()
  }

  /**
   * Interrupts the cell; does nothing to one that has ended. The task is cancelled at once and stays so (MCP
   * 2025-11-25, Tasks, Task Cancellation), although its cell may take a moment.
   * @throws ProtocolError for an unknown id
   */
  cancel(id: string): void {
    const task = this.#find(id)
    if (task.result || task.isCancelled) return
    task.isCancelled = true
    task.changedAt = new Date()
    task.run.cancel()
    tell(task)
  }

  async #follow(id: string, task: Task): Promise<void> {
    const { run } = task
    while (!task.result) {
      const event = await run.next()
      if (!task.isCancelled) task.changedAt = new Date()
      if ('result' in event) {
        this.#keep(id, task, event.result)
        tell(task)
      } else {
        tell(task)
        this.#waits.awaitAnswer(run)
        const answered = new Promise<void>((resolve) => (task.onAnswer = resolve))
        await Promise.race([answered, run.ended()])
        this.#waits.stopWaiting(run)
        // Questions that were just answered leave the list first.
        await new Promise(setImmediate)
      }
    }
    this.#waits.delete(run)
  }

  /** Drops an ended task if too many are kept: one whose result its client has, else the one that ended first. */
  #makeRoom(): void {
    if (this.#tasks.size < MAX_TASKS) return
    const ended = [...this.#tasks].filter(([, { result }]) => result)
    const [id, task] = ended.find(([, { isFetched, isCancelled }]) => isFetched || isCancelled) ?? ended[0] ?? []
    if (id !== undefined) this.#drop(id, task!)
  }

  #drop(id: string, { timer }: Task): void {
    clearTimeout(timer)
    this.#tasks.delete(id)
  }

  /** The results that ended first make room. */
  #keep(id: string, task: Task, result: CallToolResult): void {
    task.result = result
    task.resultChars = JSON.stringify(result).length
    // In the order in which they ended.
    this.#tasks.delete(id)
    this.#tasks.set(id, task)
    let chars = 0
    for (const [kept, other] of [...this.#tasks].toReversed()) {
      const { resultChars = 0 } = other
      chars += resultChars
      if (resultChars > 0 && chars > MAX_RESULT_CHARS) this.#drop(kept, other)
    }
  }

  #find(id: string): Task {
    const task = this.#tasks.get(id)
    if (task) return task
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown or expired task')
  }

  /** A cell that is still running keeps its task. */
  #expireLater(id: string, task: Task): void {
    const expire = (): void => (task.result ? this.#drop(id, task) : this.#expireLater(id, task))
    task.timer = setTimeout(expire, TTL_MS).unref()
  }
}

function fetched(task: Task): void {
  if (!task.isFetched) task.run.onFetched?.()
  task.isFetched = true
}

function tell({ onEvent }: Task): void {
  for (const wake of onEvent) wake()
}

function stateOf(taskId: string, { run, result, isCancelled, createdAt, changedAt }: Task) {
  const isAsked = Object.keys(run.openQuestions).length > 0
  const status = isCancelled ? 'cancelled' : result ? 'completed' : isAsked ? 'input_required' : 'working'
  return {
    taskId,
    status,
    createdAt: createdAt.toISOString(),
    lastUpdatedAt: changedAt.toISOString(),
    ttlMs: TTL_MS,
    pollIntervalMs: POLL_MS,
  }
}

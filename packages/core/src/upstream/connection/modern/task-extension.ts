// Calls that a server of 2026-07-28 answers with a task (io.modelcontextprotocol/tasks, SEP-2663), which it may do for
// any call: polls until the task ends. The client package does not support it.
import { BridgeError } from '../../../errors.ts'
import { pollDelay } from '../legacy/tasks.ts'
import { fieldsOf, isRecord } from '../../../util/json/json.ts'
import type { LooseResult } from '../sdk.ts'
import type { CallOptions } from '../../upstream.ts'

/** What the client declares under `extensions`. */
export const TASKS_EXTENSION = { 'io.modelcontextprotocol/tasks': {} }

/** JSON-RPC code for a task without a result, when the server sends none. */
const TASK_ENDED = -32_000

export interface TaskOptions extends Pick<CallOptions, 'onProgress'> {
  signal?: AbortSignal
  server: string
  /** Sends a request. @throws what the request throws */
  request: (method: string, params: Record<string, unknown>, signal?: AbortSignal) => Promise<LooseResult>
  /** Answers a request of the task. @throws Error when no client can */
  answer: (method: string, params: Record<string, unknown>, signal: AbortSignal) => Promise<Record<string, unknown>>
}

/** Whether this is a task handle instead of a tool's result. */
export function isTaskHandle(result: LooseResult): boolean {
  return result['resultType'] === 'task'
}

/**
 * @param handle the server's response to the call
 * @returns the tool's result
 * @throws Error with a JSON-RPC code when the task failed or was cancelled, BridgeError UPSTREAM_PROTOCOL, or what
 * `request` throws. Cancels the task at the server when it stops waiting before the task has ended.
 */
export async function awaitTask(handle: LooseResult, options: TaskOptions): Promise<LooseResult> {
  const { taskId } = handle
  if (typeof taskId !== 'string') throw invalidResponse(options.server, 'the response has no task id')
  const progress = progressOf(options.onProgress)
  const answered = new Set<string>()
  let task = handle
  try {
    for (;;) {
      progress(task['statusMessage'])
      // The handle itself never carries a result, whatever its status.
      if (task !== handle) {
        const result = resultOf(task, options.server)
        if (result) return result
        await answerRequests(task, answered, options)
      }
      await pollDelay(task['pollIntervalMs'], options.signal)
      task = await options.request('tasks/get', { taskId }, options.signal)
    }
  } catch (error) {
    // Fails for a task that has already ended.
    await options.request('tasks/cancel', { taskId }).catch(() => {})
    throw error
  }
}

/** Undefined while the task is running. */
function resultOf({ status, statusMessage, result, error }: LooseResult, server: string): LooseResult | undefined {
  if (status === 'working' || status === 'input_required') return undefined
  if (status === 'completed' && isRecord(result)) return result
  if (status === 'failed' || status === 'cancelled') {
    const { code, message = statusMessage, data } = fieldsOf(error)
    const words = typeof message === 'string' && message !== '' ? message : `the task has ${status}`
    throw Object.assign(new Error(status === 'cancelled' ? `the task was cancelled: ${words}` : words), {
      code: typeof code === 'number' ? code : TASK_ENDED,
      data,
    })
  }
  throw invalidResponse(server, 'the task has no valid status or result')
}

/** Answers new requests only: a request stays in the list until the server has processed its answer. */
async function answerRequests(
  { taskId, inputRequests }: LooseResult,
  answered: Set<string>,
  { request, answer, signal = new AbortController().signal }: TaskOptions,
): Promise<void> {
  if (!isRecord(inputRequests)) return
  for (const [key, asked] of Object.entries(inputRequests)) {
    if (answered.has(key) || !isRecord(asked)) continue
    answered.add(key)
    const { method, params } = asked
    const response = await answer(String(method), fieldsOf(params), signal)
    await request('tasks/update', { taskId, inputResponses: { [key]: response } }, signal)
  }
}

/** Tasks send no progress; their status messages are reported instead. */
function progressOf(onProgress: CallOptions['onProgress']): (message: unknown) => void {
  let last: unknown
  let progress = 0
  return (message) => {
    if (message === last || typeof message !== 'string') return
    last = message
    progress += 1
    onProgress?.({ progress, message })
  }
}

function invalidResponse(server: string, reason: string): BridgeError {
  return new BridgeError('UPSTREAM_PROTOCOL', `Server '${server}' returned an invalid task: ${reason}`)
}

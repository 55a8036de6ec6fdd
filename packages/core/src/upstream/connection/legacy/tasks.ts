// Tools that run only as a task (2025-11-25, tasks), sent manually: the client package no longer supports them.
import { setTimeout } from 'node:timers/promises'
import { BridgeError } from '../../../errors.ts'
import type { TaskRequest } from '../revision.ts'
import type { LooseResult } from '../sdk.ts'

/** How long the server should keep a finished task's result. */
const KEEP_MS = 60 * 60_000
/** Wait between two polls of a task. */
const POLL_MS = 1000
const MIN_POLL_MS = 50
const MAX_POLL_MS = 30_000

/**
 * @param params of the `tools/call`
 * @throws BridgeError, or what `request` throws. When `signal` is aborted the task is cancelled at the server.
 */
export async function runAsTask(
  request: TaskRequest,
  server: string,
  params: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<LooseResult> {
  let task = taskOf(server, (await request('tools/call', { ...params, task: { ttl: KEEP_MS } }, signal)).task)
  const { taskId } = task
  try {
    while (task.status === 'working' || task.status === 'submitted') {
      await pollDelay(task.pollInterval, signal)
      task = taskOf(server, await request('tasks/get', { taskId }, signal))
    }
    // For a failed task this returns its error. A task that needs input sends its request meanwhile.
    return await request('tasks/result', { taskId }, signal)
  } catch (error) {
    if (signal?.aborted) await request('tasks/cancel', { taskId }).catch(() => {})
    throw error
  }
}

interface Task {
  taskId: string
  status: string
  pollInterval: unknown
}

function taskOf(server: string, value: unknown): Task {
  const { taskId, status, pollInterval } = (value ?? {}) as Partial<Task>
  if (typeof taskId === 'string' && typeof status === 'string') return { taskId, status, pollInterval }
  throw new BridgeError('UPSTREAM_PROTOCOL', `Server '${server}' returned an invalid task: the response has no task id`)
}

/** @param interval the server's suggestion in milliseconds, unchecked. @throws Error as soon as `signal` is aborted */
export function pollDelay(interval: unknown, signal: AbortSignal | undefined): Promise<void> {
  const ms = typeof interval === 'number' ? Math.min(Math.max(interval, MIN_POLL_MS), MAX_POLL_MS) : POLL_MS
  return setTimeout(ms, undefined, signal && { signal })
}

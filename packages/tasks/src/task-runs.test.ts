// This file verifies that what tasks keep for their clients is bounded.
import type { CallToolResult } from '@modelcontextprotocol/server'
import { expect, it, vi } from 'vitest'
import { OpenRun } from '../../core/src/serve/mcp/runs/open-run.ts'
import { OpenRuns } from '@sandbridge/core/serve/mcp'
import { TaskRuns } from './task-runs.ts'

/** A task whose cell has shown an image of this size. */
async function ended(runs: TaskRuns, chars: number): Promise<string> {
  const run = new OpenRun({})
  const content = [{ type: 'image' as const, mimeType: 'image/png', data: 'A'.repeat(chars) }]
  run.start(Promise.resolve<CallToolResult>({ content }))
  const { taskId } = runs.add(run) as unknown as { taskId: string }
  await run.ended()
  await new Promise(setImmediate)
  return taskId
}

it('small results of tasks are all kept', async () => {
  const runs = new TaskRuns(new OpenRuns())
  const ids: string[] = []
  for (let count = 0; count < 64; count += 1) ids.push(await ended(runs, 1_000))
  for (const id of ids) expect(runs.stateOf(id)).toMatchObject({ status: 'completed' })
  expect(runs.hasRoom).toBe(true)
})

it('a task that its client has fetched makes room first, then the one that ended first', async () => {
  const runs = new TaskRuns(new OpenRuns())
  const ids: string[] = []
  for (let count = 0; count < 64; count += 1) ids.push(await ended(runs, 1_000))
  runs.get(ids[5]!)
  const dropped = () => ids.map((id, at) => (runs.has(id) ? [] : at)).flat()
  await ended(runs, 1_000)
  expect(dropped()).toEqual([5])
  await ended(runs, 1_000)
  expect(dropped()).toEqual([0, 5])
})

it('a cancelled task stays cancelled while its cell goes on, and whoever waits for its result is told', async () => {
  const runs = new TaskRuns(new OpenRuns())
  const run = new OpenRun({})
  let end = (): void => {}
  run.start(new Promise((resolve) => (end = () => resolve({ content: [] }))))
  const id = runs.open(run)
  const result = runs.resultOf(id, new AbortController().signal, () => Promise.resolve({}))
  const told = expect(result).rejects.toThrow('The task was cancelled')
  runs.cancel(id)
  await told
  const cancelled = runs.get(id)
  expect(cancelled).toMatchObject({ status: 'cancelled' })
  end()
  await run.ended()
  await new Promise(setImmediate)
  expect(runs.get(id)).toEqual(cancelled)
})

it('a task is unfetched until its client has its result, for a minute after its end at most', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const runs = new TaskRuns(new OpenRuns())
  const running = new OpenRun({})
  running.start(new Promise(() => {}))
  const id = runs.open(running)
  const [first, second] = [await ended(runs, 1_000), await ended(runs, 1_000)]
  expect(runs.unfetchedCount).toBe(3)
  runs.stateOf(first)
  expect(runs.unfetchedCount).toBe(3)
  runs.get(first)
  await runs.resultOf(second, new AbortController().signal, () => Promise.resolve({}))
  expect(runs.unfetchedCount).toBe(1)
  runs.cancel(id)
  await ended(runs, 1_000)
  expect(runs.unfetchedCount).toBe(1)
  vi.setSystemTime(Date.now() + 61_000)
  expect(runs.unfetchedCount).toBe(0)
})

it('tasks that run make no room for another', () => {
  const runs = new TaskRuns(new OpenRuns())
  const ids: string[] = []
  for (let count = 0; count < 64; count += 1) {
    const run = new OpenRun({})
    run.start(new Promise(() => {}))
    expect(runs.hasRoom).toBe(true)
    ids.push(runs.open(run))
  }
  expect(runs.hasRoom).toBe(false)
  for (const id of ids) expect(runs.stateOf(id)).toMatchObject({ status: 'working' })
})

it('large results of tasks make room for later ones, and the last one stays', async () => {
  const runs = new TaskRuns(new OpenRuns())
  const ids: string[] = []
  for (let count = 0; count < 8; count += 1) ids.push(await ended(runs, 20_000_000))
  for (const id of ids.slice(0, 5)) expect(() => runs.get(id)).toThrow('Unknown or expired task')
  for (const id of ids.slice(-3)) expect(runs.get(id)).toMatchObject({ status: 'completed' })
})

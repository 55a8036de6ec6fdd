// This file verifies that what tasks keep for their clients is bounded.
import type { CallToolResult } from '@modelcontextprotocol/server'
import { expect, it, vi } from 'vitest'
import { OpenRun } from './open-run.ts'
import { OpenRuns } from './open-runs.ts'

const EXTENSION = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

/** A task whose cell has shown an image of this size. */
async function ended(runs: OpenRuns, chars: number): Promise<string> {
  const run = new OpenRun({})
  const content = [{ type: 'image' as const, mimeType: 'image/png', data: 'A'.repeat(chars) }]
  run.start(Promise.resolve<CallToolResult>({ content }))
  const { taskId } = runs.tasks.add(run) as unknown as { taskId: string }
  await run.ended()
  await new Promise(setImmediate)
  return taskId
}

it('small results of tasks are all kept', async () => {
  const runs = new OpenRuns()
  const ids: string[] = []
  for (let count = 0; count < 64; count += 1) ids.push(await ended(runs, 1_000))
  for (const id of ids) expect(runs.tasks.stateOf(id)).toMatchObject({ status: 'completed' })
  expect(runs.tasks.serves(EXTENSION)).toBe(true)
})

it('a task that its client has fetched makes room first, then the one that ended first', async () => {
  const runs = new OpenRuns()
  const ids: string[] = []
  for (let count = 0; count < 64; count += 1) ids.push(await ended(runs, 1_000))
  runs.tasks.get(ids[5]!)
  const dropped = () => ids.map((id, at) => (runs.tasks.has(id) ? [] : at)).flat()
  await ended(runs, 1_000)
  expect(dropped()).toEqual([5])
  await ended(runs, 1_000)
  expect(dropped()).toEqual([0, 5])
})

it('a cancelled task stays cancelled while its cell goes on, and whoever waits for its result is told', async () => {
  const runs = new OpenRuns()
  const run = new OpenRun({})
  let end = (): void => {}
  run.start(new Promise((resolve) => (end = () => resolve({ content: [] }))))
  const id = runs.tasks.open(run)
  const result = runs.tasks.resultOf(id, new AbortController().signal, () => Promise.resolve({}))
  const told = expect(result).rejects.toThrow('The task was cancelled')
  runs.tasks.cancel(id)
  await told
  const cancelled = runs.tasks.get(id)
  expect(cancelled).toMatchObject({ status: 'cancelled' })
  end()
  await run.ended()
  await new Promise(setImmediate)
  expect(runs.tasks.get(id)).toEqual(cancelled)
})

it('a task is unfetched until its client has its result, for a minute after its end at most', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const runs = new OpenRuns()
  const running = new OpenRun({})
  running.start(new Promise(() => {}))
  const id = runs.tasks.open(running)
  const [first, second] = [await ended(runs, 1_000), await ended(runs, 1_000)]
  expect(runs.tasks.unfetchedCount).toBe(3)
  runs.tasks.stateOf(first)
  expect(runs.tasks.unfetchedCount).toBe(3)
  runs.tasks.get(first)
  await runs.tasks.resultOf(second, new AbortController().signal, () => Promise.resolve({}))
  expect(runs.tasks.unfetchedCount).toBe(1)
  runs.tasks.cancel(id)
  await ended(runs, 1_000)
  expect(runs.tasks.unfetchedCount).toBe(1)
  vi.setSystemTime(Date.now() + 61_000)
  expect(runs.tasks.unfetchedCount).toBe(0)
})

it('tasks that run make no room for another', () => {
  const runs = new OpenRuns()
  const ids: string[] = []
  for (let count = 0; count < 64; count += 1) {
    const run = new OpenRun({})
    run.start(new Promise(() => {}))
    expect(runs.tasks.serves(EXTENSION)).toBe(true)
    ids.push(runs.tasks.open(run))
  }
  expect(runs.tasks.serves(EXTENSION)).toBe(false)
  for (const id of ids) expect(runs.tasks.stateOf(id)).toMatchObject({ status: 'working' })
})

it('large results of tasks make room for later ones, and the last one stays', async () => {
  const runs = new OpenRuns()
  const ids: string[] = []
  for (let count = 0; count < 8; count += 1) ids.push(await ended(runs, 20_000_000))
  for (const id of ids.slice(0, 5)) expect(() => runs.tasks.get(id)).toThrow('Unknown or expired task')
  for (const id of ids.slice(-3)) expect(runs.tasks.get(id)).toMatchObject({ status: 'completed' })
})

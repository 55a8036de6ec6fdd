// This file verifies calls whose client has to come back with an answer: when it does, and when it does not.
import { beforeEach, expect, it, vi } from 'vitest'
import { OpenRuns } from './open-runs.ts'

const never = new Promise<never>(() => {})

beforeEach(() => void vi.useFakeTimers())

function startRun(runs: OpenRuns) {
  const run = runs.add({})
  run.start(never)
  return run
}

it('a client that comes back in time finds its run; each question starts the time anew', async () => {
  const runs = new OpenRuns(1_000)
  const run = startRun(runs)
  for (let round = 0; round < 3; round += 1) {
    runs.awaitAnswer(run)
    await vi.advanceTimersByTimeAsync(999)
    expect(runs.resume(`${run.id}.${round}`)).toBe(run)
  }
  await vi.advanceTimersByTimeAsync(10_000)
  expect(run.signal.aborted).toBe(false)
})

it('a client that does not come back in time has its cell interrupted, and cannot come back later', async () => {
  const runs = new OpenRuns(1_000)
  const run = startRun(runs)
  runs.awaitAnswer(run)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(run.signal.aborted).toBe(true)
  expect(() => runs.resume(run.id)).toThrow(/has ended/)
})

it('a finished run, or one whose name is guessed, cannot be reached', () => {
  const runs = new OpenRuns()
  const run = startRun(runs)
  runs.delete(run)
  for (const id of [run.id, `${run.id}.1`, '', 'nonsense', '__proto__'])
    expect(() => runs.resume(id)).toThrow(/has ended/)
})

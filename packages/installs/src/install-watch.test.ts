import { appendFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { InstallWatch } from './install-watch.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const LIMITS = { timeoutMs: 1, firstMs: 100, quietMs: 300, maxMs: 60_000, lookMs: 20 }

let folder: string
beforeEach(() => {
  folder = newFolder()
})

function watch(newOutput = () => '', limits = LIMITS) {
  const state = { isExpired: false, told: 0 }
  const watching = new InstallWatch(
    [{ folder, depth: 1 }],
    { pid: undefined, newOutput },
    limits,
    () => (state.told += 1),
  )
  void watching.expired.then(() => (state.isExpired = true))
  onTestFinished(() => watching.stop())
  return { watching, state }
}

/** The clock of the test goes on only when it says so. */
function stopClock(): (ms: number) => void {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  return (ms) => void (now += ms)
}

it('an installation goes on while its folders grow, and has ended when they stop', async () => {
  const pass = stopClock()
  const { watching, state } = watch()
  for (let at = 0; at < 5; at += 1) {
    const { told } = state
    pass(90)
    // A look may have begun before.
    await expect
      .poll(() => (appendFileSync(path.join(folder, 'package'), 'more'), state.told))
      .toBeGreaterThan(told + 1)
  }
  expect(state.isExpired).toBe(false)
  expect([watching.hasGrown, watching.goesOn]).toEqual([true, true])
  await expect.poll(() => (pass(300), state.isExpired)).toBe(true)
  expect(watching.goesOn).toBe(false)
})

it('a start without a sign ends in time, although its server writes to stderr', async () => {
  const { watching } = watch(() => 'still loading\n')
  await watching.expired
  expect(watching.hasGrown).toBe(false)
})

it('the output of a package manager is a sign', async () => {
  const pass = stopClock()
  let looks = 0
  const { watching, state } = watch(() => `Downloading numpy (${(looks += 1)} MiB)\n`)
  for (let at = 0; at < 5; at += 1) {
    const seen = looks
    pass(90)
    await expect.poll(() => looks).toBeGreaterThan(seen + 1)
  }
  expect(state.isExpired).toBe(false)
  expect(watching.goesOn).toBe(true)
})

it('an installation that never stops ends at its limit', async () => {
  const { watching } = watch(() => 'npm warn again\n', { ...LIMITS, quietMs: 60_000, maxMs: 200 })
  await watching.expired
  expect(watching.goesOn).toBe(true)
})

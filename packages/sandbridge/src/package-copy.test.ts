import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { keep } from './package-copy.ts'

it('a process keeps the copy that it runs from, and removes those that no process has used for a day', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-copies-'))
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
  onTestFinished(() => {
    vi.useRealTimers()
    rmSync(folder, { recursive: true, force: true })
  })
  // The computer slept: no process could say that it uses its own.
  const dayBefore = new Date(Date.now() - 25 * 3_600_000)
  for (const name of ['own', 'of-another', 'unused', 'new']) {
    mkdirSync(path.join(folder, name))
    if (name !== 'new') utimesSync(path.join(folder, name), dayBefore, dayBefore)
  }
  keep(path.join(folder, 'own'))
  keep(path.join(folder, 'of-another'))
  vi.advanceTimersByTime(120_000)
  expect(readdirSync(folder)).toHaveLength(4)
  vi.advanceTimersByTime(60_000)
  expect(readdirSync(folder).toSorted()).toEqual(['new', 'of-another', 'own'])
})

import { mkdirSync, readdirSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { keep } from './package-copy.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('a process keeps the copy that it runs from, and removes those that no process has used for a day', () => {
  const folder = newFolder()
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
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

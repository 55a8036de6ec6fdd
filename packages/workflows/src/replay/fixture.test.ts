import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fileStore } from '../../../core/src/keep/files/file-store.ts'
import { FixtureFile } from './fixture.ts'

it('damaged replies are reported as damaged, and can be recorded again', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'replies-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const replies = new FixtureFile(fileStore(folder), 'report')
  expect(await replies.read()).toBeUndefined()
  mkdirSync(path.join(folder, 'workflows/report'), { recursive: true })
  writeFileSync(path.join(folder, 'workflows/report/replies.json'), '{"version": 1, "args"')
  await expect(replies.read()).rejects.toMatchObject({ code: 'STATE_DAMAGED', hint: /--record/ })
  await replies.write({ version: 1, args: {}, calls: [] })
  expect(await replies.read()).toEqual({ version: 1, args: {}, calls: [] })
})

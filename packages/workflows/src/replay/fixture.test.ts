import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { FixtureFile } from './fixture.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('damaged replies are reported as damaged, and can be recorded again', async () => {
  const folder = newFolder()
  const replies = new FixtureFile(fileStore(folder), 'report')
  expect(await replies.read()).toBeUndefined()
  mkdirSync(path.join(folder, 'workflows/report'), { recursive: true })
  writeFileSync(path.join(folder, 'workflows/report/replies.json'), '{"version": 1, "args"')
  await expect(replies.read()).rejects.toMatchObject({ code: 'STATE_DAMAGED', hint: /--record/ })
  await replies.write({ version: 1, args: {}, calls: [] })
  expect(await replies.read()).toEqual({ version: 1, args: {}, calls: [] })
})

import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { residentLogWriter } from './resident-log.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('the log keeps its newest lines within twice its limit', () => {
  const folder = newFolder()
  const file = path.join(folder, 'resident.log')
  const write = residentLogWriter(file, 10_000)
  for (let count = 0; count < 5_000; count += 1) write(`line ${count}\n`)
  expect(readdirSync(folder).toSorted()).toEqual(['resident.log', 'resident.log.1'])
  const sizes = readdirSync(folder).map((name) => statSync(path.join(folder, name)).size)
  // Two hundred lines pass between two looks.
  for (const size of sizes) expect(size).toBeLessThan(10_000 + 200 * 12)
})

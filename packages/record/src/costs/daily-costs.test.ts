import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { addDailyCosts, readDailyCosts } from './daily-costs.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const store = (folder: string) => fileStore(path.join(folder, '.sandbridge'))
const cost = (n: number) => ({ conversations: n, returned: n, called: n, listed: n })

it('daily costs add up what several bridges add at once', async () => {
  const folder = newFolder()
  await Promise.all([1, 2, 3].map((n) => addDailyCosts(store(folder), new Map([['2026-11-22', cost(n)]]))))
  expect([...(await readDailyCosts(store(folder)))]).toEqual([['2026-11-22', cost(6)]])
})

it('daily costs keep the newest 400 days', async () => {
  const folder = newFolder()
  const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10)
  await addDailyCosts(store(folder), new Map(Array.from({ length: 405 }, (_, n) => [day(n), cost(n)])))
  const days = await readDailyCosts(store(folder))
  expect(days.size).toBe(400)
  expect(days.has(day(404))).toBe(true)
  expect(days.has(day(4))).toBe(false)
})

it.each(['', '[]', '{"2026-11-22": {"conversations": -1, "returned": 0, "listed": 0}}', '{"a": {}}'])(
  'daily costs start over after a file that holds %s',
  async (text) => {
    const folder = newFolder()
    await addDailyCosts(store(folder), new Map([['2026-11-21', cost(1)]]))
    const file = path.join(folder, '.sandbridge/daily-costs.json')
    expect(await readFile(file, 'utf8')).toContain('2026-11-21')
    await writeFile(file, text)
    expect((await readDailyCosts(store(folder))).size).toBe(0)
    await addDailyCosts(store(folder), new Map([['2026-11-22', cost(2)]]))
    expect([...(await readDailyCosts(store(folder)))]).toEqual([['2026-11-22', cost(2)]])
  },
)

// This file verifies what a journal keeps in memory and on the disk, for how long, and who can read it.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import type { JournaledCall } from '@sandbridge/core/parts'
import { collectGarbage } from '@sandbridge/core/test/support/suite/collect-garbage.ts'
import { CatalogTool } from '../../core/src/calls/catalog/model/catalog-tool.ts'
import { fileStore } from '../../core/src/util/stores/open-stores.ts'
import type { Vault } from '@sandbridge/core/upstream/auth'
import { SILENT } from '../../core/src/util/log.ts'
import { type Attempt, DAY_MS, Journal } from './journal.ts'
import { JournalLog, readLog } from './journal-log.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const MB = 1 << 20
const send = new CatalogTool('mail', 'mail', 'send', { name: 'send' })

let folder: string
beforeEach(() => {
  folder = newFolder()
})

function place(vault?: Vault, name = 'log') {
  return { logs: fileStore(folder).logs('once'), name, vault, log: SILENT }
}
const file = () => path.join(folder, 'once', readdirSync(path.join(folder, 'once'))[0]!)
const onDisk = () => readFileSync(file(), 'utf8')
/** What it seals opens with its key at its place only. */
const keychain = (key: string): Vault => ({
  seal: (text, at) => Promise.resolve(Buffer.from(JSON.stringify([key, at, text])).toString('base64')),
  open: (sealed, at) => {
    const [sealedWith, sealedAt, text] = JSON.parse(Buffer.from(sealed, 'base64').toString()) as [
      string,
      string,
      string,
    ]
    return Promise.resolve(sealedWith === key && sealedAt === at ? text : undefined)
  },
})
const open = (vault?: Vault) => new Journal(new JournalLog(place(vault), {}))
const textResult = (text: string) => ({ content: [{ type: 'text', text }] })

async function enter(cell: Attempt, text: string): Promise<JournaledCall> {
  const made = { tool: send, args: { text }, isAgain: false, definition: () => undefined, reading: () => [] }
  return (await cell.enter(made))!
}

/** One call, sent and answered. */
async function call(cell: Attempt, text: string, answer = `did ${text}`): Promise<void> {
  const entered = await enter(cell, text)
  expect(entered.answer).toBe(undefined)
  void entered.sent()
  void entered.ended(textResult(answer))
}

/** The result of the cell is lost. @returns the next one */
function lose(journal: Journal, cell: Attempt): Attempt {
  cell.ended(false)
  cell.delivered(false)
  return journal.begin()
}

it('a journal on the disk is private, has no arguments, and seals answers where there is a key', async () => {
  const journal = open(keychain('ab'))
  await call(journal.begin(), 'the argument', 'the answer')
  await journal.log.flush()
  expect(onDisk()).not.toMatch(/the argument|the answer/)
  if (process.platform !== 'win32') expect(statSync(file()).mode & 0o777).toBe(0o600)
  const found = await readLog(place(keychain('ab')))
  expect(found.entries.map(({ name, answer }) => [name, answer])).toEqual([['mail.send', textResult('the answer')]])
  // A bridge that has another key, or none, says that the answer is not there.
  for (const vault of [keychain('cd'), undefined]) {
    const other = new Journal(new JournalLog(place(vault, 'other'), {}))
    other.take((await readLog(place(vault))).entries)
    await expect(enter(other.begin(), 'the argument')).rejects.toThrow('its answer was not kept')
    await other.log.close(false)
  }
  // Control: without a key, it is readable.
  await journal.log.close(false)
  const plain = open()
  await call(plain.begin(), 'the argument', 'the answer')
  await plain.log.flush()
  expect(onDisk()).toContain('the answer')
  expect(onDisk()).not.toContain('the argument')
  await plain.log.close(true)
})

it('a journal keeps half a megabyte of answers in memory, finds the others in its log, and drops those beyond 16 MB', async () => {
  const journal = open()
  const cell = journal.begin()
  const long = 'x'.repeat(20_000)
  const sizes = [...Array<number>(100).fill(20_000), 3 * MB, 3 * MB, 3 * MB, 3 * MB, 3 * MB]
  for (const [at, size] of sizes.entries()) await call(cell, String(at), long.repeat(size / long.length))
  await journal.log.flush()
  const held = [...journal.entries()].reduce((sum, { answer }) => sum + JSON.stringify(answer ?? '').length, 0)
  expect(held).toBeGreaterThan(400_000)
  expect(held).toBeLessThan(600_000)
  expect(statSync(file()).size).toBeLessThan(17 * MB)
  const again = lose(journal, cell)
  for (const at of [0, 99, 102]) {
    const { answer } = await enter(again, String(at))
    expect((answer!.content as { text: string }[])[0]!.text).toHaveLength(Math.floor(sizes[at]! / 20_000) * 20_000)
  }
  await expect(enter(again, '104')).rejects.toMatchObject({
    code: 'OUTCOME_UNKNOWN',
    message: expect.stringContaining('its answer was not kept'),
  })
  await journal.log.close(false)
})

it('a cell of more calls than fit is told that the outcome of the others is unknown', async () => {
  const journal = open()
  const cell = journal.begin()
  for (let at = 0; at < 3_200; at += 1) await call(cell, String(at))
  expect([...journal.entries()]).toHaveLength(3_000)
  const again = lose(journal, cell)
  expect((await enter(again, '2999')).answer).toEqual(textResult('did 2999'))
  await expect(enter(again, '3100')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  again.ended(true)
  again.delivered(true)
  await call(journal.begin(), '3100')
  await journal.log.close(false)
})

it('a call that goes on beside another one is held when the result of that one was delivered', async () => {
  const journal = open()
  const [slow, quick] = [journal.begin(), journal.begin()]
  await call(slow, 'slow')
  await call(quick, 'quick')
  quick.ended(true)
  quick.delivered(true)
  const again = lose(journal, slow)
  expect((await enter(again, 'slow')).answer).toBeDefined()
  await call(again, 'quick')
  again.ended(true)
  again.delivered(true)
  expect(journal.isEmpty).toBe(true)
  await journal.log.close(false)
})

it('a cell of six thousand calls takes two megabytes, and its log no more than those that are held', async () => {
  const cells: Attempt[] = []
  const journals = Array.from({ length: 4 }, (_, at) => new Journal(new JournalLog(place(undefined, String(at)), {})))
  const fill = async (journal: Journal) => {
    const cell = journal.begin()
    cells.push(cell)
    for (let at = 0; at < 6_000; at += 1) await call(cell, `${at}${'x'.repeat(300)}`)
    await journal.log.flush()
  }
  await fill(journals[0]!)
  await collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (const journal of journals.slice(1)) await fill(journal)
  await collectGarbage()
  expect((process.memoryUsage().heapUsed - before) / 3).toBeLessThan(2 * MB)
  const { entries, isFull } = await readLog(place(undefined, '1'))
  expect([entries.length, isFull]).toEqual([3_000, true])
  await Promise.all(journals.map((journal) => journal.log.close(false)))
})

it.each([
  ['set back', -60_000],
  ['set back by a week', -7 * DAY_MS],
])('a clock that is %s makes no call be held for longer than a day', async (_, by) => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const journal = open()
    const cell = journal.begin()
    await call(cell, 'one')
    vi.setSystemTime(Date.now() + by)
    const again = lose(journal, cell)
    const isHeld = -by < DAY_MS
    expect((await enter(again, 'one')).answer !== undefined).toBe(isHeld)
    vi.setSystemTime(Date.now() - by + DAY_MS + 2_000)
    if (isHeld) await call(lose(journal, again), 'one')
    await journal.log.close(false)
  } finally {
    vi.useRealTimers()
  }
})

it('a log that was edited gives no answer of another call, and none that is no result', async () => {
  const journal = open(keychain('ab'))
  const cell = journal.begin()
  for (const text of ['one', 'two']) await call(cell, text)
  await journal.log.flush()
  const lines = onDisk()
    .split('\n')
    .slice(1, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const one = lines.find(({ e }) => e !== undefined)!
  const two = lines.findLast(({ k, e }) => e !== undefined && k !== one['k'])!
  const forged = [
    { ...one, e: two['e'] },
    ...[5, 'text', null, [], { content: 'text' }, { content: [5] }].map((r, n) => ({ ...two, n, r, e: undefined })),
    { ...two, n: -1 },
    { ...two, n: 1e9, at: 1e300 },
    { ...two, k: '__proto__' },
  ]
  writeFileSync(file(), forged.map((line) => JSON.stringify(line)).join('\n') + '\n5\nnull\n[]\n{"k":1}\n{"k')
  const other = new Journal(new JournalLog(place(keychain('ab'), 'other'), {}))
  other.take((await readLog(place(keychain('ab')))).entries)
  const again = other.begin()
  await expect(enter(again, 'one')).rejects.toThrow('its answer was not kept')
  for (let n = 0; n < 6; n += 1) await expect(enter(again, 'two')).rejects.toThrow('its answer was not kept')
  await Promise.all([journal, other].map(({ log }) => log.close(false)))
})

it('a call is held for a day', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const journal = open()
    const cell = journal.begin()
    await call(cell, 'one')
    const again = lose(journal, cell)
    vi.setSystemTime(Date.now() + DAY_MS - 1_000)
    expect((await enter(again, 'one')).answer).toBeDefined()
    vi.setSystemTime(Date.now() + 2_000)
    await call(lose(journal, again), 'one')
    await journal.log.close(false)
  } finally {
    vi.useRealTimers()
  }
})

it('what was delivered leaves the disk, and so does a log that another bridge has removed come back', async () => {
  const journal = open()
  for (let round = 0; round < 3; round += 1) {
    const cell = journal.begin()
    await call(cell, 'large', 'x'.repeat(2 * MB))
    await journal.log.flush()
    cell.ended(true)
    cell.delivered(true)
    await journal.log.flush()
  }
  expect(readdirSync(path.join(folder, 'once'))).toEqual([])
  await call(journal.begin(), 'before')
  await journal.log.flush()
  rmSync(file())
  await call(journal.begin(), 'after')
  await journal.log.flush()
  expect((await readLog(place())).entries).toHaveLength(1)
  await journal.log.close(false)
})

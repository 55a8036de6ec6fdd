import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { OpenTenant } from '@sandbridge/core/bridge'
import { CatalogTool } from '../../../core/src/calls/catalog/model/catalog-tool.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { SILENT } from '../../../core/src/util/log.ts'
import type { Decide } from '@sandbridge/once/entry.ts'
import { type EarlierRun, findResumable, newestOf, resultOf, type RunJournal, RunJournals } from './run-journal.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

let folder: string
let made: unknown[]
/** Of runs that are killed: their files are closed after the test. */
let killed: { end: () => void; run: Promise<unknown> }[]
beforeEach(() => {
  folder = newFolder()
  made = []
  killed = []
  return async () => {
    for (const { end } of killed) end()
    await Promise.allSettled(killed.map((one) => one.run))
  }
})

const journals = () => {
  const settings = { signInKey: 'none' } as unknown as OpenTenant['settings']
  const stores = { of: () => fileStore(folder), isShared: false, close: () => Promise.resolve() }
  return new RunJournals({ stores, settings, log: SILENT }, 'report')
}
const home = () => path.join(folder, 'workflows/report')
const files = () => readdirSync(home()).map((name) => path.join(home(), name))
const WAIT = 60_000
const GONE = 4_194_305
const tool = new CatalogTool('ledger', 'ledger', 'add', { name: 'add' })

let endSilent = (): void => {}

/** Calls a server that never answers `silent` the first time. */
async function call({ cell }: RunJournal, text: string): Promise<string> {
  const args = { text }
  const entered = await cell.enter({ tool, args, isAgain: false, definition: () => undefined, reading: () => [] })
  let result = entered!.answer
  if (!result) {
    await entered!.sent()
    made.push(text)
    if (text === 'silent' && made.length === 2)
      return new Promise((_, reject) => (endSilent = () => reject(new Error('killed'))))
    result = { content: [{ type: 'text', text: `did ${text}` }] }
    await entered!.ended(result)
  }
  return (result.content as { text: string }[])[0]!.text
}

async function run(earlier?: EarlierRun, decide?: Decide): Promise<string[]> {
  const own = await (earlier ? journals().resume(earlier, WAIT, decide) : journals().begin(1, {}, WAIT))
  try {
    return [await call(own, 'first'), await call(own, 'silent')]
  } finally {
    // Also a run that succeeds, so that it can be resumed once more.
    await own.fail()
  }
}

/** The processes of all runs are gone. */
function kill(): void {
  for (const file of files()) {
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replaceAll(`"pid":${process.pid}`, `"pid":${GONE}`))
  }
}

/** A run that is killed while its second call is open. */
async function killedRun(): Promise<void> {
  const own = run()
  while (made.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  killed.push({ end: endSilent, run: own })
  kill()
}

const failedRun = async () => newestOf(await journals().earlier())

it('a resumed run fails at a call without an answer, as often as it is resumed without a decision', async () => {
  await killedRun()
  for (let again = 0; again < 2; again += 1)
    await expect(run(await failedRun())).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', hint: /--unanswered again/ })
  expect(made).toEqual(['first', 'silent'])
})

it('a resumed run makes a call without an answer again where that was decided, and no other', async () => {
  await killedRun()
  expect(await run(await failedRun(), () => 'again')).toEqual(['did first', 'did silent'])
  expect(made).toEqual(['first', 'silent', 'silent'])
})

it('a resumed run takes a value as the answer, and keeps it for the next resume', async () => {
  await killedRun()
  const asked: unknown[] = []
  const decide: Decide = (one) => {
    asked.push(one)
    return { result: resultOf({ id: 7 }) }
  }
  expect(await run(await failedRun(), decide)).toEqual(['did first', '{"id":7}'])
  expect(asked).toEqual([{ server: 'ledger', tool: 'add', args: { text: 'silent' } }])
  expect(await run(await failedRun())).toEqual(['did first', '{"id":7}'])
  expect(made).toEqual(['first', 'silent'])
})

it('the line that a killed run was writing does not damage the next one', async () => {
  await killedRun()
  const [file] = files()
  truncateSync(file!, readFileSync(file!).length - 5)
  // The torn line said that the call was sent; without it the call counts as not made.
  expect(await run(await failedRun())).toEqual(['did first', 'did silent'])
  expect(await run(await failedRun())).toEqual(['did first', 'did silent'])
  expect(made).toEqual(['first', 'silent', 'silent'])
})

it('two runs of a workflow at once do not share what they did', async () => {
  const [one, two] = [await journals().begin(1, { week: 1 }, WAIT), await journals().begin(1, { week: 2 }, WAIT)]
  await call(one, 'books of 1')
  await call(two, 'books of 2')
  await call(one, 'the rent')
  kill()
  const left = await journals().earlier()
  expect([1, 2].map((week) => findResumable(left, 1, { week }).entries.length)).toEqual([2, 1])
  await two.end()
  expect((await journals().earlier()).map(({ args }) => args)).toEqual([{ week: 1 }])
  await one.end()
})

it('a run that goes on is not resumed, nor one that is resumed already', async () => {
  const one = await journals().begin(1, { week: 1 }, WAIT)
  const refused = expect.objectContaining({ code: 'STATE_REFUSED', message: expect.stringMatching(/has not ended/) })
  const running = await journals().earlier()
  expect(() => findResumable(running, 1, { week: 1 })).toThrow(refused as Error)
  await one.fail()
  const failed = findResumable(await journals().earlier(), 1, { week: 1 })
  const resumed = await journals().resume(failed, WAIT)
  await expect(journals().resume(failed, WAIT)).rejects.toMatchObject({ code: 'STATE_REFUSED' })
  expect(() => findResumable(running, 1, { week: 2 })).toThrow('There is nothing to resume: the last run ended well')
  await resumed.end()
})

it('a run of another machine counts as failed once it can no longer go on', async () => {
  const own = await journals().begin(1, {}, WAIT)
  const [file] = files()
  const first = JSON.parse(readFileSync(file!, 'utf8')) as { by: object; until: string }
  const since = (until: string) =>
    writeFileSync(file!, `${JSON.stringify({ ...first, by: { ...first.by, host: 'another-machine' }, until })}\n`)
  since(first.until)
  expect((await failedRun())!.owner).toBeDefined()
  since('2026-01-01T00:00:00.000Z')
  expect((await failedRun())!.owner).toBeUndefined()
  await own.end()
})

it('a new run replaces the failed one with its arguments, and few others are kept', async () => {
  const begin = async (week: number) => (await journals().begin(1, { week }, WAIT)).fail()
  await begin(1)
  await begin(1)
  expect(files()).toHaveLength(1)
  const running = await journals().begin(1, { week: 0 }, WAIT)
  for (let week = 2; week < 30; week += 1) await begin(week)
  const left = await journals().earlier()
  expect(left.filter(({ owner }) => owner === undefined)).toHaveLength(20)
  expect(left.filter(({ owner }) => owner !== undefined).map(({ args }) => args)).toEqual([{ week: 0 }])
  await running.end()
})

it('a reply that comes after its run has ended is not kept', async () => {
  const one = await journals().begin(1, {}, WAIT)
  await one.end()
  await call(one, 'late')
  expect(files()).toEqual([])
})

it('a resumed run makes no call again that its journal had no room for', async () => {
  const own = await journals().begin(1, {}, WAIT)
  const entered: Promise<string>[] = []
  for (let at = 0; at < 3_010; at += 1) entered.push(call(own, `number ${at}`))
  await Promise.all(entered)
  await own.fail()
  const resumed = await journals().resume((await failedRun())!, WAIT)
  expect(await call(resumed, 'number 2999')).toBe('did number 2999')
  await expect(call(resumed, 'number 3005')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  expect(made).toHaveLength(3_010)
  await resumed.fail()
})

import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { Catalog } from '../../../core/src/calls/catalog/catalog.ts'
import type { Upstreams } from '../../../core/src/upstream/upstream.ts'
import { type DecideUnanswered, type EarlierRun, findResumable, newestOf, RunJournal } from './run-journal.ts'

let folder: string
let made: unknown[]
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'journal-'))
  made = []
  return () => rmSync(folder, { recursive: true, force: true })
})

const catalog = { findTool: () => Promise.resolve({ definition: {} }) } as unknown as Pick<Catalog, 'findTool'>
const journal = () => new RunJournal(folder, 'report')
const home = () => path.join(folder, '.sandbridge/workflows/report')
const files = () => readdirSync(home()).map((name) => path.join(home(), name))
const WAIT = 60_000
const GONE = 4_194_305

/** A server that never answers `silent`. */
const upstreams = {
  callTool: (_server: string, _tool: string, { text }: { text: string }) => {
    made.push(text)
    if (text === 'silent' && made.length === 2) return new Promise(() => {})
    return Promise.resolve({ content: [{ type: 'text', text: `did ${text}` }] })
  },
} as unknown as Upstreams

async function run(earlier?: EarlierRun, decide?: DecideUnanswered): Promise<unknown[]> {
  const own = journal()
  const resumed = earlier && (await own.resume(earlier, WAIT))
  if (!resumed) await own.begin(1, {}, WAIT)
  try {
    const watched = own.watch(upstreams, catalog, resumed, decide)
    const first = await watched.callTool('ledger', 'add', { text: 'first' })
    const second = await watched.callTool('ledger', 'add', { text: 'silent' })
    return [first, second].map((result) => (result.content as { text: string }[])[0]!.text)
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

/** A run that is killed while its second call is open, and in the middle of a line. */
async function killedRun(): Promise<void> {
  void run()
  while (made.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  kill()
}

const failedRun = async () => newestOf(await journal().earlier())

it('a resumed run fails at a call without an answer, as often as it is resumed without a decision', async () => {
  await killedRun()
  for (let again = 0; again < 2; again += 1)
    await expect(run(await failedRun())).rejects.toMatchObject({
      code: 'CANCELLED',
      hint: /--unanswered again/,
    })
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
  const decide: DecideUnanswered = (call) => {
    asked.push(call)
    return { value: { id: 7 } }
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
  await run(await failedRun(), () => 'again').catch(() => {})
  // The torn line said that the call was sent; without it the call counts as not made, and its answer is kept.
  expect(await run(await failedRun())).toEqual(['did first', 'did silent'])
  expect(made).toEqual(['first', 'silent', 'silent'])
})

const call = (own: RunJournal, text: string) =>
  own.watch(upstreams, catalog).callTool('ledger', 'add', { text }) as Promise<unknown>

it('two runs of a workflow at once do not share what they did', async () => {
  const [one, two] = [journal(), journal()]
  await one.begin(1, { week: 1 }, WAIT)
  await call(one, 'books of 1')
  await two.begin(1, { week: 2 }, WAIT)
  await call(two, 'books of 2')
  await call(one, 'the rent')
  kill()
  const left = await journal().earlier()
  const effectsOf = (week: number) => [...findResumable(left, 1, { week }).effects.keys()].join(' ')
  expect(effectsOf(1)).toMatch(/books of 1.*the rent/)
  expect(effectsOf(2)).toMatch(/books of 2/)
  expect(effectsOf(2)).not.toMatch(/the rent|books of 1/)
  await two.end()
  expect((await journal().earlier()).map(({ args }) => args)).toEqual([{ week: 1 }])
})

it('a run that goes on is not resumed, nor one that is resumed already', async () => {
  const one = journal()
  await one.begin(1, { week: 1 }, WAIT)
  const refused = expect.objectContaining({ code: 'STATE_REFUSED', message: expect.stringMatching(/has not ended/) })
  const running = await journal().earlier()
  expect(() => findResumable(running, 1, { week: 1 })).toThrow(refused as Error)
  await one.fail()
  const failed = findResumable(await journal().earlier(), 1, { week: 1 })
  await journal().resume(failed, WAIT)
  await expect(journal().resume(failed, WAIT)).rejects.toEqual(refused)
  expect(() => findResumable(running, 1, { week: 2 })).toThrow('There is nothing to resume: the last run ended well')
})

it('a run of another machine counts as failed once it can no longer go on', async () => {
  await journal().begin(1, {}, WAIT)
  const [file] = files()
  const first = JSON.parse(readFileSync(file!, 'utf8')) as { by: object; until: string }
  const since = (until: string) =>
    writeFileSync(file!, `${JSON.stringify({ ...first, by: { ...first.by, host: 'another-machine' }, until })}\n`)
  since(first.until)
  expect((await failedRun())!.owner).toBeDefined()
  since('2026-01-01T00:00:00.000Z')
  expect((await failedRun())!.owner).toBeUndefined()
})

it('a new run replaces the failed one with its arguments, and few others are kept', async () => {
  const begin = async (week: number) => {
    const one = journal()
    await one.begin(1, { week }, WAIT)
    await one.fail()
  }
  await begin(1)
  await begin(1)
  expect(files()).toHaveLength(1)
  const running = journal()
  await running.begin(1, { week: 0 }, WAIT)
  for (let week = 2; week < 30; week += 1) await begin(week)
  const left = await journal().earlier()
  expect(left.filter(({ owner }) => owner === undefined)).toHaveLength(20)
  expect(left.filter(({ owner }) => owner !== undefined).map(({ args }) => args)).toEqual([{ week: 0 }])
})

it('a reply that comes after its run has ended is not kept', async () => {
  const one = journal()
  await one.begin(1, {}, WAIT)
  await one.end()
  await call(one, 'late')
  expect(files()).toEqual([])
})

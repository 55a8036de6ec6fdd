import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { Catalog } from '../../../calls/catalog/catalog.ts'
import type { Upstreams } from '../../../upstream/upstream.ts'
import { type DecideUnanswered, type EarlierRun, RunJournal } from './run-journal.ts'

let folder: string
let made: unknown[]
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'journal-'))
  made = []
  return () => rmSync(folder, { recursive: true, force: true })
})

const catalog = { findTool: () => Promise.resolve({ definition: {} }) } as unknown as Pick<Catalog, 'findTool'>
const journal = () => new RunJournal(folder, 'report')
const file = () => path.join(folder, '.sandbridge/workflows/report/unfinished.jsonl')

/** A server that never answers `silent`. */
const upstreams = {
  callTool: (_server: string, _tool: string, { text }: { text: string }) => {
    made.push(text)
    if (text === 'silent' && made.length === 2) return new Promise(() => {})
    return Promise.resolve({ content: [{ type: 'text', text: `did ${text}` }] })
  },
} as unknown as Upstreams

async function run(resumed?: EarlierRun, decide?: DecideUnanswered): Promise<unknown[]> {
  const own = journal()
  await own.begin(1, {}, resumed)
  const watched = own.watch(upstreams, catalog, resumed, decide)
  const first = await watched.callTool('ledger', 'add', { text: 'first' })
  const second = await watched.callTool('ledger', 'add', { text: 'silent' })
  return [first, second].map((result) => (result.content as { text: string }[])[0]!.text)
}

/** A run that is killed while its second call is open, and in the middle of a line. */
async function killedRun(): Promise<void> {
  void run()
  while (made.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
}

it('a resumed run fails at a call without an answer, as often as it is resumed without a decision', async () => {
  await killedRun()
  for (let again = 0; again < 2; again += 1)
    await expect(run(await journal().earlier())).rejects.toMatchObject({
      code: 'CANCELLED',
      hint: /--unanswered again/,
    })
  expect(made).toEqual(['first', 'silent'])
})

it('a resumed run makes a call without an answer again where that was decided, and no other', async () => {
  await killedRun()
  expect(await run(await journal().earlier(), () => 'again')).toEqual(['did first', 'did silent'])
  expect(made).toEqual(['first', 'silent', 'silent'])
})

it('a resumed run takes a value as the answer, and keeps it for the next resume', async () => {
  await killedRun()
  const asked: unknown[] = []
  const decide: DecideUnanswered = (call) => {
    asked.push(call)
    return { value: { id: 7 } }
  }
  expect(await run(await journal().earlier(), decide)).toEqual(['did first', '{"id":7}'])
  expect(asked).toEqual([{ server: 'ledger', tool: 'add', args: { text: 'silent' } }])
  expect(await run(await journal().earlier())).toEqual(['did first', '{"id":7}'])
  expect(made).toEqual(['first', 'silent'])
})

it('the line that a killed run was writing does not damage the next one', async () => {
  await killedRun()
  truncateSync(file(), readFileSync(file()).length - 5)
  await run(await journal().earlier(), () => 'again').catch(() => {})
  // The torn line said that the call was sent; without it the call counts as not made, and its answer is kept.
  expect(await run(await journal().earlier())).toEqual(['did first', 'did silent'])
  expect(made).toEqual(['first', 'silent', 'silent'])
})

// This file verifies a thousand questions of as many sessions at once: few are open, the others are denied at once, and
// all fail closed.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { BridgeError } from '../../core/src/errors.ts'
import { CatalogTool } from '../../core/src/calls/catalog/model/catalog-tool.ts'
import { NO_EVENTS } from '../../core/src/observe/events/event-stream.ts'
import { RunLog } from '../../core/src/observe/events/run-log.ts'
import { SILENT } from '../../core/src/util/log.ts'
import { RulePolicy } from './rules/policy.ts'
import { fileDocument } from '../../core/src/util/stores/files/file-document.ts'
import { readRules } from './rules/read-rules.ts'
import { answerQuestion, listQuestions } from './kept-questions.ts'
import type { Asker } from '../../core/src/calls/questions/questions.ts'
import type { Hold } from '../../core/src/calls/permissions/answer-page.ts'
import { CellPermissions } from './cell-gate.ts'
import { stateOf } from './set-state.ts'
import type { CellOf } from '../../core/src/calls/permissions/gates-part.ts'
import { Permissions } from '../../core/src/calls/permissions/permissions.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const COUNT = 1_000
const MOST = 50
const TOOL = new CatalogTool('hub', 'hub', 'send', { name: 'send', inputSchema: { type: 'object' } })

async function open(
  rules: object = { ask: ['hub__send', 'hub__send__all'] },
  folder = newFolder(),
  flow: 'off' | 'ask' = 'off',
) {
  const origin = { scope: 'user', file: 'permissions.json', shown: 'permissions.json' } as const
  const read = await readRules(JSON.stringify({ permissions: rules }), origin)
  if ('problems' in read) throw new Error('bad rules')
  const policy = new RulePolicy(read.rules, 'open', flow)
  const settings = { stateDir: folder, askTimeoutMs: 60_000, permissions: 'open', flow } as const
  const permissions = new Permissions(
    {
      settings,
      files: { hasChanged: () => false, read: () => Promise.resolve(policy), trust: [] },
      catalog: {
        servers: () => [],
        of: () => ({ isChanged: () => false }) as never,
        compared: () => undefined,
        accept: () => Promise.resolve(),
      },
      upstreams: { definitions: [] },
      page: () => Promise.resolve(undefined),
      hours: fileDocument(path.join(folder, 'hourly-calls.json')),
    },
    policy,
  )
  const questions = stateOf(permissions).kept
  const cellOf = (asker: Asker | undefined, more: Pick<CellOf, 'allowed' | 'hold' | 'notes' | 'flow'> = {}) =>
    new CellPermissions(
      permissions,
      {
        session: {},
        asker,
        events: NO_EVENTS,
        origin: { cell: 'c', log: new RunLog(SILENT, 'c'), session: 's' },
        keepsQuestions: true,
        stop: () => {},
        ...more,
      },
      policy,
    )
  const kept = path.join(folder, '.sandbridge/questions')
  const files = () => readdirSync(kept)
  const keptText = () =>
    files()
      .map((file) => readFileSync(path.join(kept, file), 'utf8'))
      .join('\n')
  return { folder, permissions, questions, cellOf, files, keptText }
}

const outcomeOf = (call: Promise<unknown>): Promise<string> => call.then(() => 'made', String)

it('a call is judged by what its client has been shown until it is made: before it, while the user thinks, after a sign-in', async () => {
  const { cellOf } = await open({ ask: ['hub__send'] }, newFolder(), 'ask')
  const seen: string[] = []
  const asked: string[] = []
  let shownMeanwhile: string[] = []
  const asker: Asker = {
    canAnswer: () => true,
    hold: (work) => work,
    ask: ({ params }) => {
      asked.push(String(params['message']))
      seen.push(...shownMeanwhile.splice(0))
      return Promise.resolve({ action: 'accept', content: { answer: 'yes, this once' } })
    },
  }
  const origin = { servers: [], names: [], toldBy: [], isModels: true, isUnknown: false, guessed: [] }
  const known: unknown = {
    seen,
    originOf: () => origin,
    isKnownWord: () => true,
    isTrusted: () => false,
    ofCall: () => ({ from: {}, seen: seen.slice() }),
  }
  const cell = cellOf(asker, { flow: known as NonNullable<CellOf['flow']> })
  const { signal } = new AbortController()
  // The check before the cell.
  expect(await cell.foresee([{ tool: TOOL, args: { id: 1 }, isMade: true }], signal)).toEqual([undefined])
  expect(asked).toHaveLength(1)
  // Control: nothing was shown.
  const admitted = await cell.admit(TOOL, { id: 1 }, { signal })
  await cell.admitAgain(TOOL, admitted, { signal })
  expect(asked).toHaveLength(1)
  shownMeanwhile = ['web']
  await cell.admit(TOOL, { id: 1 }, { signal })
  expect(asked).toHaveLength(3)
  expect(asked[1]).not.toContain('has read text')
  expect(asked[2]).toContain('the model has read text of web')
  await cell.admitAgain(TOOL, admitted, { signal })
  expect(asked).toHaveLength(4)
})

it('at most fifty questions to clients that never answer are open, and each ends with its call', async () => {
  const { permissions, cellOf } = await open()
  let asked = 0
  const never: Asker = {
    canAnswer: () => true,
    hold: (work) => work,
    ask: (_, signal) => {
      asked += 1
      return new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(new Error('over'))))
    },
  }
  const controller = new AbortController()
  const calls = Array.from({ length: COUNT }, () => outcomeOf(cellOf(never).admit(TOOL, { id: 1 }, controller)))
  const refused: string[] = []
  for (const call of calls) void call.then((outcome) => refused.push(outcome))
  while (refused.length < COUNT - MOST) await new Promise((resolve) => setTimeout(resolve, 20))
  expect([asked, refused.length, stateOf(permissions).openQuestions]).toEqual([MOST, COUNT - MOST, MOST])
  expect(new Set(refused.map((text) => /too many questions are open/.test(text)))).toEqual(new Set([true]))
  controller.abort()
  const outcomes = await Promise.all(calls)
  expect(outcomes).not.toContain('made')
  while (stateOf(permissions).openQuestions > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  // Control: there is room again, and a yes counts.
  const yes: Asker = {
    ...never,
    ask: () => Promise.resolve({ action: 'accept', content: { answer: 'yes, this once' } }),
  }
  expect(await outcomeOf(cellOf(yes).admit(TOOL, { id: 1 }, new AbortController()))).toBe('made')
})

it('at most fifty questions of clients that cannot ask are kept on disk, and none is left behind', async () => {
  const { questions, cellOf, files } = await open()
  const { signal } = new AbortController()
  const calls = Array.from({ length: COUNT }, () => outcomeOf(cellOf(undefined).admit(TOOL, { id: 1 }, { signal })))
  const outcomes = await Promise.all(calls)
  expect(outcomes.filter((text) => text.includes('too many questions are open'))).toHaveLength(COUNT - MOST)
  expect(outcomes.filter((text) => text.includes('this client cannot ask its user'))).toHaveLength(MOST)
  expect(files()).toHaveLength(MOST)
  await questions.close()
  expect(files()).toEqual([])
})

it.each(['before', 'after', 'never'])(
  'a call that is cancelled %s the answer comes, in the same turn, is not made',
  async (when) => {
    const { cellOf } = await open()
    const controller = new AbortController()
    const asker: Asker = {
      canAnswer: () => true,
      hold: (work) => work,
      ask: async () => {
        if (when === 'before') controller.abort()
        const answer = { action: 'accept', content: { answer: 'yes, this once' } }
        if (when === 'after') queueMicrotask(() => controller.abort())
        return Promise.resolve(answer)
      },
    }
    const outcome = await outcomeOf(cellOf(asker).admit(TOOL, { id: 1 }, controller))
    expect(outcome).toMatch(when === 'never' ? /^made$/ : /given up/)
  },
)

/** A client whose user gives this answer to every question. */
function answering(answer: string): { asker: Asker; questions: string[] } {
  const questions: string[] = []
  const ask: Asker['ask'] = ({ params }) => {
    questions.push(String(params['message']))
    return Promise.resolve({ action: 'accept', content: { answer } })
  }
  return { asker: { canAnswer: ({ params }) => params['mode'] === 'form', hold: (work) => work, ask }, questions }
}

it.each([
  [
    'of a form goes to the page',
    { body: 'x'.repeat(30_000) },
    /longer than a question can show \(20,000 characters\).*sandbridge approve/s,
  ],
  ['of the page is refused', { body: 'x'.repeat(600_000) }, /longer than a question can show \(500,000 characters\)/],
  ['of a name is refused', { [`to${'o'.repeat(50_000)}`]: 1 }, /a name that is too long to show/],
])('a yes never covers arguments that were not shown: what is over the limit %s', async (_, args, expected) => {
  const { cellOf, keptText } = await open()
  const { asker, questions } = answering('yes, this tool always')
  const refused = cellOf(asker).admit(TOOL, args, new AbortController())
  const { message, hint } = (await refused.catch((error: unknown) => error)) as BridgeError
  expect(`${message}. ${hint}`).toMatch(expected)
  expect(questions).toEqual([])
  if (expected.source.includes('approve')) expect(keptText()).toContain(Object.values(args)[0])
  // Control: a call that fits is shown and made.
  expect(await outcomeOf(cellOf(asker).admit(TOOL, { body: 'x'.repeat(10_000) }, new AbortController()))).toBe('made')
  expect(questions).toHaveLength(1)
})

it('"calls like this for the rest of the cell" covers the calls whose arguments were shown, and not the whole tool', async () => {
  const { cellOf } = await open()
  const { asker, questions } = answering('yes, calls like this for the rest of the cell')
  const cell = cellOf(asker)
  const { signal } = new AbortController()
  await cell.foresee(
    [
      { tool: TOOL, args: { id: 1 }, isMade: true },
      { tool: TOOL, args: undefined, isMade: true },
      { tool: TOOL, args: { other: 1 }, isMade: false },
    ],
    signal,
  )
  expect(questions).toHaveLength(1)
  expect(questions[0]).toContain('arguments that are not known yet: you are asked again')
  expect(questions[0], 'one that may not be made').not.toContain('other')
  // Control: a call of the shape that was shown is made without another question.
  await cell.admit(TOOL, { id: 2 }, { signal })
  expect(questions).toHaveLength(1)
  await cell.admit(TOOL, { to: 'evil@x.org' }, { signal })
  expect(questions).toHaveLength(2)
  expect(questions[1]).toContain('to: "evil@x.org"')
})

it('a tool that is allowed in an unattended cell allows no tool of another server with the same joined name', async () => {
  const { cellOf } = await open()
  const cell = cellOf(undefined, { allowed: [{ server: 'hub', tool: 'send__all' }] })
  const [own, other] = [
    ['hub', 'send__all'],
    ['hub__send', 'all'],
  ].map(([server, name]) => new CatalogTool(server!, server!, name!, { name: name!, inputSchema: { type: 'object' } }))
  expect(await outcomeOf(cell.admit(own!, {}, new AbortController()))).toBe('made')
  expect(await outcomeOf(cell.admit(other!, {}, new AbortController()))).toMatch(/unattended/)
})

it('a question of a cell that the page shows names the cell, and its call is held until the answer', async () => {
  const { folder, cellOf, files } = await open()
  let isHeld = false
  const hold: Hold = async (work) => {
    isHeld = true
    return work.finally(() => (isHeld = false))
  }
  const cell = cellOf(undefined, { hold })
  for (const [answer, expected] of [
    ['yes', 'made'],
    ['no', 'the user said no'],
  ] as const) {
    const made = outcomeOf(cell.admit(TOOL, { body: answer }, new AbortController()))
    await expect.poll(() => listQuestions(folder)).toHaveLength(1)
    const [question] = await listQuestions(folder)
    expect([question!.cell, isHeld]).toEqual(['c', true])
    await answerQuestion(folder, question!, answer)
    expect(await made).toContain(expected)
    expect([isHeld, files()]).toEqual([false, []])
  }
  // Control: other cells are denied at once, and their question names no cell.
  expect(await outcomeOf(cellOf(undefined).admit(TOOL, {}, new AbortController()))).toContain('cannot ask its user')
  expect((await listQuestions(folder))[0]!.cell).toBeUndefined()
})

it('calls of an hour are counted over all bridges of a person, and in one where they cannot be kept', async () => {
  const { signal } = new AbortController()
  const folder = newFolder()
  const rules = { allow: [{ tool: 'hub__send', perHour: 3 }] }
  const made = async (): Promise<unknown> => {
    const { cellOf } = await open(rules, folder)
    return cellOf(undefined).admit(TOOL, {}, { signal })
  }
  for (const _ of [1, 2, 3]) await made()
  await expect(made()).rejects.toThrow(/allows 3 per hour/)
  const { cellOf } = await open(rules, path.join(folder, 'hourly-calls.json'))
  for (const _ of [1, 2, 3]) await cellOf(undefined).admit(TOOL, {}, { signal })
  await expect(cellOf(undefined).admit(TOOL, {}, { signal })).rejects.toThrow(/allows 3 per hour/)
})

it('the answer "always" that cannot be kept counts for the session, and the result says so', async () => {
  const file = path.join(newFolder(), 'file')
  writeFileSync(file, '')
  const { cellOf } = await open(undefined, file)
  const { asker, questions } = answering('yes, this tool always')
  const notes = new Set<string>()
  const cell = cellOf(asker, { notes })
  const { signal } = new AbortController()
  for (const id of [1, 2]) await cell.admit(TOOL, { id }, { signal })
  expect(questions).toHaveLength(1)
  expect([...notes]).toEqual([
    expect.stringMatching(/could not be saved: it counts for this session only\. Tell the user/),
  ])
})

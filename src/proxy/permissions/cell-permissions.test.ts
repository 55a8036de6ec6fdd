// This file verifies a thousand questions of as many sessions at once: few are open, the others are denied at once, and all fail closed.
import { mkdtempSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { CatalogTool } from '../../catalog/model/catalog-tool.ts'
import { NO_EVENTS } from '../../events/event-stream.ts'
import { CallLimits } from '../../policy/limits.ts'
import { RunLog } from '../../events/run-log.ts'
import { SILENT } from '../../log.ts'
import { Policy } from '../../policy/policy.ts'
import { readRules } from '../../policy/read-rules.ts'
import { KeptQuestions } from '../../state/kept-questions.ts'
import type { Asker } from '../user/questions.ts'
import { CellPermissions } from './cell-permissions.ts'
import { Permissions } from './permissions.ts'

const COUNT = 1_000
const MOST = 50
const TOOL = new CatalogTool('hub', 'hub', 'send', { name: 'send', inputSchema: { type: 'object' } })

async function open() {
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-questions-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const origin = { scope: 'user', file: 'permissions.json', shown: 'permissions.json' } as const
  const read = await readRules('{"permissions": {"ask": ["hub__send"]}}', origin)
  if ('problems' in read) throw new Error('bad rules')
  const questions = new KeptQuestions(folder, 60_000)
  const permissions = new Permissions({
    policy: new Policy(read.rules, 'open'),
    definitions: () => [],
    tools: () => [],
    isChanged: () => false,
    refresh: () => Promise.resolve(),
    accept: () => Promise.resolve(),
    remember: () => Promise.resolve(),
    askTimeoutMs: 60_000,
    questions,
    limits: new CallLimits(),
    page: () => Promise.resolve(undefined),
    opensBrowser: false,
  })
  const cellOf = (asker: Asker | undefined) =>
    new CellPermissions(permissions, {
      session: {},
      asker,
      events: NO_EVENTS,
      origin: {
        cell: 'c',
        log: new RunLog(SILENT, 'c'),
        session: 's',
        client: undefined,
        user: undefined,
        trace: undefined,
      },
      keepsQuestions: true,
      stop: () => {},
    })
  const files = () => readdirSync(path.join(folder, '.sandbridge/questions'))
  return { permissions, questions, cellOf, files }
}

const outcomeOf = (call: Promise<unknown>): Promise<string> => call.then(() => 'made', String)

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
  expect([asked, refused.length, permissions.openQuestions]).toEqual([MOST, COUNT - MOST, MOST])
  expect(new Set(refused.map((text) => /too many questions are open/.test(text)))).toEqual(new Set([true]))
  controller.abort()
  const outcomes = await Promise.all(calls)
  expect(outcomes).not.toContain('made')
  while (permissions.openQuestions > 0) await new Promise((resolve) => setTimeout(resolve, 20))
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

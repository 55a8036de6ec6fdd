import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { fileStore } from '../../core/src/util/stores/open-stores.ts'
import { createLog } from '../../core/src/util/log.ts'
import type { Shape } from '@sandbridge/core/calls/catalog'
import { LearnedCalls } from './learned-calls.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const ISSUE = { server: 'key-of-hub', name: 'create_issue', print: 'one' }
const SHAPE: Shape = { type: ['object'], properties: { owner: { type: ['string'] } }, required: ['owner'] }
const DAY_MS = 24 * 60 * 60 * 1000
let folder: string
let now = Date.UTC(2026, 10, 25)

beforeEach(() => {
  folder = newFolder()
  now = Date.UTC(2026, 10, 25)
})

/** As a bridge of its own has it. */
async function opened(at = folder): Promise<LearnedCalls> {
  const learned = new LearnedCalls(fileStore(at), createLog('error'), () => now)
  await learned.ready()
  return learned
}

function file(): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return path.join(
    folder,
    names.find((name) => name.endsWith('learned-calls.json'))!,
  )
}

it('what was learned outlives its bridge', async () => {
  const one = await opened()
  one.learnShape(ISSUE, SHAPE)
  one.learnWording(ISSUE, ['creat', 'issu'])
  one.learnUse('key-of-hub')
  await one.flush()
  const other = await opened()
  expect(other.worked('key-of-hub', 'create_issue')).toEqual({ shape: SHAPE, print: 'one' })
  expect(other.ledTo('Create an issue')).toEqual([{ ...ISSUE, likeness: 1 }])
  expect(other.daysOfUse('key-of-hub')).toBe(1)
})

it('a search finds the tool of an alike search, and none of another need', async () => {
  const learned = await opened()
  learned.learnWording(ISSUE, ['creat', 'issu'])
  expect(learned.ledTo('create the new issue')[0]!.likeness).toBeCloseTo(0.8)
  expect(learned.ledTo('create a calendar event')).toEqual([])
  expect(learned.ledTo('')).toEqual([])
})

it('two bridges that write at once lose nothing', async () => {
  const bridges = await Promise.all([opened(), opened(), opened()])
  for (const [at, one] of bridges.entries()) {
    one.learnShape({ ...ISSUE, name: `tool-${at}` }, SHAPE)
    one.learnWording(ISSUE, [`word${'abc'[at]}`])
  }
  await Promise.all(bridges.map((one) => one.flush()))
  const after = await opened()
  for (const at of bridges.keys()) expect(after.worked('key-of-hub', `tool-${at}`)?.shape).toEqual(SHAPE)
  for (const letter of 'abc') expect(after.ledTo(`word${letter}`)).toHaveLength(1)
})

it('what is learned while it is written is kept as well', async () => {
  const learned = await opened()
  learned.learnShape(ISSUE, SHAPE)
  const writing = learned.flush()
  learned.learnShape({ ...ISSUE, name: 'later' }, SHAPE)
  await writing
  await learned.flush()
  expect((await opened()).worked('key-of-hub', 'later')).toBeDefined()
})

it('a tool whose definition has changed is learned anew', async () => {
  const learned = await opened()
  learned.learnShape(ISSUE, SHAPE)
  learned.learnWording({ ...ISSUE, print: 'two' }, ['new'])
  expect(learned.worked('key-of-hub', 'create_issue')).toBeUndefined()
  expect(learned.ledTo('new')).toMatchObject([{ print: 'two' }])
})

it('what was learned of a removed server is forgotten, also on disk, and of no other', async () => {
  const learned = await opened()
  for (const server of ['key-of-hub', 'key-of-mail']) {
    learned.learnShape({ ...ISSUE, server }, SHAPE)
    learned.learnUse(server)
  }
  await learned.flush()
  const later = new LearnedCalls(fileStore(folder), createLog('error'), () => now)
  await later.forget(new Set(['key-of-hub']))
  await later.flush()
  expect(readFileSync(file(), 'utf8')).not.toContain('key-of-hub')
  expect((await opened()).worked('key-of-mail', 'create_issue')).toBeDefined()
})

it('what is not used for three months is forgotten', async () => {
  const learned = await opened()
  learned.learnShape(ISSUE, SHAPE)
  learned.learnUse('key-of-hub')
  now += 91 * DAY_MS
  learned.learnShape({ ...ISSUE, name: 'other' }, SHAPE)
  await learned.flush()
  expect(readFileSync(file(), 'utf8')).not.toContain('create_issue')
  expect(learned.daysOfUse('key-of-hub')).toBe(0)
})

it('a server counts once for each of the last thirty days', async () => {
  const learned = await opened()
  for (let day = 0; day < 40; day += 1) {
    learned.learnUse('key-of-hub')
    learned.learnUse('key-of-hub')
    now += DAY_MS
  }
  expect(learned.daysOfUse('key-of-hub')).toBeLessThanOrEqual(30)
  expect(learned.daysOfUse('key-of-hub')).toBeGreaterThan(25)
})

it('the document stays small, whatever a cell does', async () => {
  const learned = await opened()
  const wide: Shape = {
    type: ['object'],
    properties: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, { type: ['string'] }])),
  }
  for (let at = 0; at < 600; at += 1) {
    learned.learnShape({ ...ISSUE, name: `tool-${at}` }, wide)
    learned.learnWording({ ...ISSUE, name: `tool-${at % 50}` }, [`word${at}`])
    learned.learnUse(`server-${at}`)
    if (at % 200 === 0) await learned.flush()
  }
  learned.learnShape({ ...ISSUE, name: 'n'.repeat(10_000) }, SHAPE)
  await learned.flush()
  expect(statSync(file()).size).toBeLessThan(1_000_000)
  expect(readFileSync(file(), 'utf8')).not.toContain('nnnn')
})

it.each(['not json', '[]', '{"tools": {}, "days": {}}', '{"tools": [7, {"server": 1}], "days": {"x": 3}}'])(
  'a damaged document is replaced: %s',
  async (text) => {
    const learned = await opened()
    learned.learnUse('key-of-hub')
    await learned.flush()
    writeFileSync(file(), text)
    const after = await opened()
    expect(after.ledTo('create an issue')).toEqual([])
    after.learnShape(ISSUE, SHAPE)
    await after.flush()
    expect((await opened()).worked('key-of-hub', 'create_issue')).toBeDefined()
  },
)

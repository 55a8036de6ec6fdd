// This file verifies what both kinds of store promise: a folder of this machine, and PostgreSQL. Two bridges use one
// store in each test.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openStores } from '../../packages/core/src/util/stores/open-stores.ts'
import type { Stores } from '../../packages/core/src/util/stores/store.ts'
import { needsPosix, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { NO_POSTGRES, TestPostgres } from '@sandbridge/postgres/test/support/postgres.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const KINDS = [
  { kind: 'files', reason: undefined },
  { kind: 'PostgreSQL', reason: NO_POSTGRES },
]
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
const FILE = 'data'

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = []
  for await (const line of lines) found.push(line)
  return found
}

describe.each(KINDS)('a store in $kind', ({ kind, reason }) => {
  let postgres: TestPostgres | undefined
  let one: Stores
  let two: Stores

  beforeAll(async () => {
    if (kind === 'PostgreSQL' && reason === undefined) postgres = await TestPostgres.start()
  })
  afterAll(() => postgres?.remove())

  beforeEach(async () => {
    if (reason !== undefined) skip(reason)
    const stateDir = newFolder()
    const options = { stateDir, storage: await postgres?.database() }
    one = await openStores(options)
    two = await openStores(options)
    onTestFinished(async () => void (await Promise.all([one.close(), two.close()])))
  })

  it(`a document of ${kind} is missing at first, and is then what was written last, for every bridge`, async () => {
    const [mine, theirs] = [one, two].map((stores) => stores.of(undefined).document('notes/one.json'))
    expect(await mine!.read()).toBeUndefined()
    const text = '"Grüße 🎈 \\u0000 \u2028"\n'.repeat(10_000)
    await mine!.update(() => Promise.resolve(text))
    expect(await theirs!.read()).toBe(text)
    await theirs!.update(async (read) => `${(await read())!.length}`)
    expect(await mine!.read()).toBe(String(text.length))
  })

  it(`a document of ${kind} that two bridges change at once loses no change`, async () => {
    const documents = [one, two].map((stores) => stores.of(undefined).document('count.json'))
    const add = (index: number) =>
      documents[index % 2]!.update(async (read) => String(Number((await read()) ?? '0') + 1))
    await Promise.all(numbers(40).map(add))
    expect(await documents[0]!.read()).toBe('40')
  })

  it(`a document of ${kind} stays as it was when its change fails, and can be changed afterwards`, async () => {
    const document = one.of(undefined).document('notes.json')
    await document.update(() => Promise.resolve('kept'))
    await expect(document.update(() => Promise.reject(new TypeError('refused here')))).rejects.toThrow('refused here')
    expect(await document.read()).toBe('kept')
    await document.update(() => Promise.resolve('changed'))
    expect(await two.of(undefined).document('notes.json').read()).toBe('changed')
  })

  it(`what ${kind} keeps for one user is not there for another, nor for the owner of the bridge`, async () => {
    const users = ['ann', 'https://issuer.example#Ann', undefined]
    for (const user of users) {
      const store = one.of(user)
      expect(await store.document('notes.json').read()).toBeUndefined()
      expect(await store.versions('things', 'a thing').all()).toEqual(new Map())
      await store.document('notes.json').update(() => Promise.resolve(`of ${user}`))
      await store.versions('things', 'a thing').add('thing', { [FILE]: `of ${user}` })
    }
    for (const user of users) {
      expect(await two.of(user).document('notes.json').read()).toBe(`of ${user}`)
      const data = await two.of(user).versions('things', 'a thing').read('thing', 1, FILE)
      expect(data.toString()).toBe(`of ${user}`)
    }
  })

  const things = (stores = one) => stores.of(undefined).versions('things', 'a thing')

  it(`versions of ${kind} are numbered, hold their bytes exactly, and are found by every bridge`, async () => {
    const bytes = Buffer.from(numbers(3 << 20).map((index) => index % 251))
    expect(await things().add('report.csv', { [FILE]: bytes, about: '{}' })).toBe(1)
    expect(await things(two).add('report.csv', { [FILE]: 'second', about: '{"n":2}' })).toBe(2)
    expect(await things().add('Ärger', { [FILE]: '' })).toBe(1)
    expect([...(await things(two).all())]).toEqual([
      ['report.csv', [1, 2]],
      ['Ärger', [1]],
    ])
    expect((await things(two).read('report.csv', 1, FILE)).equals(bytes)).toBe(true)
    const piece = await things().read('report.csv', 1, FILE, { offset: 1_000_000, length: 5 })
    expect(piece.equals(bytes.subarray(1_000_000, 1_000_005))).toBe(true)
    expect(await things().read('report.csv', 2, FILE, { offset: 3, length: 100 })).toEqual(Buffer.from('ond'))
    expect(await things().read('report.csv', 2, FILE, { offset: 50, length: 5 })).toHaveLength(0)
    expect(await things().versions('report.csv')).toEqual([1, 2])
    expect(await things().versions('unknown')).toEqual([])
  })

  it(`one file of every version of ${kind} is read at once, those without it left out`, async () => {
    for (const about of ['a', 'b']) await things().add('two', { about })
    await things().add('one', { about: 'c', [FILE]: '' })
    await things().add('three', { [FILE]: '' })
    const shown = (found: { name: string; version: number; data: Buffer }[]) =>
      found.map(({ name, version, data }) => `${name} ${version} ${data.toString()}`)
    expect(shown(await things(two).readEach('about'))).toEqual(['one 1 c', 'two 1 a', 'two 2 b'])
    expect(shown(await things(two).readEach('about', 'two'))).toEqual(['two 1 a', 'two 2 b'])
  })

  it(`two bridges that add to one name of ${kind} at once get a version each`, async () => {
    const made = await Promise.all(
      numbers(30).map(async (index) => {
        const version = await things(index % 2 === 0 ? one : two).add('shared', { [FILE]: `content ${index}` })
        return [version, `content ${index}`] as const
      }),
    )
    expect(made.map(([version]) => version).toSorted((a, b) => a - b)).toEqual(numbers(30).map((index) => index + 1))
    for (const [version, content] of made)
      expect((await things().read('shared', version, FILE)).toString()).toBe(content)
  })

  it(`deleted versions of ${kind} are gone for every bridge, and the name can be used again`, async () => {
    await things().add('gone', { [FILE]: 'old' })
    expect(await things(two).remove('gone')).toBe(true)
    expect(await things(two).remove('gone')).toBe(false)
    expect(await things().versions('gone')).toEqual([])
    await expect(things().read('gone', 1, FILE)).rejects.toMatchObject({ code: 'STATE_NOT_FOUND' })
    const version = await things().add('gone', { [FILE]: 'new' })
    expect((await things(two).read('gone', version, FILE)).toString()).toBe('new')
  })

  it.each(['../up', 'a/b', '', 'con', 'x'.repeat(300)])(`${kind} refuses the name %j`, async (name) => {
    await expect(things().add(name, { [FILE]: '' })).rejects.toMatchObject({ code: 'STATE_REFUSED' })
    await expect(things().versions(name)).rejects.toMatchObject({ code: 'STATE_REFUSED' })
    await expect(things().remove(name)).rejects.toMatchObject({ code: 'STATE_REFUSED' })
  })

  it(`${kind} refuses a name that differs from another in case only`, async () => {
    await things().add('Report', { [FILE]: '' })
    await expect(things(two).add('report', { [FILE]: '' })).rejects.toThrow(/'Report' already exists/)
    expect([...(await things().all()).keys()]).toEqual(['Report'])
  })

  it(`a log of ${kind} has the lines that its writer added, in their order, for every bridge`, async () => {
    const logs = [one, two].map((stores) => stores.of(undefined).logs('audit'))
    const writer = await logs[0]!.create('a.jsonl', true)
    expect(await logs[1]!.lastLine('a.jsonl')).toBeUndefined()
    const lines = numbers(2_500).map((index) => JSON.stringify({ index, text: 'ü "\u0000" 🎈' }))
    const bytes = (some: readonly string[]) => Buffer.byteLength(some.join('\n')) + 1
    expect(await writer.append(lines.slice(0, 1_500))).toBe(bytes(lines.slice(0, 1_500)))
    const [before] = await logs[1]!.list()
    expect(await writer.append(lines.slice(1_500))).toBe(bytes(lines))
    expect(await all(logs[1]!.lines('a.jsonl'))).toEqual(lines)
    expect(await logs[1]!.lastLine('a.jsonl')).toBe(lines.at(-1))
    expect((await logs[1]!.linesAfter('a.jsonl', before!.end)).lines).toEqual(lines.slice(1_500))
    const [after] = await logs[1]!.list()
    expect(after).toMatchObject({ name: 'a.jsonl', bytes: bytes(lines) })
    expect(after!.changedAt).toBeGreaterThan(Date.now() - 60_000)
    expect((await logs[1]!.linesAfter('a.jsonl', after!.end)).lines).toEqual([])
    expect(await logs[1]!.isTorn('a.jsonl')).toBe(false)
    await writer.close()
  })

  it(`a line for a log of ${kind} that was removed is told as not written`, async () => {
    if (kind === 'files') needsPosix('Windows lets no open file be removed')
    const logs = one.of(undefined).logs('audit')
    const writer = await logs.create('removed.jsonl', false)
    await writer.append(['{}'])
    await logs.remove('removed.jsonl')
    expect(await writer.append(['{}'])).toBeUndefined()
    expect(await logs.list()).not.toContainEqual(expect.objectContaining({ name: 'removed.jsonl' }))
    await writer.close()
  })

  it(`a log of ${kind} has one writer, and is gone when it was removed`, async () => {
    const logs = one.of(undefined).logs('audit')
    const writer = await logs.create('a.jsonl', false)
    await writer.append(['{}'])
    await writer.close()
    await expect(two.of(undefined).logs('audit').create('a.jsonl', false)).rejects.toThrow()
    expect(await all(logs.lines('a.jsonl'))).toEqual(['{}'])
    await two.of(undefined).logs('audit').remove('a.jsonl')
    expect(await logs.list()).toEqual([])
    expect(await all(logs.lines('a.jsonl'))).toEqual([])
    expect(await logs.linesAfter('a.jsonl', 0)).toMatchObject({ lines: [] })
  })

  it(`work that must be alone runs one after the other in ${kind}, also after some of it failed`, async () => {
    let running = 0
    let most = 0
    const work = async (index: number) => {
      running += 1
      most = Math.max(most, running)
      // It may use the store meanwhile.
      await one.of(undefined).document('other.json').read()
      running -= 1
      if (index % 3 === 0) throw new Error('failed')
    }
    const done = numbers(12).map((index) =>
      (index % 2 === 0 ? one : two).of('ann').exclusively('refresh', () => work(index)),
    )
    const outcomes = await Promise.allSettled(done)
    expect(most).toBe(1)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(4)
  })
})

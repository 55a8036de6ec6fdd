// This file verifies what several bridges on one PostgreSQL get through: starting at once, and a server that crashes in the middle of their writes.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openStores, type Stores } from '../../src/state/open-stores.ts'
import { MIGRATIONS } from '../../src/storage/postgres/migrations.ts'
import { NO_POSTGRES, PASSWORD, TestPostgres } from '../support/postgres.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('PostgreSQL as the store of several bridges', () => {
  let postgres: TestPostgres
  let url: string

  beforeAll(async () => {
    if (NO_POSTGRES === undefined) postgres = await TestPostgres.start()
  })
  afterAll(() => postgres?.remove())
  beforeEach(async (ctx) => {
    if (NO_POSTGRES !== undefined) ctx.skip(NO_POSTGRES)
    url = await postgres.database()
  })

  async function open(storage = url): Promise<Stores> {
    const stores = await openStores({ stateDir: '/nowhere', storage })
    onTestFinished(() => stores.close())
    return stores
  }

  it('bridges that start at once on an empty database make its tables once', async () => {
    const all = await Promise.all(numbers(6).map(() => open()))
    const made = await postgres.query<{ number: number }>(
      url,
      'SELECT number FROM sandbridge.migrations ORDER BY number',
    )
    expect(made.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, index) => index + 1))
    await all[0]!
      .of(undefined)
      .document('a.json')
      .update(() => Promise.resolve('there'))
    expect(await all[5]!.of(undefined).document('a.json').read()).toBe('there')
  })

  it('a database that a newer version has changed is refused, and left as it is', async () => {
    await open()
    await postgres.query(url, 'INSERT INTO sandbridge.migrations (number) VALUES (999)')
    await expect(open()).rejects.toThrow('The database was changed by a newer version of Sandbridge')
  })

  it('writes during a crash of the server are made once each, and none is lost', async () => {
    const bridges = await Promise.all([open(), open()])
    const document = (index: number) => bridges[index % 2]!.of(undefined).document('count.json')
    const versions = (index: number) => bridges[index % 2]!.of('ann').versions('things', 'a thing')
    let done = 0
    const write = async (index: number): Promise<string> => {
      await document(index).update(async (read) => String(Number((await read()) ?? 0) + 1))
      const version = await versions(index).add('thing', { data: `content ${index}` })
      done += 1
      return `${version} content ${index}`
    }
    const writing = Promise.all(numbers(300).map(write))
    await vi.waitUntil(() => done >= 20, { interval: 1, timeout: 30_000 })
    await postgres.down()
    expect(done).toBeLessThan(300)
    await postgres.up()
    const made = await writing
    expect(await document(0).read()).toBe('300')
    const kept = await versions(1).readEach('data', 'thing')
    expect(kept.map(({ version, data }) => `${version} ${data.toString()}`)).toEqual(
      made.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
    )
  })

  it('while the server is away a write fails with what to do and without the password, and works when it is back', async () => {
    const store = (await open()).of(undefined)
    await postgres.down()
    const failure = await store
      .document('a.json')
      .update(() => Promise.resolve('x'))
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'STATE_UNWRITABLE', hint: expect.stringContaining('MCP_BRIDGE_STORAGE') })
    expect(String(failure)).toMatch(/PostgreSQL cannot be reached \(ECONNREFUSED/)
    await postgres.up()
    await store.document('a.json').update(() => Promise.resolve('y'))
    expect(await store.document('a.json').read()).toBe('y')
  })

  it.each([
    ['a wrong password', (good: string) => good.replace(PASSWORD, `${PASSWORD}-not`), /password authentication failed/],
    ['an unknown database', (good: string) => `${good}-unknown`, /does not exist/],
  ])('%s is refused at the start, without the password in the error', async (_what, change, message) => {
    const failure = await open(change(url)).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'STATE_UNWRITABLE' })
    expect(String(failure)).toMatch(message)
    const all = JSON.stringify(failure, Object.getOwnPropertyNames(failure))
    for (const secret of [PASSWORD, decodeURIComponent(PASSWORD)]) expect(all).not.toContain(secret)
  })
})

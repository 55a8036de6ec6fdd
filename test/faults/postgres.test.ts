// @module-tag whole: it needs PostgreSQL
// This file verifies several bridges on one PostgreSQL: starting at once, and a database server that crashes during
// their writes.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { recordIn } from '@sandbridge/record/audit/other-files.ts'
import { readRecord } from '@sandbridge/record/audit/read-record.ts'
import { RECORD_LIMITS, RecordFile } from '@sandbridge/record/audit/record-file.ts'
import { verifyRecord } from '@sandbridge/record/audit/verify-record.ts'
import { openStores } from '../../packages/core/src/util/stores/open-stores.ts'
import type { Stores } from '../../packages/core/src/util/stores/store.ts'
import { signInVault } from '../../packages/core/src/upstream/auth/sign-in-store.ts'
import { CatalogTool } from '../../packages/core/src/calls/catalog/model/catalog-tool.ts'
import { SILENT } from '../../packages/core/src/util/log.ts'
import { createJournals } from '../../packages/once/src/journals.ts'
import { MIGRATIONS } from '../../packages/postgres/src/migrations.ts'
import { ScheduleStore } from '@sandbridge/workflows/schedule/schedules.ts'
import { AnswerLoser } from '../../packages/postgres/test/support/answer-loser.ts'
import { NO_POSTGRES, PASSWORD, TestPostgres } from '../../packages/postgres/test/support/postgres.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('PostgreSQL as the store of several bridges', () => {
  let postgres: TestPostgres
  let url: string

  beforeAll(async () => {
    if (NO_POSTGRES === undefined) postgres = await TestPostgres.start()
  })
  afterAll(() => postgres?.remove())
  beforeEach(async () => {
    if (NO_POSTGRES !== undefined) skip(NO_POSTGRES)
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

  it('tables whose version is unknown are refused with a way out, and left as they are', async () => {
    const stores = await open()
    await stores
      .of(undefined)
      .document('a.json')
      .update(() => Promise.resolve('there'))
    for (const loss of ['DELETE FROM sandbridge.migrations', 'DROP TABLE sandbridge.migrations']) {
      await postgres.query(url, loss)
      await expect(open()).rejects.toMatchObject({
        message: expect.stringMatching(/tables of Sandbridge \(documents, .*migrations is missing or empty/),
        hint: expect.stringContaining('ALTER SCHEMA sandbridge RENAME TO sandbridge_old'),
      })
    }
    expect(await postgres.query(url, 'SELECT content FROM sandbridge.documents')).toEqual([{ content: 'there' }])
    await postgres.query(url, 'ALTER SCHEMA sandbridge RENAME TO sandbridge_old')
    await open()
    // Only the number is missing, and there is nothing that it could be wrong about.
    await postgres.query(url, 'DROP SCHEMA sandbridge CASCADE')
    await postgres.query(url, 'CREATE SCHEMA sandbridge CREATE TABLE migrations (number integer PRIMARY KEY)')
    await open()
  })

  it.each([
    ['missing', ''],
    ['wrong', ':not-the-password'],
  ])('a password that is %s is reported with the places where it belongs', async (_, given) => {
    await expect(open(url.replace(`:${PASSWORD}`, given))).rejects.toMatchObject({
      code: 'STATE_UNWRITABLE',
      message: expect.not.stringContaining('not-the-password'),
      hint: expect.stringMatching(/MCP_BRIDGE_STORAGE, in PGPASSWORD/),
    })
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

  it('of bridges that look for due workflows at the same moment, one gets each', async () => {
    const all = await Promise.all(numbers(4).map(async () => new ScheduleStore((await open()).of(undefined))))
    const schedule = { workflow: 'report', when: '0 * * * *', zone: 'UTC', words: [], sha256: '', allowed: [] }
    await all[0]!.add(schedule, new Date('2027-03-01T09:30:00Z'))
    const due = await Promise.all(all.map((one) => one.claim(new Date('2027-03-01T10:00:30Z'))))
    expect(due.flat()).toMatchObject([{ id: 'report', count: 1 }])
  })

  it('what a session has written goes with its handle to a bridge on another machine, and to no other session', async () => {
    const vault = signInVault({ signInKey: 'ab'.repeat(32), storage: url }, SILENT)
    const send = new CatalogTool('mail', 'mail', 'send', { name: 'send' })
    const begin = async (owner: string) => {
      const journals = createJournals({ store: (await open()).of(undefined), vault, log: SILENT })
      const client = 'c'.repeat(64)
      const cell = journals.begin({ isClosed: false, isLeft: false }, { run: owner, owner, client })!
      const call = { tool: send, args: { to: 'ann' }, isAgain: false, definition: () => undefined, reading: () => [] }
      return { journals, enter: async () => (await cell.enter(call))! }
    }
    const answer = { content: [{ type: 'text', text: 'it is sent' }] }
    const first = await begin('a'.repeat(64))
    const made = await first.enter()
    void made.sent()
    void made.ended(answer)
    await first.journals.flush(false)
    const lines = await postgres.query<{ line: string }>(url, 'SELECT line FROM sandbridge.log_lines')
    expect(JSON.stringify(lines)).not.toMatch(/ann|it is sent/)
    // As if its machine could not be asked whether it still runs.
    await postgres.query(url, `UPDATE sandbridge.log_lines SET line = replace(line, '"host":"', '"host":"another-')`)
    expect((await (await begin('b'.repeat(64))).enter()).answer).toBe(undefined)
    expect((await (await begin('a'.repeat(64))).enter()).answer).toEqual(answer)
  })

  it.each([
    ['of a document', 'COMMIT'],
    ['of a version', 'COMMIT'],
    ['of a log', 'INSERT INTO sandbridge.log_lines'],
  ])('a write %s that was made is not made again when its answer is lost', async (what, statement) => {
    const proxy = await AnswerLoser.start(url)
    onTestFinished(() => proxy.stop())
    const store = (await open(proxy.url)).of(undefined)
    const versions = store.versions('things', 'a thing')
    const logs = store.logs('audit')
    const writer = await logs.create('a.jsonl', true)
    proxy.loseAnswerTo(statement)
    if (what === 'of a document') {
      await store.document('count.json').update(async (read) => String(Number((await read()) ?? 0) + 1))
      expect(await store.document('count.json').read()).toBe('1')
    } else if (what === 'of a version') {
      expect(await versions.add('thing', { data: 'x' })).toBe(1)
      expect(await versions.versions('thing')).toEqual([1])
    } else {
      await writer.append(['{"n":1}', '{"n":2}'])
      await writer.append(['{"n":3}'])
      expect((await logs.linesAfter('a.jsonl', 0)).lines).toEqual(['{"n":1}', '{"n":2}', '{"n":3}'])
    }
    expect(proxy.lostCount).toBe(1)
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

  /** A bridge's closed record of five calls. */
  async function recorded(stores: Stores): Promise<void> {
    const logs = recordIn(stores.of(undefined))
    const record = new RecordFile({ logs, about: {}, sync: true, limits: RECORD_LIMITS })
    for (const index of numbers(5)) record.add({ time: new Date(1e12 + index).toISOString(), type: 'call', index })
    await record.close()
  }
  const changes = {
    'an edited line': `UPDATE sandbridge.log_lines SET line = replace(line, '"index":1', '"index":9') WHERE place = 3`,
    'a line that was cut out': 'DELETE FROM sandbridge.log_lines WHERE place = 3',
    'a lost end': 'DELETE FROM sandbridge.log_lines WHERE log = 1 AND place > 5',
    'a missing file': 'DELETE FROM sandbridge.logs WHERE id = 1',
  }

  it.each([
    ['an edited line', ['edited 3', 'edited 3']],
    ['a line that was cut out', ['cut 3', 'cut 3']],
    ['a lost end', ['cut']],
    ['a missing file', ['missing-file']],
  ] as const)('the check of a record in PostgreSQL finds %s', async (what, found) => {
    const stores = await open()
    await recorded(stores)
    await recorded(await open())
    const logs = recordIn(stores.of(undefined))
    expect(await verifyRecord(logs)).toMatchObject({ files: 2, lines: 14, problems: [], remarks: [] })
    expect(await readRecord(logs, {}, 100)).toHaveLength(10)
    await postgres.query(url, changes[what])
    const { problems } = await verifyRecord(logs)
    expect(problems.map(({ kind, line }) => (line === undefined ? kind : `${kind} ${line}`))).toEqual(found)
  })

  it('a record that is written while the server crashes is whole, and two bridges write it at once', async () => {
    const bridges = await Promise.all([open(), open()])
    const records = bridges.map(
      (stores) =>
        new RecordFile({ logs: recordIn(stores.of(undefined)), about: {}, sync: true, limits: RECORD_LIMITS }),
    )
    let done = 0
    const writing = Promise.all(
      records.map(async (record) => {
        for (const index of numbers(300)) {
          record.add({ time: new Date().toISOString(), type: 'call', index })
          await record.flush()
          done += 1
        }
        await record.close()
      }),
    )
    await vi.waitUntil(() => done >= 50, { interval: 1, timeout: 30_000 })
    await postgres.down()
    expect(done).toBeLessThan(600)
    await postgres.up()
    await writing
    const logs = recordIn(bridges[0].of(undefined))
    expect(await verifyRecord(logs)).toMatchObject({ files: 2, lines: 604, problems: [], remarks: [] })
    const indexes = (await readRecord(logs, {}, 1_000)).map(({ fields }) => Number(fields['index']))
    expect(indexes.toSorted((a, b) => a - b)).toEqual(numbers(600).map((index) => index >> 1))
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

// @module-tag whole: it kills bridges, relays and residents
// This file verifies that a cell repeats no write after its connection, its relay, its resident or its bridge was lost.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type Era, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { residentHome } from '@sandbridge/core/test/support/bridges/resident-clients.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { NO_POSTGRES, TestPostgres } from '../../packages/postgres/test/support/postgres.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { mailbox, THREE_ANSWERS, threeMails, TWO_USED } from '../../packages/once/test/support/mailbox.ts'

/** The journal is written beside the calls. */
const WRITTEN_MS = 200

it('a bridge goes on with what a killed one has written, and says which call was never answered', async () => {
  const { entry, sent, got } = mailbox()
  const home = makeHome({ mail: entry })
  const first = await startBridge({ home, ownProcess: true })
  const lost = first.client.callTool({ name: 'run_python', arguments: { code: threeMails(20) } }).catch(() => undefined)
  await got(2)
  await sleep(WRITTEN_MS)
  process.kill(first.pid, 'SIGKILL')
  await lost
  const second = await startBridge({ home, ownProcess: true })
  const { text } = await second.call({ code: threeMails(0) })
  for (const words of [THREE_ANSWERS, TWO_USED]) expect(text).toContain(words)
  const silent = 'await mcp_mail.send(text="one")\nawait mcp_mail.send(text="silent")'
  const cut = second.client.callTool({ name: 'run_python', arguments: { code: silent } }).catch(() => undefined)
  await got(5)
  await sleep(WRITTEN_MS)
  process.kill(second.pid, 'SIGKILL')
  await cut
  const third = await startBridge({ home, ownProcess: true })
  expect((await third.call({ code: silent })).text).toMatch(
    /mail\.send \(1\)[^]*OutcomeUnknown|OutcomeUnknown[^]*mail\.send \(1\)/,
  )
  expect(sent()).toEqual(['send one', 'send two', 'send three', 'send one', 'send silent'])
})

it('a client that has read its last result and left is not taken for one that has lost it', async () => {
  const { entry, sent } = mailbox()
  const home = makeHome({ mail: entry })
  const first = await startBridge({ home, ownProcess: true })
  await first.call({ code: threeMails(0) })
  await first.client.listTools()
  await first.client.close()
  const second = await startBridge({ home, ownProcess: true })
  expect((await second.call({ code: threeMails(0) })).text).not.toContain('sandbridge')
  expect(sent()).toHaveLength(6)
})

it.each(['relay', 'resident'] as const)(
  'a cell that is sent again after its %s was killed repeats nothing',
  async (what) => {
    const { entry, sent, got } = mailbox()
    const { connect, residents } = residentHome({ mail: entry }, { MCP_BRIDGE_RESIDENT: 'on idle=60' })
    const first = await connect('me')
    const lost = first.run(threeMails(20))
    void lost.catch(() => {})
    await got(2)
    await sleep(WRITTEN_MS)
    if (what === 'relay') first.process.kill('SIGKILL')
    else process.kill(residents().at(-1)!, 'SIGKILL')
    if (what === 'relay') await first.exited
    else expect(await lost).toContain('The resident bridge ended')
    const second = what === 'relay' ? await connect('me') : first
    const text = await second.run(threeMails(0))
    for (const words of [THREE_ANSWERS, TWO_USED]) expect(text).toContain(words)
    expect(sent()).toEqual(['send one', 'send two', 'send three'])
    // Another client, in another folder.
    expect(await (await connect('you')).run(threeMails(0))).not.toContain('sandbridge')
    expect(sent()).toHaveLength(6)
  },
)

it.each<Era>(['legacy', 'modern'])(
  'a cell whose response over HTTP broke repeats nothing for a %s client',
  async (era) => {
    const { entry, sent, got } = mailbox()
    const bridge = await startHttpBridge({ servers: { mail: entry } })
    const client = await bridge.connect(era)
    const leave = new AbortController()
    const lost = client.run(threeMails(20), {}, { signal: leave.signal }).catch(() => undefined)
    await got(2)
    leave.abort()
    await lost
    await sleep(WRITTEN_MS)
    const text = await client.run(threeMails(0))
    for (const words of [THREE_ANSWERS, TWO_USED]) expect(text).toContain(words)
    expect(sent()).toEqual(['send one', 'send two', 'send three'])
    expect(await client.run(threeMails(0))).not.toContain('used again')
    expect(sent()).toHaveLength(6)
  },
)

it('a client over HTTP that comes back at once as another repeats nothing, and its lost cell goes on with no call', async () => {
  const { entry, sent, got } = mailbox()
  const bridge = await startHttpBridge({ servers: { mail: entry } })
  const first = await bridge.connect('legacy')
  void first.run(threeMails(4)).catch(() => undefined)
  await got(2)
  await first.client.close()
  const text = await (await bridge.connect('legacy')).run(threeMails(0))
  for (const words of [THREE_ANSWERS, TWO_USED]) expect(text).toContain(words)
  await sleep(6_000)
  expect(sent()).toEqual(['send one', 'send two', 'send three'])
})

it.each<Era>(['legacy', 'modern'])(
  'a %s client over HTTP makes its calls while another one with its token has given up the same cell',
  async (era) => {
    const { entry, sent, got } = mailbox()
    const bridge = await startHttpBridge({ servers: { mail: entry } })
    const windows = await Promise.all([1, 2].map(() => bridge.connect(era)))
    const known = await Promise.all(windows.map(async (one) => (await one.run('1')).match(/session="([^"]+)"/)?.[1]))
    const run = (at: 0 | 1, seconds: number, options = {}) =>
      windows[at]!.run(threeMails(seconds), known[at] === undefined ? {} : { session: known[at] }, options)
    const leave = new AbortController()
    const lost = run(0, 20, { signal: leave.signal }).catch(() => undefined)
    await got(2)
    leave.abort()
    await lost
    expect(await run(1, 0)).not.toContain('sandbridge')
    expect(sent()).toHaveLength(5)
    expect(await run(0, 0)).toContain(TWO_USED)
    expect(sent()).toHaveLength(6)
  },
)

it('two windows of a client go on where each of them was after their resident was killed', async () => {
  const { entry, sent, got } = mailbox()
  const { connect, residents } = residentHome({ mail: entry }, { MCP_BRIDGE_RESIDENT: 'on idle=60' })
  const windows = [await connect('me'), await connect('me')]
  const cell = (text: string, seconds: number) =>
    `await mcp_mail.send(text="both"); await mcp_mail.send(text="${text}"); import time; time.sleep(${seconds})`
  const lost = [windows[0]!.run(cell('one', 20)), windows[1]!.run(cell('two', 20))]
  await got(4)
  await sleep(WRITTEN_MS)
  process.kill(residents().at(-1)!, 'SIGKILL')
  await Promise.allSettled(lost)
  for (const at of [1, 0]) expect(await windows[at]!.run(cell(['one', 'two'][at]!, 0))).toContain(TWO_USED)
  expect(sent()).toHaveLength(4)
})

it.each(['files', 'PostgreSQL'])(
  'clients whose HTTP bridge was killed go on at the next one, each with its own calls, by %s',
  async (where) => {
    const { entry, sent, got } = mailbox()
    const home = makeHome({ mail: entry })
    let env = {}
    if (where === 'PostgreSQL') {
      if (NO_POSTGRES !== undefined) skip(NO_POSTGRES)
      const postgres = await TestPostgres.start()
      onTestFinished(() => postgres.remove())
      env = { MCP_BRIDGE_STORAGE: await postgres.database(), MCP_BRIDGE_SIGN_IN_KEY: 'ab'.repeat(32) }
    }
    const first = await startHttpBridge({ home, env, ownProcess: true })
    const other = (seconds: number) => `await mcp_mail.send(text="other"); import time; time.sleep(${seconds})`
    // They wait for the bridge to come back.
    for (const code of [threeMails(20), other(20)])
      void (await first.connect('legacy')).run(code).catch(() => undefined)
    await got(3)
    await sleep(WRITTEN_MS)
    process.kill(first.pid, 'SIGKILL')
    const second = await startHttpBridge({ home, env, ownProcess: true })
    expect(existsSync(path.join(home, 'MCPs/.sandbridge/once'))).toBe(where === 'files')
    expect(await (await second.connect('legacy')).run(other(0))).toContain('used again: mail.send (1).')
    expect(await (await second.connect('legacy')).run(threeMails(0))).toContain(TWO_USED)
    expect(sent().toSorted()).toEqual(['send one', 'send other', 'send three', 'send two'])
  },
)

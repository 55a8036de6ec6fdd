// @module-tag whole: a fault that takes seconds to make
// This file verifies that asking the user fails closed: when the bridge is killed, a client disconnects, an answer and
// a cancellation coincide, thousands of questions arrive, or the clock is set. Each has a control: without the fault
// the call is made.
import { readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { readRecord } from '@sandbridge/record/audit/read-record.ts'
import { LogFolder } from '../../packages/core/src/util/stores/files/log-folder.ts'
import { fixtureServer, makeHome, type ServerEntry } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import type { Era } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { approve, caught, ruledBridge, sharedRuledBridge } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'
import { sharedHttpBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { shiftingClock } from '@sandbridge/core/test/support/machine/shifting-clock.ts'

const ONCE = 'yes, this once'
const ask = { ask: ['hub__create_issue'] }
const HOUR_MS = 3_600_000
const call = caught('i = 1; await mcp_hub.create_issue(id=i)')
const never = () => new Promise<never>(() => {})

it('a bridge that is killed while it asks has made no call, and the next bridge asks again', async () => {
  const first = await ruledBridge({ permissions: ask, answer: never, ownProcess: true })
  const running = first.bridge.run(call).catch(() => 'gone')
  await until(() => first.questions.length === 1)
  process.kill(first.bridge.pid, 'SIGKILL')
  expect(await running).toBe('gone')
  const answers = ['no', ONCE]
  const next = await ruledBridge({ home: first.home, answer: () => answers.shift() })
  expect(await next.bridge.run(call)).toContain('the user said no')
  expect(next.reached()).toEqual([])
  expect(await next.bridge.run(call)).toBe('called')
  expect(next.reached()).toHaveLength(1)
})

it('a bridge that is killed drops the answer that is given in a terminal', async () => {
  const { bridge, home } = await ruledBridge({ permissions: ask, ownProcess: true })
  const answerYes = async (): Promise<string> => {
    expect(await bridge.run(call)).toContain('denied')
    const [question] = JSON.parse(await approve(home, '--json')) as { id: string }[]
    expect(await approve(home, question!.id, '--answer', 'yes')).toContain('Answered: yes')
    return question!.id
  }
  // The control: the answer counts once while the bridge lives.
  await answerYes()
  expect(await bridge.run(call)).toBe('called')
  const id = await answerYes()
  process.kill(bridge.pid, 'SIGKILL')
  const next = await ruledBridge({ home })
  const before = next.reached().length
  expect(await next.bridge.run(call)).toContain('denied')
  expect(next.reached()).toHaveLength(before)
  // No one can answer the questions of a dead bridge.
  const open = JSON.parse(await approve(home, '--json')) as { id: string }[]
  expect(open.map((one) => one.id)).not.toContain(id)
  expect(open).toHaveLength(1)
})

const journal = path.join(makeHome(), 'journal')
const overHttp = sharedHttpBridge({
  servers: { hub: { ...fixtureServer('ruled.mjs', journal), permissions: ask } as ServerEntry },
  env: { MCP_BRIDGE_ASK_TIMEOUT: '5' },
})

describe.each(['legacy', 'modern'] as const)(
  'an HTTP client of the %s era that disconnects while it is asked',
  (era: Era) => {
    it(`an HTTP client of the ${era} era that disconnects while it is asked ends its question: its call is denied, and no other client is asked`, async () => {
      const bridge = overHttp()
      rmSync(journal, { force: true })
      const asked = { leaving: 0, staying: 0 }
      const connect = (who: keyof typeof asked, answer: () => unknown) =>
        bridge.connect(era, {
          clientName: `${who} ${era}`,
          capabilities: { elicitation: { form: {} } },
          prepare: (client) =>
            client.setRequestHandler('elicitation/create', async () => {
              asked[who] += 1
              return (await answer()) as { action: 'decline' }
            }),
        })
      const leaving = await connect('leaving', never)
      const staying = await connect('staying', () => ({ action: 'accept', content: { answer: ONCE } }))
      await staying.run('1')
      void leaving.run(call).catch(() => {})
      await until(() => asked.leaving === 1)
      if (era === 'legacy') await leaving.transport.terminateSession()
      await leaving.client.close()
      const record = new LogFolder(path.join(bridge.home, 'MCPs/.sandbridge/audit'))
      const recorded = async () =>
        (await readRecord(record, {}, 1_000))
          .map(({ fields }) => fields)
          .filter((entry) => entry['type'] === 'answer' && String(entry['client']).endsWith(era))
      await until(async () => (await recorded()).length > 0)
      expect(await recorded()).toMatchObject([{ client: `leaving ${era}`, answer: 'unanswered' }])
      expect(asked).toEqual({ leaving: 1, staying: 0 })
      expect(readdirSync(path.dirname(journal))).not.toContain('journal')
      expect(await staying.run(call)).toContain('called')
      expect(asked).toEqual({ leaving: 1, staying: 1 })
    })
  },
)

/** What the user says to the next questions. */
let says: (message: string) => unknown
const shared = sharedRuledBridge({ env: { MCP_BRIDGE_TIMEOUT: '100' }, answer: (message) => says(message) })

it('a yes and a cancellation at the same moment make no call', async () => {
  let controller = new AbortController()
  let isCancelled = true
  says = () => {
    if (isCancelled) controller.abort()
    return ONCE
  }
  const { bridge, reached, questions } = shared(ask)
  for (let count = 1; count <= 10; count += 1) {
    controller = new AbortController()
    await expect(bridge.call({ code: call }, { signal: controller.signal })).rejects.toThrow()
    expect(questions).toHaveLength(count)
  }
  // The cancelled cells have ended when the next one runs.
  await bridge.run('1')
  expect(reached()).toEqual([])
  isCancelled = false
  expect(await bridge.run(call)).toBe('called')
  expect(reached()).toHaveLength(1)
})

it(
  'a thousand questions of one cell are asked one after the other, and those over the limit are denied',
  { timeout: 180_000 },
  async () => {
    says = (message) => (message.includes('a7:') ? ONCE : 'no')
    const { bridge, reached, questions } = shared(ask)
    // Other argument names give another question.
    const code = `
import asyncio, collections
async def one(n):
    try:
        await mcp_hub.create_issue(**{f"a{n}": n})
        return "called"
    except runtime.PermissionDenied as error:
        return "tooMany" if "more than 1000 calls wait" in str(error) else "denied" if "user said no" in str(error) else str(error)
dict(collections.Counter(await asyncio.gather(*(one(n) for n in range(1100)))))`
    const { text } = await bridge.call({ code }, { onprogress: () => {} })
    const { denied, called, tooMany, ...others } = JSON.parse(text.split('\n', 1)[0]!.replaceAll("'", '"')) as Record<
      string,
      number
    >
    expect([denied! + called! + tooMany!, called, others]).toEqual([1_100, 1, {}])
    expect(tooMany).toBeGreaterThan(0)
    expect(questions).toHaveLength(denied! + called!)
    expect(reached()).toEqual([['create_issue', { a7: 7 }]])
  },
)

describe('the time of day', () => {
  /** A bridge whose clock can be set. */
  const withClock = (timeout: string) => {
    const home = makeHome()
    const clock = shiftingClock(home)
    return { home, clock, shared: sharedRuledBridge({ home, env: { ...clock.env, MCP_BRIDGE_ASK_TIMEOUT: timeout } }) }
  }
  const [patient, hasty] = [withClock('300'), withClock('5')]

  it('a clock that is set back or forth does not lift a limit per hour', async () => {
    const drop = caught('i = 1; await mcp_hub.delete_repo(id=i)')
    patient.clock.set(0)
    const { bridge, reached } = patient.shared({ allow: [{ tool: 'hub__delete_repo', perHour: 2 }] })
    for (const expected of ['called', 'called', 'denied']) expect(await bridge.run(drop)).toContain(expected)
    for (const shift of [-2 * HOUR_MS, 2 * HOUR_MS, 30 * HOUR_MS]) {
      patient.clock.set(shift)
      // The control: the bridge's clock jumps.
      const name = `at ${shift}.txt`
      const created = await bridge.run(
        `runtime.save_artifact("${name}", "x"); [a.createdAt for a in runtime.artifacts() if a.name == "${name}"][0]`,
      )
      expect(Math.abs(new Date(created.slice(1, -1)).getTime() - Date.now() - shift)).toBeLessThan(HOUR_MS / 2)
      expect(await bridge.run(drop)).toContain('denied')
    }
    expect(reached()).toHaveLength(2)
  })

  it.each([
    ['5', 5_500, 'denied', hasty],
    ['300', 0, 'called', patient],
  ] as const)(
    'a changed clock does not make an answer count that comes too late: with %s s to answer, after %i ms',
    async (_timeout, ms, expected, { clock, home, shared: clocked }) => {
      clock.set(0)
      const { bridge } = clocked(ask)
      clock.set(2 * HOUR_MS)
      expect(await bridge.run(call)).toContain('denied')
      const [question] = JSON.parse(await approve(home, '--json')) as { id: string }[]
      await sleep(ms)
      expect(await approve(home, question!.id, '--answer', 'yes')).toContain('Answered: yes')
      expect(await bridge.run(call)).toContain(expected)
    },
  )
})

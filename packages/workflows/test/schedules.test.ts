// @module-tag whole: it waits for schedules
// This file verifies that a scheduled workflow runs once for each due time, in one bridge, with only the rights it was
// given, and that a failure to run is reported.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { timesBetween } from '../src/schedule/cron-times.ts'
import { writtenHash } from '../src/declared-flows.ts'
import { Scheduler } from '../src/schedule/scheduler.ts'
import { ScheduleStore } from '../src/schedule/schedules.ts'
import { SavedToolStore } from '@sandbridge/memories/saved/saved-tool-store.ts'
import { bridgeEnv, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type ObservedBridge, openObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const SAVE = `
async def report(week: int, wait: float = 0):
    import asyncio
    await asyncio.sleep(wait)
    await mcp_ledger.add_line(text=f"week {week}")
runtime.save_workflow("weekly-report", report)
async def tidy():
    import asyncio
    lines = [mcp_ledger.add_line(text=str(n)) for n in range(3)]
    await asyncio.gather(*lines, return_exceptions=True)
runtime.save_workflow("tidy", tidy)`
const ASKS = { ask: ['ledger__add_line'] }

let observed: ObservedBridge
let ledger: string
const lines = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : [])
const store = () => new ScheduleStore(observed.bridge.stores.of(undefined))
const at = (time: string) => new Date(`2027-03-01T${time}Z`)
const EVERY_HOUR = {
  workflow: 'weekly-report',
  when: '0 * * * *',
  zone: 'UTC',
  words: ['--week', '9'],
  sha256: '',
  allowed: [],
}

let close: () => Promise<void>

beforeAll(async () => {
  observed = await openObserved({ servers: { ledger: fixtureServer('ledger.mjs') } }, (end) => (close = end))
  ledger = path.join(observed.home, 'ledger')
  observed.redefine({ ledger: { ...fixtureServer('ledger.mjs'), env: { LEDGER: ledger } } })
  const saved = await observed.run(SAVE)
  expect(saved.isError, JSON.stringify(saved.content)).toBeFalsy()
})
afterAll(() => close())

/** Each test has its own schedules, lines, rules and events. */
beforeEach(async () => {
  for (const id of Object.keys(await store().list())) await store().remove(id)
  for (const file of [ledger, rulesFile()]) rmSync(file, { force: true })
  observed.bridge.events.flush()
  observed.events.length = 0
})

const rulesFile = () => path.join(observed.bridge.settings.stateDir, 'permissions.json')

function setRules(rules: object): void {
  writeFileSync(rulesFile(), JSON.stringify({ permissions: rules }))
}

async function look(now: Date, scheduler = new Scheduler(observed.opened)): Promise<void> {
  await scheduler.look(now)
  await scheduler.idle()
  observed.bridge.events.flush()
}

const runs = async (id = 'weekly-report') => (await store().list())[id]!.runs

it('auto is the date in the time zone of the schedule', async () => {
  // 23:00 on the last day of February in UTC, and already March in Berlin.
  await observed.run(SAVE.replace('week: int', 'date: str').replace('week {week}', '{date}').replace('weekly', 'daily'))
  const due = new Date('2027-02-28T23:00:00Z')
  for (const zone of ['Europe/Berlin', 'America/New_York'])
    await store().add(
      { ...EVERY_HOUR, workflow: 'daily-report', zone, words: ['--date', 'auto'] },
      new Date(due.getTime() - 1_000),
    )
  await look(due)
  expect(lines().toSorted((a, b) => a.localeCompare(b))).toEqual(['2027-02-28', '2027-03-01'])
})

it('a scheduled workflow that is due runs once, and the record has the run', async () => {
  await store().add(EVERY_HOUR, at('08:30:00'))
  await look(at('08:59:59'))
  expect(lines()).toEqual([])
  await look(at('09:00:01'))
  await look(at('09:00:20'))
  expect(lines()).toEqual(['week 9'])
  expect(await runs()).toMatchObject([{ due: '2027-03-01T09:00:00.000Z', outcome: 'ok' }])
  expect(observed.of('run.ended').filter(({ client }) => client === 'schedule')).toMatchObject([{ outcome: 'ok' }])
  expect(observed.of('call.ended')).toHaveLength(1)
})

it('two scheduled workflows that are due at the same moment both run, each once', async () => {
  await observed.run(SAVE.replace('weekly-report', 'other-report').replace('week {week}', 'other {week}'))
  await store().add(EVERY_HOUR, at('08:30:00'))
  await store().add({ ...EVERY_HOUR, workflow: 'other-report' }, at('08:30:00'))
  await look(at('09:00:01'))
  await look(at('09:00:01'))
  expect(lines().toSorted((a, b) => a.localeCompare(b))).toEqual(['other 9', 'week 9'])
  expect([...(await runs()), ...(await runs('other-report'))]).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }])
})

it('a scheduled workflow is run by one of several bridges', async () => {
  await store().add(EVERY_HOUR, at('08:30:00'))
  await Promise.all(Array.from({ length: 8 }, () => look(at('09:00:01'), new Scheduler(observed.opened))))
  expect(lines()).toEqual(['week 9'])
})

it('a scheduled time at which no bridge served is missed, and reported', async () => {
  await store().add(EVERY_HOUR, at('04:30:00'))
  await look(at('09:30:00'))
  expect(lines()).toEqual([])
  expect(await runs()).toMatchObject([{ due: '2027-03-01T09:00:00.000Z', outcome: 'missed' }])
  expect(observed.of('run.ended').at(-1)).toMatchObject({
    error: { code: 'MISSED', message: expect.stringContaining('No bridge served HTTP') as string },
  })
})

it('a scheduled run that has not ended makes the next one be skipped, and reported', async () => {
  await store().add({ ...EVERY_HOUR, words: ['--week', '9', '--wait', '1'] }, at('08:30:00'))
  const scheduler = new Scheduler(observed.opened)
  await scheduler.look(at('09:00:01'))
  await look(at('10:00:01'))
  expect(await runs()).toMatchObject([{}, { waitsFor: '2027-03-01T09:00:00.000Z' }])
  await look(at('10:02:01'))
  await scheduler.idle()
  expect(lines()).toEqual(['week 9'])
  expect(await runs()).toMatchObject([{ outcome: 'ok' }, { outcome: 'skipped' }])
  expect(observed.of('run.ended').map(({ error }) => error?.code)).toContain('SKIPPED')
})

it('a scheduled run whose bridge has died does not hold up the next one', async () => {
  const { id } = await store().add(EVERY_HOUR, at('08:30:00'))
  await store().claim(at('09:00:01'))
  const file = path.join(observed.bridge.settings.stateDir, '.sandbridge', 'schedules.json')
  // The control: while its process exists, the run continues.
  await look(at('10:00:01'))
  expect((await runs(id)).at(-1)).toMatchObject({ waitsFor: '2027-03-01T09:00:00.000Z' })
  writeFileSync(file, readFileSync(file, 'utf8').replace(`"pid": ${process.pid}`, '"pid": 4194305'))
  await look(at('11:00:01'))
  expect((await runs(id)).map(({ outcome }) => outcome)).toEqual(['failed', 'skipped', 'ok'])
})

it('a schedule that the bridge cannot read is logged once, and the others run', async () => {
  const { id } = await store().add({ ...EVERY_HOUR, words: [], zone: 'Mars/Olympus' }, at('08:30:00'))
  await store().add(EVERY_HOUR, at('08:30:00'))
  const logged = vi.spyOn(observed.bridge.log, 'error')
  onTestFinished(() => logged.mockRestore())
  const scheduler = new Scheduler(observed.opened)
  await look(at('09:00:01'), scheduler)
  await look(at('09:00:20'), scheduler)
  expect(lines()).toEqual(['week 9'])
  expect(logged.mock.calls).toEqual([['A schedule cannot be run', expect.objectContaining({ schedule: id }) as object]])
})

it('a clock that is set back makes no scheduled run twice', async () => {
  await store().add(EVERY_HOUR, at('08:30:00'))
  await look(at('09:00:01'))
  await look(at('08:10:00'))
  await look(at('09:00:01'))
  expect(lines()).toEqual(['week 9'])
  await look(at('10:00:01'))
  expect(lines()).toHaveLength(2)
})

it('a scheduled hour that comes twice is one run, and one that does not come runs the moment after', () => {
  const runsOn = (day: string) =>
    timesBetween('30 2 * * *', 'Europe/Berlin', new Date(`${day}T00:00:00+01:00`), new Date(`${day}T12:00:00Z`))
  expect(runsOn('2026-10-25')).toHaveLength(1)
  expect(runsOn('2026-03-29').map((time) => time.toISOString())).toEqual(['2026-03-29T01:00:00.000Z'])
})

it('a scheduled run that fails is reported with its reason', async () => {
  await store().add({ ...EVERY_HOUR, words: ['--weak', '9'] }, at('08:30:00'))
  await look(at('09:00:01'))
  expect(await runs()).toMatchObject([{ outcome: 'failed', message: "There is no parameter 'weak'" }])
})

it('a call that asks is refused in a scheduled run, unless it was allowed for this version', async () => {
  const asking = SAVE.replace('weekly-report', 'asking-report')
  await observed.run(asking)
  setRules(ASKS)
  const schedule = { ...EVERY_HOUR, workflow: 'asking-report' }
  const allowed = ['ledger__add_line']
  await store().add(schedule, at('08:30:00'))
  await look(at('09:00:01'))
  expect(lines()).toEqual([])
  expect(await runs('asking-report')).toMatchObject([
    { outcome: 'failed', message: expect.stringContaining('unattended') },
  ])
  const savedTools = new SavedToolStore(observed.bridge.stores.of(undefined))
  const sha256 = await writtenHash(await savedTools.find('asking_report'), savedTools)
  const { id } = await store().add({ ...schedule, sha256, allowed }, at('09:30:00'))
  await look(at('10:00:01'))
  expect(lines()).toEqual(['week 9'])
  await observed.run(asking.replace('week {week}', 'other {week}'))
  await look(at('11:00:01'))
  expect((await runs(id)).at(-1)).toMatchObject({ outcome: 'failed' })
  expect(lines()).toEqual(['week 9'])
})

it('a bridge over HTTP runs scheduled workflows, and a command sets, lists and ends them', async () => {
  const home = makeHome()
  cpSync(path.join(observed.home, 'MCPs/.sandbridge/tools'), path.join(home, 'MCPs/.sandbridge/tools'), {
    recursive: true,
  })
  const own = path.join(home, 'ledger')
  const entry = { ...fixtureServer('ledger.mjs'), env: { LEDGER: own } }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: { ledger: entry } }))
  const sandbridge = (...args: string[]) => runCommand(args, bridgeEnv(home), { cwd: home })
  const added = await sandbridge('schedule', 'weekly-report', '* * * * *', '--week', 'auto', '--zone', 'UTC')
  expect(added.stdout).toMatch(/^'weekly-report' runs next at \d{4}-\d\d-\d\d \d\d:\d\d UTC, in a bridge/)
  const file = path.join(home, 'MCPs/.sandbridge/schedules.json')
  const minuteAgo = new Date(Date.now() - 61_000).toISOString()
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"considered": "[^"]*"/, `"considered": "${minuteAgo}"`))
  await startHttpBridge({ home })
  await expect.poll(() => readFileSync(own, 'utf8')).toMatch(/^week \d+\n/)
  await expect.poll(() => readFileSync(file, 'utf8')).toMatch(/"outcome": "ok"/)
  expect((await sandbridge('schedule')).stdout).toMatch(/^weekly-report {2}\* \* \* \* \* {2}\S+ \S+ UTC {2}ok /)
  const again = await sandbridge('schedule', 'weekly-report', '* * * * *', '--week', 'auto', '--zone', 'UTC', '--json')
  expect(JSON.parse(again.stdout)).toEqual({
    id: 'weekly-report',
    next: expect.stringMatching(/:00\.000Z$/) as string,
    replaced: ['weekly-report'],
    others: [],
  })
  const removed = await sandbridge('schedule', 'weekly-report', '--remove', '--json')
  expect(JSON.parse(removed.stdout)).toEqual({ removed: 'weekly-report' })
  expect(JSON.parse((await sandbridge('schedule', '--json')).stdout)).toEqual([])
})

it('a workflow that is scheduled again with the same time and parameters replaces its schedule', async () => {
  const schedule = async (...args: string[]) =>
    (await runCommand(['schedule', 'weekly-report', ...args, '--zone', 'UTC'], bridgeEnv(observed.home))).stdout
  await schedule('0 8 * * 1', '--week', 'auto')
  expect(await schedule('0  8 * * 1', '--week', 'auto', '--allow', 'ledger__add_line')).toMatch(
    /^Replaced 'weekly-report': .*\n'weekly-report' runs next at /,
  )
  expect(Object.values(await store().list())).toMatchObject([{ allowed: ['ledger__add_line'] }])
  // The control: another time or another parameter is another schedule.
  expect(await schedule('0 9 * * 1', '--week', 'auto')).toMatch(
    /^weekly-report stays scheduled as 'weekly-report', too\. .*\n'weekly-report-2' runs next at /,
  )
  await schedule('0 8 * * 1', '--week', '7')
  expect(Object.keys(await store().list())).toEqual(['weekly-report', 'weekly-report-2', 'weekly-report-3'])
})

it('a schedule with an impossible time, zone, tool or parameter is refused', async () => {
  const refused = async (...args: string[]) =>
    (await runCommand(['schedule', ...args], bridgeEnv(observed.home))).stderr
  const name = 'weekly-report'
  expect(await refused(name)).toContain('The time is missing')
  expect(await refused(name, '0 8 31 2 *', '--week', '1')).toContain("'0 8 31 2 *' never comes")
  expect(await refused(name, '0 8 * * *', '--week', '1', '--zone', 'Mars')).toContain("There is no time zone 'Mars'")
  expect(await refused(name, '0 8 * * *', '--week', '1', '--allow', 'x__y')).toContain('does not name the tool')
  expect(await refused(name, '0 8 * * *')).toContain('--week is missing')
  expect(await refused('other', '--remove')).toContain("Nothing is scheduled as 'other'")
})

it('a scheduled run whose code caught the refusal of its calls says so in the list of schedules', async () => {
  setRules(ASKS)
  await store().add({ ...EVERY_HOUR, workflow: 'tidy', words: [] }, at('07:30:00'))
  await look(at('08:00:01'))
  expect(await runs('tidy')).toMatchObject([{ outcome: 'ok', message: '3 calls refused: ledger.add_line (3 times)' }])
  // Control: where nothing is refused, nothing is said.
  setRules({})
  await look(at('09:00:01'))
  const later = (await runs('tidy')).at(-1)!
  expect([later.outcome, later.message, lines().length]).toEqual(['ok', undefined, 3])
})

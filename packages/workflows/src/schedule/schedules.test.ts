// This file verifies which due times are run, and what is recorded of the others.
import { expect, it } from 'vitest'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { hostId, startTime } from '../../../core/src/util/process/process-id.ts'
import { ScheduleStore } from './schedules.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

async function scheduled(when: string, since: string) {
  const folder = newFolder()
  const store = fileStore(folder)
  const schedules = new ScheduleStore(store)
  await schedules.add({ workflow: 'report', when, zone: 'UTC', words: [], sha256: '', allowed: [] }, at(since))
  /** Each due time with what became of it. */
  const runs = async () =>
    (await schedules.list())['report']!.runs.map(
      ({ due, outcome, message = '' }) => `${due.slice(11, 16)} ${outcome} ${message}`,
    )
  return { store, schedules, runs }
}

const at = (time: string) => new Date(`2027-03-01T${time}Z`)

const OTHER_MACHINE = { host: 'another-machine', pid: process.pid }
/** As where the system does not tell the start of a process. */
const OF_UNKNOWN_START = { host: hostId(), pid: process.pid }
const EARLIER_WITH_THIS_ID = { ...OF_UNKNOWN_START, started: 'another boot 1' }

it.each([
  [
    'on another machine that began an hour or less ago is in progress: the next run waits',
    OTHER_MACHINE,
    '09:55',
    true,
  ],
  ['on another machine that began longer ago than any run takes has failed', OTHER_MACHINE, '08:00', false],
  ['on this machine that began an hour or less ago is in progress', OF_UNKNOWN_START, '09:55', true],
  ['on this machine that began longer ago than any run takes has failed', OF_UNKNOWN_START, '08:00', false],
  ['whose process id belongs to another process by now has failed', EARLIER_WITH_THIS_ID, '09:55', false],
])('a run of a bridge %s', async (_what, by, began, isRunning) => {
  if (by === EARLIER_WITH_THIS_ID && startTime(process.pid) === undefined) return
  const { store, schedules } = await scheduled('0 * * * *', '09:30:00')
  const startedAt = at(`${began}:00`).toISOString()
  await store.document('schedules.json').update(async (read) => {
    const all = JSON.parse((await read())!) as { report: { runs: object[] } }
    all.report.runs.push({ due: startedAt, startedAt, by })
    return JSON.stringify(all)
  })
  const claimed = await schedules.claim(at('10:00:30'))
  const [before] = (await schedules.list())['report']!.runs
  expect(claimed).toHaveLength(isRunning ? 0 : 1)
  expect(before).toMatchObject({ by, ...(!isRunning && { outcome: 'failed' }) })
})

it('a run that goes on in this bridge after a long sleep of the machine holds up the next one', async () => {
  const { schedules, store, runs } = await scheduled('0 * * * *', '07:30:00')
  const [first] = await schedules.claim(at('08:00:05'))
  expect(await schedules.claim(at('11:00:05'))).toMatchObject([{ run: { outcome: 'missed' } }])
  // Another bridge cannot know.
  const [next] = await new ScheduleStore(store).claim(at('11:00:06'))
  expect(next).toMatchObject({ run: { due: at('11:00:00').toISOString() } })
  expect((await runs())[0]).toBe('08:00 failed Its bridge has not recorded its end.')
  await schedules.end('report', first!.run, { outcome: 'ok' }, at('11:00:10'))
  expect((await runs()).map((told) => told.slice(0, 12))).toEqual(['08:00 ok ', '10:00 missed', '11:00 undefi'])
})

it('a run that is due while its bridge was paused in the run before begins late, when that has ended', async () => {
  const { schedules, runs } = await scheduled('* * * * *', '15:51:30')
  const [first] = await schedules.claim(at('15:52:05'))
  // The bridge is paused over 15:53 and looks before it has stored the end of the run.
  expect(await schedules.claim(at('15:53:40'))).toEqual([])
  await schedules.end('report', first!.run, { outcome: 'ok' }, at('15:53:41'))
  const [second] = await schedules.claim(at('15:53:55'))
  expect(second!.run).toMatchObject({ due: at('15:53:00').toISOString(), startedAt: at('15:53:55').toISOString() })
  await schedules.end('report', second!.run, { outcome: 'ok' }, at('15:53:56'))
  expect(await runs()).toEqual(['15:52 ok ', '15:53 ok '])
})

it('each due time after a pause is recorded with its reason: too old, replaced by a newer one, or run', async () => {
  const { schedules, runs } = await scheduled('* * * * *', '15:51:30')
  const claimed = await schedules.claim(at('15:56:30'))
  expect(claimed.map(({ count }) => count)).toEqual([3, 1, 1])
  expect(await runs()).toEqual([
    '15:54 missed No bridge served HTTP within 2 minutes of that time, or it was paused. The 2 times before it were missed, too.',
    '15:55 skipped The run of 2027-03-01T15:56:00.000Z replaces it.',
    '15:56 undefined ',
  ])
})

it('a run that waits is skipped when the run before has not ended in time, or a newer run is due', async () => {
  const { schedules, runs } = await scheduled('*/2 * * * *', '15:51:30')
  const [first] = await schedules.claim(at('15:52:05'))
  expect(await schedules.claim(at('15:54:05'))).toEqual([])
  expect(await schedules.claim(at('15:54:20'))).toEqual([])
  expect(await schedules.claim(at('15:56:05'))).toMatchObject([{ run: { due: at('15:54:00').toISOString() } }])
  await schedules.end('report', first!.run, { outcome: 'ok' }, at('15:56:10'))
  expect(await schedules.claim(at('15:56:20'))).toHaveLength(1)
  expect(await runs()).toEqual([
    '15:52 ok ',
    '15:54 skipped The run of 2027-03-01T15:52:00.000Z had not ended.',
    '15:56 undefined ',
  ])
})

it('a schedule that is added again keeps its runs, and stands in place of all that run the same', async () => {
  const { store, schedules, runs } = await scheduled('0 * * * *', '09:30:00')
  await schedules.claim(at('10:00:30'))
  await store.document('schedules.json').update(async (read) => {
    const { report } = JSON.parse((await read())!) as { report: object }
    return JSON.stringify({ report, 'report-2': report, 'report-3': { ...report, words: ['--x', '1'] } })
  })
  const again = { workflow: 'report', when: '0 * * * *', zone: 'UTC', words: [], sha256: 'new', allowed: [] }
  expect(await schedules.add(again, at('10:01:00'))).toEqual({
    id: 'report',
    replaced: ['report', 'report-2'],
    others: ['report-3'],
  })
  expect(Object.keys(await schedules.list())).toEqual(['report', 'report-3'])
  expect((await schedules.list())['report']).toMatchObject({ sha256: 'new' })
  expect(await runs()).toEqual(['10:00 undefined '])
})

it('a run that takes longer than twenty others are due is not forgotten', async () => {
  const { schedules, runs } = await scheduled('* * * * *', '09:00:05')
  const begun: string[] = []
  for (let minute = 1; minute < 45; minute += 1)
    for (const { run } of await schedules.claim(at(`09:${String(minute).padStart(2, '0')}:05`)))
      if (run.outcome === undefined) begun.push(run.due)
  expect(begun).toEqual([at('09:01:00').toISOString()])
  expect((await runs())[0]).toMatch(/^09:01 undefined/)
  // The run itself, and the one that waits for it.
  expect((await runs()).length).toBeLessThanOrEqual(22)
})

/** Looks in each minute, and ends each run at once. @returns the due times that were run */
async function runMinutes(schedules: ScheduleStore, minutes: number[]): Promise<string[]> {
  const made: string[] = []
  for (const minute of minutes)
    for (const { run } of await schedules.claim(at(`09:${String(minute).padStart(2, '0')}:05`))) {
      if (run.outcome !== undefined) continue
      made.push(run.due.slice(11, 16))
      await schedules.end('report', run, { outcome: 'ok' }, at('09:00:00'))
    }
  return made
}
const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

it('a clock that is set back by any number of runs repeats none', async () => {
  const { schedules } = await scheduled('* * * * *', '09:09:05')
  expect(await runMinutes(schedules, upTo(10, 50))).toHaveLength(41)
  // Times that were never run are run now.
  expect(await runMinutes(schedules, upTo(5, 40))).toEqual(['09:05', '09:06', '09:07', '09:08', '09:09'])
  expect(await runMinutes(schedules, upTo(41, 52))).toEqual(['09:51', '09:52'])
  expect(await runMinutes(schedules, upTo(5, 53))).toEqual(['09:53'])
})

it('times that a clock was ahead of are run when they come', async () => {
  const { schedules } = await scheduled('* * * * *', '09:09:05')
  expect(await runMinutes(schedules, upTo(10, 11))).toEqual(['09:10', '09:11'])
  expect(await runMinutes(schedules, [50])).toEqual(['09:50'])
  expect(await runMinutes(schedules, upTo(12, 14))).toEqual(['09:12', '09:13', '09:14'])
})

it('after a long break, the missed times are counted up to a limit', async () => {
  const { schedules, runs } = await scheduled('* * * * *', '00:00:30')
  expect(await schedules.claim(at('15:56:30'))).toHaveLength(3)
  expect(await runs()).toEqual([
    expect.stringMatching(/^15:54 missed .* At least 197 times before it were missed, too\.$/),
    '15:55 skipped The run of 2027-03-01T15:56:00.000Z replaces it.',
    '15:56 undefined ',
  ])
})

it('a schedule that this bridge cannot read stops no other one, and is reported', async () => {
  const { schedules, store } = await scheduled('0 * * * *', '09:30:00')
  await store.document('schedules.json').update(async (read) => {
    const { report } = JSON.parse((await read())!) as { report: object }
    return JSON.stringify({ first: { ...report, zone: 'Mars/Olympus' }, report, last: { ...report, when: 'soon' } })
  })
  const reported: string[] = []
  const claimed = await schedules.claim(at('10:00:30'), (id) => void reported.push(id))
  expect(claimed.map(({ id }) => id)).toEqual(['report'])
  expect([...new Set(reported)]).toEqual(['first', 'last'])
})

it('an entry that cannot be read holds up no other one, is kept as it is, and can be removed', async () => {
  const { store, schedules, runs } = await scheduled('0 * * * *', '07:30:00')
  const document = store.document('schedules.json')
  const broken = { report2: { workflow: 'report', when: '0 8 * * *' }, report3: 'text' }
  await document.update(async (read) => JSON.stringify({ ...broken, ...JSON.parse((await read())!) }))
  const told: string[] = []
  expect(await schedules.claim(at('08:00:01'), (id) => told.push(id))).toHaveLength(1)
  expect([told, await schedules.unreadable()]).toEqual([
    ['report2', 'report3'],
    ['report2', 'report3'],
  ])
  expect(await runs()).toHaveLength(1)
  const plan = { workflow: 'report', zone: 'UTC', words: [], sha256: '', allowed: [] }
  // Its name is taken.
  expect(await schedules.add({ ...plan, when: '0 9 * * *' }, at('08:10:00'))).toMatchObject({ id: 'report-2' })
  expect(JSON.parse((await document.read())!)).toMatchObject(broken)
  expect([await schedules.remove('report2'), await schedules.unreadable()]).toEqual([true, ['report3']])
})

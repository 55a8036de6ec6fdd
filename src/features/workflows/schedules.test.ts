// This file verifies which due times are run, and what is recorded of the others.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fileStore } from '../../keep/files/file-store.ts'
import { ScheduleStore } from './schedules.ts'

async function scheduled(when: string, since: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-schedules-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const store = fileStore(folder)
  const schedules = new ScheduleStore(store)
  await schedules.add({ workflow: 'report', when, zone: 'UTC', words: [], version: 1, allowed: [] }, at(since))
  /** Each due time with what became of it. */
  const runs = async () =>
    (await schedules.list())['report']!.runs.map(
      ({ due, outcome, message = '' }) => `${due.slice(11, 16)} ${outcome} ${message}`,
    )
  return { store, schedules, runs }
}

const at = (time: string) => new Date(`2027-03-01T${time}Z`)

it.each([
  ['an hour or less ago counts as running: the next run waits', '09:55:00', undefined],
  ['longer ago than any run takes counts as failed: the next run begins', '08:00:00', 'failed'],
])('a run of a bridge on another machine that began %s', async (_what, startedAt, outcome) => {
  const { store, schedules } = await scheduled('0 * * * *', '09:30:00')
  const by = { host: 'another-machine', pid: process.pid }
  await store.document('schedules.json').update(async (read) => {
    const all = JSON.parse((await read())!) as { report: { runs: object[] } }
    all.report.runs.push({ due: at(startedAt).toISOString(), startedAt: at(startedAt).toISOString(), by })
    return JSON.stringify(all)
  })
  const claimed = await schedules.claim(at('10:00:30'))
  const [before] = (await schedules.list())['report']!.runs
  expect(claimed).toHaveLength(outcome === undefined ? 0 : 1)
  expect(before).toMatchObject({ by, ...(outcome !== undefined && { outcome }) })
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
  const again = { workflow: 'report', when: '0 * * * *', zone: 'UTC', words: [], version: 2, allowed: [] }
  expect(await schedules.add(again, at('10:01:00'))).toEqual({
    id: 'report',
    replaced: ['report', 'report-2'],
    others: ['report-3'],
  })
  expect(Object.keys(await schedules.list())).toEqual(['report', 'report-3'])
  expect((await schedules.list())['report']).toMatchObject({ version: 2 })
  expect(await runs()).toEqual(['10:00 undefined '])
})

// This file verifies scheduled runs whose bridge ran on another machine, where its process cannot be checked.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { FileStore } from '../storage/file-store.ts'
import { ScheduleStore } from './schedules.ts'

const at = (time: string) => new Date(`2027-03-01T${time}Z`)

it.each([
  ['an hour or less ago counts as running: the next run is skipped', '09:55:00', 'skipped'],
  ['longer ago than any run takes counts as failed: the next run begins', '08:00:00', undefined],
])('a run of a bridge on another machine that began %s', async (_what, startedAt, outcome) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-schedules-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const store = new FileStore(folder)
  const schedules = new ScheduleStore(store)
  const schedule = { workflow: 'report', when: '0 * * * *', zone: 'UTC', words: [], version: 1, allowed: [] }
  await schedules.add(schedule, at('09:30:00'))
  const by = { host: 'another-machine', pid: process.pid }
  await store.document('schedules.json').update(async (read) => {
    const all = JSON.parse((await read())!) as { report: { runs: object[] } }
    all.report.runs.push({ due: at(startedAt).toISOString(), startedAt: at(startedAt).toISOString(), by })
    return JSON.stringify(all)
  })
  const [due] = await schedules.claim(at('10:00:30'))
  expect(due!.run.outcome).toBe(outcome)
  const [before] = (await schedules.list())['report']!.runs
  expect(before).toMatchObject({ by, ...(outcome === undefined && { outcome: 'failed' }) })
})

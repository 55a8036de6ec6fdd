// This file verifies that the record is read back as complete runs, in pages without gaps or repeats, however the lines
// are spread over files.
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeOldRecord } from '../../test/support/old-record.ts'
import { recordFiles } from './other-files.ts'
import { type RunCursor, readRunLines, readRuns } from './read-runs.ts'
import type { RunFilter } from '../run-row.ts'
import { LogFolder } from '../../../core/src/util/stores/files/log-folder.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const START = Date.UTC(2026, 10, 20)

function makeFolder(): string {
  const folder = newFolder()
  return path.join(folder, 'audit')
}

interface Run {
  at: number
  durationMs?: number
  session?: string
  status?: string
  calls?: { server: string; tool: string; denied?: boolean }[]
  isOpen?: boolean
}

/** Writes a bridge's lines about some runs, in files of `fileBytes`. */
async function write(folder: string, name: string, runs: readonly Run[], fileBytes?: number): Promise<void> {
  await writeOldRecord(
    folder,
    runs.flatMap((run, index) => linesOf(run, name, `${name}-${index}`)),
    fileBytes,
  )
}

function linesOf({ at, durationMs = 10, session, status = 'ok', calls = [], isOpen }: Run, name: string, cell: string) {
  const called = calls.map(({ server, tool, denied }, place) => ({
    time: new Date(at + place).toISOString(),
    type: denied ? 'denial' : 'call',
    id: `${cell}-${place}`,
    cell,
    server,
    name: tool,
  }))
  const run = {
    time: new Date(at + durationMs).toISOString(),
    type: 'run',
    id: cell,
    run: `run-${cell}`,
    session: session ?? name,
    number: 1,
    status,
    durationMs,
  }
  return isOpen ? called : [...called, run]
}

async function allPages(folder: string, filter: RunFilter, limit: number): Promise<string[]> {
  const ids: string[] = []
  let before: RunCursor | undefined
  do {
    const page = await readRuns(new LogFolder(folder), filter, { limit, ...(before && { before }) })
    expect(page.runs.length).toBeLessThanOrEqual(limit)
    ids.push(...page.runs.map(({ id }) => id))
    before = page.next
  } while (before)
  return ids
}

describe('the record as runs', () => {
  it('the record lists each run with its calls, newest first', async () => {
    const folder = makeFolder()
    const calls = [
      { server: 'hub', tool: 'a' },
      { server: 'mail', tool: 'b', denied: true },
    ]
    await write(folder, 'one', [{ at: START }, { at: START + 1_000, calls, status: 'error', durationMs: 500 }])
    const { runs, next } = await readRuns(new LogFolder(folder), {}, { limit: 10 })
    expect(next).toBeUndefined()
    expect(runs.map(({ id }) => id)).toEqual(['one-1', 'one-0'])
    expect(runs[0]).toMatchObject({
      kind: 'run',
      at: START + 1_000,
      status: 'error',
      durationMs: 500,
      callCount: 2,
      deniedCount: 1,
      servers: ['hub', 'mail'],
    })
  })

  it('pages of the record miss no run and repeat none, also of bridges that ran at the same time', async () => {
    const folder = makeFolder()
    const every = (step: number, count: number): Run[] =>
      Array.from({ length: count }, (_, index) => ({ at: START + index * step }))
    await write(folder, 'one', every(1_000, 90), 4_000)
    await write(folder, 'two', every(3_000, 30))
    await write(folder, 'same', every(0, 7))
    expect((await recordFiles(new LogFolder(folder))).length).toBeGreaterThan(4)
    const ids = await allPages(folder, {}, 10)
    expect(ids).toHaveLength(127)
    expect(new Set(ids).size).toBe(127)
    expect(ids[0]).toBe('one-89')
  })

  it('the record finds the calls of a run whose line is in the next file', async () => {
    const folder = makeFolder()
    const calls = (server: string, count: number) => Array.from({ length: count }, () => ({ server, tool: 'a' }))
    await write(folder, 'one', [{ at: START, calls: calls('hub', 30), isOpen: true }])
    await write(folder, 'two', [{ at: START + 5, calls: calls('mail', 25), durationMs: 60_000 }], 2_000)
    expect((await recordFiles(new LogFolder(folder))).length).toBeGreaterThan(3)
    const { runs } = await readRuns(new LogFolder(folder), { server: 'mail' }, { limit: 1 })
    expect(runs).toMatchObject([{ id: 'two-0', callCount: 25 }])
    const open = await readRuns(new LogFolder(folder), { server: 'hub' }, { limit: 5 })
    expect(open.runs).toMatchObject([{ id: 'one-0', kind: 'unfinished', status: 'unfinished', callCount: 30 }])
    const lines = await readRunLines(new LogFolder(folder), 'two-0', START + 5)
    expect(lines.map(({ type }) => type)).toEqual([...Array.from({ length: 25 }, () => 'call'), 'run'])
  })

  it.each<[string, RunFilter, string[]]>([
    ['a server', { server: 'mail' }, ['one-2']],
    ['denied calls', { denied: true }, ['one-2']],
    ['a state', { status: 'error' }, ['one-1']],
    ['a session', { session: 'ab' }, ['one-1']],
    ['a time', { since: START + 2_000 }, ['one-2']],
    ['words', { text: 'SEND mail' }, ['one-2']],
    ['words that are not there', { text: 'send nothing' }, []],
    ['words that only the memory has', { text: 'secret_plan' }, ['one-0']],
  ])('runs of the record are filtered by %s', async (_, filter, expected) => {
    const folder = makeFolder()
    await write(folder, 'one', [
      { at: START, calls: [{ server: 'hub', tool: 'a' }] },
      { at: START + 1_000, status: 'error', session: 'abc' },
      { at: START + 2_000, calls: [{ server: 'mail', tool: 'send', denied: true }] },
    ])
    const extraText = (id: string): string | undefined => (id === 'one-0' ? 'secret_plan()' : undefined)
    const { runs } = await readRuns(new LogFolder(folder), filter, { limit: 10, extraText })
    expect(runs.map(({ id }) => id)).toEqual(expected)
  })

  it('the record leaves files unread that are older than a page needs, and says where the next page begins', async () => {
    const folder = makeFolder()
    const now = Date.now()
    await write(folder, 'old', [{ at: now - 7_200_000 }])
    await write(folder, 'new', [{ at: now - 20 }, { at: now - 10 }])
    const page = await readRuns(new LogFolder(folder), {}, { limit: 2 })
    expect(page.runs.map(({ id }) => id)).toEqual(['new-1', 'new-0'])
    expect(page.next).toBeDefined()
    const older = await readRuns(new LogFolder(folder), {}, { limit: 2, before: page.next! })
    expect(older.runs.map(({ id }) => id)).toEqual(['old-0'])
    expect(older.next).toBeUndefined()
  })

  it('a record that was never written has no runs', async () => {
    expect(await readRuns(new LogFolder(makeFolder()), {}, { limit: 5 })).toEqual({ runs: [] })
  })
})

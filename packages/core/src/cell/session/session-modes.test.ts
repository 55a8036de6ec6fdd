import { tmpdir } from 'node:os'
// This file verifies what happens to a kernel after a cell: kept, given up, or replaced by one that gets its variables.
import { expect, it } from 'vitest'
import { FakeSandbox } from '../../../test/support/sandboxes/fake-sandbox.ts'
import { createLog } from '../../util/log.ts'
import { KernelPool } from './kernel-pool.ts'
import { Session } from './session.ts'
import { KeptTexts } from './kept-text.ts'

function open(options: { fresh?: boolean; checkpoint?: boolean; idleTimeoutMs?: number }) {
  const sandboxes: FakeSandbox[] = []
  const log = createLog('error', () => {})
  const start = async () => {
    const sandbox = new FakeSandbox().ready()
    sandboxes.push(sandbox)
    return sandbox
  }
  const pool = new KernelPool({
    provider: async () => ({ name: 'pyodide', prepare: async () => {}, start }),
    limits: { memoryBytes: 1 },
    size: 0,
    log,
  })
  const texts = new KeptTexts({ memoryBytes: 1024 * 1024, folder: tmpdir() })
  const session = new Session({ pool, texts, log, idleTimeoutMs: 60_000, ...options })
  /** Runs a cell in the sandbox with this index, and ends it with `end`. */
  const run = async (index: number, end: (sandbox: FakeSandbox, cell: unknown) => void) => {
    const result = session.run({ code: 'x', servers: [], timeoutMs: 10_000, onCall: async () => null })
    await expect.poll(() => sandboxes.length).toBeGreaterThan(index)
    const frame = await sandboxes[index]!.received('run')
    end(sandboxes[index]!, frame['cell'])
    return { result: await result, frame }
  }
  const done = (sandbox: FakeSandbox, cell: unknown) => sandbox.send({ type: 'done', cell, status: 'ok' })
  return { session, sandboxes, run, done }
}

it('a session in fresh mode gives each cell its own sandbox and ends it', async () => {
  const { sandboxes, session, run, done } = open({ fresh: true })
  await run(0, done)
  await run(1, done)
  expect(sandboxes.map((sandbox) => sandbox.disposed)).toEqual([true, true])
  expect(session.describe()).toMatchObject({ mode: 'fresh' })
})

it('a session in fresh mode is over with the cell that resets it, and only with that one', async () => {
  const { sandboxes, session, run, done } = open({})
  await run(0, done)
  session.resetAfterCell()
  const { result } = await run(0, done)
  expect(result.notes.join()).toMatch(/was reset/)
  expect(sandboxes[0]!.disposed).toBe(true)
  expect((await run(1, done)).result.notes).toEqual([])
  expect(sandboxes[1]!.disposed).toBe(false)
})

it('a session hands a checkpoint to the kernel after one that died, once', async () => {
  const { session, run, done } = open({ checkpoint: true })
  const first = await run(0, done)
  expect(first.frame).toMatchObject({ checkpoint: true })
  expect(first.frame).not.toHaveProperty('restore')
  session.keepCheckpoint({ data: 'AA==', kept: ['x'], lost: [] })
  const { result } = await run(0, (sandbox) => sandbox.end({ reason: 'out-of-memory' }))
  expect(result).toMatchObject({ status: 'killed', stateLost: true, carriedOver: true })
  expect(result.notes.join()).toMatch(/The next cell restores these as they were before this cell: x/)
  expect((await run(1, done)).frame).toMatchObject({ restore: 'AA==' })
  expect((await run(1, done)).frame).not.toHaveProperty('restore')
})

it('a session whose kernel ended between two cells tells the next one what was lost', async () => {
  const lost = ['area (function of a cell)', 'Point (class of a cell)']
  const expected =
    /restores the variables that were kept.*Lost: area \(function of a cell\), Point \(class of a cell\)\.$/
  const idle = open({ checkpoint: true, idleTimeoutMs: 1 })
  await idle.run(0, idle.done)
  idle.session.keepCheckpoint({ data: 'AA==', kept: ['x'], lost })
  await expect.poll(() => idle.sandboxes[0]!.disposed).toBe(true)
  expect((await idle.run(1, idle.done)).result.notes).toEqual([expect.stringMatching(expected)])

  const died = open({ checkpoint: true })
  await died.run(0, died.done)
  died.session.keepCheckpoint({ data: 'AA==', kept: ['x'], lost })
  died.sandboxes[0]!.end({ reason: 'out-of-memory' })
  expect((await died.run(1, died.done)).result.notes).toEqual([expect.stringMatching(expected)])

  const allGone = open({ checkpoint: true, idleTimeoutMs: 1 })
  await allGone.run(0, allGone.done)
  await expect.poll(() => allGone.sandboxes[0]!.disposed).toBe(true)
  expect((await allGone.run(1, allGone.done)).result.notes).toEqual([expect.stringMatching(/cells are gone\.$/)])
})

it('a session accepts no checkpoint that it did not ask for', () => {
  expect(() => open({}).session.keepCheckpoint({ data: '', kept: [], lost: [] })).toThrow(/is not checkpoint/)
})

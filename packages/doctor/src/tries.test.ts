// This file verifies that the checks of `sandbridge doctor` fail without a sandbox: in a bare Python. Linux only.
import { cpus } from 'node:os'
import { beforeEach, describe, expect, it } from 'vitest'
import { needsPython, runPython } from '@sandbridge/core/test/support/sandboxes/plain-python.ts'
import { type TryCell, tryCpus, tryEndless, tryProcesses } from './try-limits.ts'
import { tryFilter } from './check-sandbox.ts'

/** Runs on this machine itself, but claims to be a container. */
const bare: TryCell = (code) => {
  const { status, stdout } = runPython(['-W', 'ignore', '-c', code])
  return Promise.resolve({ status: status === 0 ? 'ok' : 'error', printed: stdout.trim(), provider: 'docker' })
}
const ended =
  (status: string): TryCell =>
  () =>
    Promise.resolve({ status, printed: '', provider: 'docker' })

describe('without a sandbox', () => {
  beforeEach(needsPython)
  it('doctor finds that there is no filter of system calls without a sandbox', async () => {
    expect(await tryFilter(bare)).toMatchObject({
      level: 'broken',
      message: expect.stringContaining('without our filter') as string,
      advice: expect.stringContaining('MCP_BRIDGE_RUNTIME') as string,
    })
  })

  it('doctor finds that there is no process limit without a sandbox', async () => {
    expect(await tryProcesses(bare, { pidsCount: 16 })).toMatchObject({
      level: 'broken',
      message: 'A cell has started 80 threads: MCP_BRIDGE_PIDS=16 has no effect.',
    })
  })

  it('doctor finds that there is no CPU limit without a sandbox', async () => {
    expect(await tryCpus(bare, { cpus: 0.01 })).toMatchObject([{ level: 'warning' }])
  })
})

it('doctor says that a CPU limit cannot be tried on a machine with no more CPUs, and says nothing without a limit', async () => {
  const [finding] = await tryCpus(bare, { cpus: cpus().length })
  expect(finding).toMatchObject({ level: 'ok', message: expect.stringContaining('cannot be tried') as string })
  expect(await tryCpus(bare, { cpus: undefined })).toEqual([])
})

it('doctor reports a broken sandbox when an endless cell is not stopped', async () => {
  expect(await tryEndless(ended('timeout'))).toMatchObject({ level: 'ok' })
  expect(await tryEndless(ended('killed'))).toMatchObject({ level: 'broken' })
})

it('doctor says when the time limit could not be tried', async () => {
  expect(await tryFilter(ended('error'))).toMatchObject({ level: 'warning', check: 'seccomp' })
  expect(await tryProcesses(ended('timeout'), { pidsCount: 16 })).toMatchObject({ level: 'warning' })
})

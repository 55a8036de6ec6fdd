// This file verifies control groups of sandboxes in the kernel. Only where this process may create some: cgroup v2,
// delegated or as root.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { Cgroup, findCgroupParent } from '../../src/cgroup.ts'
import { MEMORY_BYTES, startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { runningProcesses, until } from '@sandbridge/core/test/support/machine/processes.ts'

const MB = 2 ** 20
const TIMEOUT = { timeout: 180_000 }

async function parentOrSkip(): Promise<string> {
  const parent = await findCgroupParent()
  if (parent === undefined) skip('this process may make no control groups (cgroup v2) here')
  return parent
}

/** Runs Python under a limit of 64 MiB and 20 processes. */
async function inGroup(parent: string, code: string): Promise<{ signal: string | null; said: string; oom: boolean }> {
  const cgroup = await Cgroup.make(parent, `sandbridge-${process.pid}-test`, { memoryBytes: 64 * MB, pidsCount: 20 })
  try {
    const { command, args } = cgroup.command({ command: 'python3', args: ['-c', code] })
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const [, signal] = (await once(child, 'close')) as [number | null, string | null]
    return { signal, said: said.trim(), oom: await cgroup.wasOutOfMemory() }
  } finally {
    await cgroup.remove()
  }
}

it('a control group ends a command that takes too much memory, and nothing else', TIMEOUT, async () => {
  const parent = await parentOrSkip()
  const taking = (count: number) => `x = bytearray(${count * MB}); print(len(x))`
  expect(await inGroup(parent, taking(16))).toEqual({ signal: null, said: String(16 * MB), oom: false })
  expect(await inGroup(parent, taking(128))).toEqual({ signal: 'SIGKILL', said: '', oom: true })
})

it('a control group allows a limited number of processes', TIMEOUT, async () => {
  const parent = await parentOrSkip()
  const code = `import os, signal
pids = []
try:
    while len(pids) < 100:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        pids.append(pid)
except BlockingIOError:
    print(len(pids))
for pid in pids:
    os.kill(pid, 9)`
  expect((await inGroup(parent, code)).said).toBe('19')
})

const PROVIDERS = ['bubblewrap', 'bubblewrap-fork'] as const

it.for(PROVIDERS)(
  'a sandbox of %s is in a control group with its limits, which is removed with it',
  TIMEOUT,
  async (name) => {
    const parent = await parentOrSkip()
    const provider = await providerOrSkip(name)
    const cells = await startCells(provider)
    const { id } = cells.kernel.sandbox
    const folder = path.join(parent, id)
    const read = (file: string) => readFileSync(path.join(folder, file), 'utf8').trim()
    expect(read('memory.max')).toBe(String(MEMORY_BYTES))
    expect(read('pids.max')).toBe('128')
    // More than the started program: its children are in the group, too.
    expect(Number(read('pids.current'))).toBeGreaterThan(1)
    const inside = new Set(read('cgroup.procs').split('\n').map(Number))
    for (const { pid } of runningProcesses().filter(({ command }) => command.includes(`id=${id} `)))
      expect(inside).toContain(pid)
    await cells.kernel.sandbox.dispose()
    await until(() => !existsSync(folder))
  },
)

it.for(PROVIDERS)(
  'a sandbox of %s that the kernel ended for its memory is reported as out of memory',
  TIMEOUT,
  async (name) => {
    const parent = await parentOrSkip()
    const provider = await providerOrSkip(name)
    const cells = await startCells(provider)
    expect((await cells.run('1 + 1')).value).toBe('2')
    // Lowers the limit from outside, unknown to the sandbox.
    const limit = path.join(parent, cells.kernel.sandbox.id, 'memory.max')
    writeFileSync(limit, String(80 * MB))
    const { status, exit } = await cells.run('x = bytearray(150 << 20)')
    expect({ status, reason: exit?.reason }).toEqual({ status: 'died', reason: 'out-of-memory' })
  },
)

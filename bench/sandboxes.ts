// Sandboxes of a provider: what they take to start, what they hold while they wait, and how a pool keeps up.
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kernel } from '../packages/core/src/cell/kernel/kernel.ts'
import { KernelPool, warmUp } from '../packages/core/src/cell/session/kernel-pool.ts'
import { KeptTexts } from '../packages/core/src/cell/session/kept-text.ts'
import { Session } from '../packages/core/src/cell/session/session.ts'
import type { Provider, ProviderName } from '../packages/core/src/isolation/provider.ts'
import { createLog } from '../packages/core/src/util/log.ts'
import { runCommand } from '../packages/core/src/util/process/run-command.ts'
import { runningProcesses } from '@sandbridge/core/test/support/machine/processes.ts'
import { SLIM_IMAGE } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { timed } from './measure.ts'

export type Engine = Exclude<ProviderName, 'pyodide'>

export const LIMITS = { memoryBytes: 512 * 2 ** 20 }
const log = createLog('error')

/** How long the engine takes to run an empty Python program, without the bridge's options. */
export function bareRun(name: Engine): Promise<number> {
  return timed(async () => {
    const run = ['run', '--rm', '-i', '--network=none', SLIM_IMAGE, 'python3', '-c', 'pass']
    const { code, stderr } =
      name === 'bubblewrap' ? await runCommand('python3', ['-c', 'pass']) : await runCommand(name, run)
    if (code !== 0) throw new Error(stderr)
  })
}

/**
 * Memory of each of four sandboxes that wait as those of a pool do, with their warm-up cells behind them. Pages that
 * they share, such as those of Python itself, count once.
 */
export async function waitingMemory(provider: Provider): Promise<number> {
  const kernels = await Promise.all([1, 2, 3, 4].map(async () => Kernel.attach(await provider.start(LIMITS))))
  for (const kernel of kernels) await warmUp(kernel)
  await sleep(1_000)
  const inside = runningProcesses().filter(
    ({ command }) =>
      /^\S*python3[\d.]* -I -B -c /.test(command) &&
      kernels.some(({ sandbox }) => command.includes(`id=${sandbox.id} `)),
  )
  const bytes = inside.reduce((sum, { pid }) => sum + proportionalBytes(pid), 0) / kernels.length
  await Promise.all(kernels.map((kernel) => kernel.dispose()))
  return bytes / 2 ** 20
}

export const mebibytes = (value: number) => `${value.toFixed(1)} MiB`

/** 0 for a process that has ended. */
export function proportionalBytes(pid: number): number {
  try {
    const [, kibibytes = '0'] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    return Number(kibibytes) * 1024
  } catch {
    return 0
  }
}

export const cellOf = (code: string) => ({ code, timeoutMs: 60_000, servers: [], onCall: async () => null })

export function newPool(provider: Provider, size: number): { pool: KernelPool; open: () => Session } {
  const pool = new KernelPool({ provider: async () => provider, limits: LIMITS, size, log })
  const texts = new KeptTexts({ memoryBytes: 64 * 1024 * 1024, folder: tmpdir() })
  return { pool, open: () => new Session({ pool, texts, log, idleTimeoutMs: 600_000 }) }
}

/** Ten new sessions a second for three seconds, each with one cell, from a pool of two. */
export async function refill(provider: Provider): Promise<{ failed: number; times: number[] }> {
  const { pool, open } = newPool(provider, 2)
  pool.warm()
  await sleep(3_000)
  const times: number[] = []
  const running: Promise<unknown>[] = []
  let failed = 0
  for (let index = 0; index < 30; index += 1) {
    const session = open()
    const work = async () => {
      try {
        times.push(await timed(() => session.run(cellOf('pass'))))
      } catch {
        failed += 1
      }
      await session.close()
    }
    running.push(work())
    await sleep(100)
  }
  await Promise.all(running)
  await pool.close()
  return { failed, times }
}

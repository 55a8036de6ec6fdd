import { tmpdir } from 'node:os'
// Rows of podman, docker and bubblewrap; engines that are not on this machine are left out. Goals that name
// `docker run` or `podman run` compare with it in the same run, because absolute times depend on the machine.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kernel } from '../../packages/core/src/cell/kernel/kernel.ts'
import { createLog } from '../../packages/core/src/util/log.ts'
import type { Provider, ProviderName } from '../../packages/core/src/isolation/provider.ts'
import { runCommand } from '../../packages/core/src/util/process/run-command.ts'
import { KernelPool, warmUp } from '../../packages/core/src/cell/session/kernel-pool.ts'
import { KeptTexts } from '../../packages/core/src/cell/session/kept-text.ts'
import { Session } from '../../packages/core/src/cell/session/session.ts'
import {
  closeTestBridge,
  openTestBridge,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { makeProvider, runtimeEnv, SLIM_IMAGE, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { runningProcesses } from '@sandbridge/core/test/support/machine/processes.ts'
import { median, ms, ratio, samples, timed } from '../measure.ts'
import type { BenchRow } from '../row.ts'

type Engine = Exclude<ProviderName, 'pyodide'>

const LIMITS = { memoryBytes: 512 * 2 ** 20 }
const log = createLog('error')

const goal = (name: string, value: number, limit: number, unit: (value: number) => string): BenchRow => ({
  name,
  value: unit(value),
  goal: `≤ ${unit(limit)}`,
  ok: value <= limit,
})
const report = (name: string, value: string, ok: boolean | null = null): BenchRow => ({
  name,
  value,
  goal: 'reported',
  ok,
})

export async function containerRows(): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const name of ['podman', 'docker', 'bubblewrap'] as const) {
    const provider = makeProvider(name)
    const reason = await whyNot(provider)
    if (reason !== undefined) {
      rows.push({ name: `${name}: not measured`, value: reason, goal: 'a usable engine', ok: null })
      continue
    }
    const own = [
      ...(await startRows(name, provider)),
      ...(await cellRows(name)),
      goal('memory of a waiting sandbox', await waitingMemory(provider), 20, mebibytes),
      await manySessions(provider),
      await refillRow(provider),
    ]
    rows.push(...own.map((row) => ({ ...row, name: `${name}: ${row.name}` })))
  }
  return rows
}

/** How long the engine takes to run an empty Python program, without the bridge's options. */
export function bareRun(name: Engine): Promise<number> {
  return timed(async () => {
    const run = ['run', '--rm', '-i', '--network=none', SLIM_IMAGE, 'python3', '-c', 'pass']
    const { code, stderr } =
      name === 'bubblewrap' ? await runCommand('python3', ['-c', 'pass']) : await runCommand(name, run)
    if (code !== 0) throw new Error(stderr)
  })
}

async function startRows(name: Engine, provider: Provider): Promise<BenchRow[]> {
  const bare: number[] = []
  const cold: number[] = []
  for (let round = 0; round < 9; round += 1) {
    bare.push(await bareRun(name))
    let kernel: Kernel | undefined
    cold.push(await timed(async () => (kernel = await Kernel.attach(await provider.start(LIMITS)))))
    await kernel?.dispose()
  }
  if (name === 'bubblewrap') return [report('cold start to ready', ms(median(cold)))]
  const first = median(await firstCells(name))
  return [
    report(`${name} run … python3 -c pass`, ms(median(bare))),
    goal('cold start to ready ÷ that', median(cold) / median(bare), 1.3, ratio),
    {
      name: 'first cell of a fresh session from the pool, times faster than that',
      value: ratio(median(bare) / first),
      goal: '≥ 15 ×',
      ok: median(bare) / first >= 15,
    },
  ]
}

function openBridge(name: Engine): Promise<TestBridge> {
  return openTestBridge({ env: runtimeEnv(name) })
}

/** Of a bridge with a full pool, through MCP. */
function firstCells(name: Engine): Promise<number[]> {
  return samples(5, async () => {
    const bridge = await openBridge(name)
    await bridge.client.listTools()
    await sleep(4_000)
    const time = await timed(() => bridge.run('pass'))
    await closeTestBridge(bridge)
    return time
  })
}

async function cellRows(name: Engine): Promise<BenchRow[]> {
  const first = await firstCells(name)
  const bridge = await openBridge(name)
  await bridge.run('pass')
  const live = await samples(200, () => timed(() => bridge.run('pass')))
  await closeTestBridge(bridge)
  return [
    goal('first cell of a fresh session from the pool', median(first), 15, ms),
    goal('cell in a live session', median(live), 3, ms),
  ]
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

const cellOf = (code: string) => ({ code, timeoutMs: 60_000, servers: [], onCall: async () => null })

function newPool(provider: Provider, size: number): { pool: KernelPool; open: () => Session } {
  const pool = new KernelPool({ provider: async () => provider, limits: LIMITS, size, log })
  const texts = new KeptTexts({ memoryBytes: 64 * 1024 * 1024, folder: tmpdir() })
  return { pool, open: () => new Session({ pool, texts, log, idleTimeoutMs: 600_000 }) }
}

async function manySessions(provider: Provider): Promise<BenchRow> {
  const { pool, open } = newPool(provider, 0)
  const sessions = Array.from({ length: 50 }, open)
  await Promise.all(sessions.map((session) => session.run(cellOf('n = 0'))))
  const times: number[] = []
  const totals = await Promise.all(
    sessions.map(async (session) => {
      let last = ''
      for (let index = 0; index < 20; index += 1) {
        times.push(await timed(async () => (last = JSON.stringify(await session.run(cellOf('n += 1\nn'))))))
      }
      return last
    }),
  )
  await Promise.all(sessions.map((session) => session.close()))
  await pool.close()
  const lost = totals.filter((last) => !last.includes('"20"')).length
  const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
  const value = `${lost} lost, median ${ms(median(times))}, p99 ${ms(p99)}`
  return { name: '50 sessions at once, 20 cells each', value, goal: 'none lost', ok: lost === 0 }
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

async function refillRow(provider: Provider): Promise<BenchRow> {
  const { failed, times } = await refill(provider)
  const value = `${failed} failed, first cell median ${ms(median(times))}, slowest ${ms(Math.max(...times))}`
  return { name: 'refill under 10 new sessions a second, pool of 2', value, goal: 'no session fails', ok: failed === 0 }
}

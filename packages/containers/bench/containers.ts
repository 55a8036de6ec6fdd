// Rows of podman, docker and bubblewrap; engines that are not on this machine are left out. Goals that name
// `docker run` or `podman run` compare with it in the same run, because absolute times depend on the machine.
import { setTimeout as sleep } from 'node:timers/promises'
import { Kernel } from '../../core/src/cell/kernel/kernel.ts'
import type { Provider } from '../../core/src/isolation/provider.ts'
import {
  closeTestBridge,
  openTestBridge,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { makeProvider, runtimeEnv, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import {
  bareRun,
  cellOf,
  type Engine,
  LIMITS,
  mebibytes,
  newPool,
  refill,
  waitingMemory,
} from '../../../bench/sandboxes.ts'
import { median, ms, ratio, samples, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow, reported } from '../../../bench/row.ts'

export default async function containerRows(): Promise<BenchRow[]> {
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
      atMost('memory of a waiting sandbox', await waitingMemory(provider), 20, mebibytes),
      await manySessions(provider),
      await refillRow(provider),
    ]
    rows.push(...own.map((row) => ({ ...row, name: `${name}: ${row.name}` })))
  }
  return rows
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
  if (name === 'bubblewrap') return [reported('cold start to ready', ms(median(cold)))]
  const first = median(await firstCells(name))
  return [
    reported(`${name} run … python3 -c pass`, ms(median(bare))),
    atMost('cold start to ready ÷ that', median(cold) / median(bare), 1.3, ratio),
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
    atMost('first cell of a fresh session from the pool', median(first), 15, ms),
    atMost('cell in a live session', median(live), 3, ms),
  ]
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

async function refillRow(provider: Provider): Promise<BenchRow> {
  const { failed, times } = await refill(provider)
  const value = `${failed} failed, first cell median ${ms(median(times))}, slowest ${ms(Math.max(...times))}`
  return { name: 'refill under 10 new sessions a second, pool of 2', value, goal: 'no session fails', ok: failed === 0 }
}

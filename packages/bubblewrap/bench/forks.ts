// Rows of forked sandboxes and of bubblewrap with a separate Python, measured alternately, because absolute times
// depend on the machine and its load.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kernel } from '../../core/src/cell/kernel/kernel.ts'
import type { Provider } from '../../core/src/isolation/provider.ts'
import { makeHome, openTestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { makeProvider, runtimeEnv, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { bareRun, mebibytes, refill, waitingMemory } from '../../../bench/sandboxes.ts'
import { median, ms, ratio, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow, reported } from '../../../bench/row.ts'

const LIMITS = { memoryBytes: 512 * 2 ** 20 }
const ROUNDS = 9
/** The kernel is compiled some time after the first sandbox has started. */
const KERNEL_COMPILED_MS = 4_000

export default async function forkRows(): Promise<BenchRow[]> {
  const own = makeProvider('bubblewrap')
  const forked = makeProvider('bubblewrap-fork')
  for (const provider of [own, forked]) {
    const reason = await whyNot(provider)
    if (reason !== undefined) return [{ name: 'not measured', value: reason, goal: 'bubblewrap', ok: null }]
  }
  return [...(await startRows(own, forked)), ...(await coldRows()), ...(await waitingRows(own, forked))]
}

async function startRows(own: Provider, forked: Provider): Promise<BenchRow[]> {
  const hasPodman = (await whyNot(makeProvider('podman'))) === undefined
  const bare: number[] = []
  const times = { own: [] as number[], forked: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    if (hasPodman) bare.push(await bareRun('podman'))
    times.own.push(await startTime(own))
    times.forked.push(await startTime(forked))
  }
  const start = median(times.forked)
  const share = start / median(bare)
  return [
    reported('fresh session from an empty pool: each with a Python of its own', ms(median(times.own))),
    reported('fresh session from an empty pool: forked', ms(start)),
    hasPodman ? atMost('that ÷ podman run', share, 0.1, ratio) : reported('that ÷ podman run', 'no podman'),
  ]
}

async function startTime(provider: Provider): Promise<number> {
  let kernel: Kernel | undefined
  const time = await timed(async () => (kernel = await Kernel.attach(await provider.start(LIMITS))))
  await kernel?.dispose()
  return time
}

/** The first cell of a bridge, sent at once, on a machine where another bridge has run before. */
async function coldRows(): Promise<BenchRow[]> {
  const times: Record<'off' | 'auto', number[]> = { off: [], auto: [] }
  const home = makeHome()
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const forkServer of ['off', 'auto'] as const) {
      const env = { ...runtimeEnv('bubblewrap'), MCP_BRIDGE_FORK_SERVER: forkServer }
      const bridge = await openTestBridge({ home, env })
      const time = await timed(() => bridge.run('pass'))
      if (round > 0) times[forkServer].push(time)
      else await sleep(KERNEL_COMPILED_MS)
      await bridge.client.close()
    }
  }
  rmSync(home, { recursive: true, force: true })
  return [
    reported('first cell sent right after start: each with a Python of its own', ms(median(times.off))),
    atMost('first cell sent right after start: forked', median(times.auto), 120, ms),
  ]
}

async function waitingRows(own: Provider, forked: Provider): Promise<BenchRow[]> {
  // Run this first: the other measurements leave processes that are still exiting.
  const { failed, times } = await refill(forked)
  const before = await refill(own)
  return [
    reported('ten new sessions a second, pool of 2, first cell: each with its own', ms(median(before.times))),
    atMost('ten new sessions a second, pool of 2, first cell: forked', median(times), 30, ms),
    {
      name: 'the same: sessions that failed, slowest',
      value: `${failed}, ${ms(Math.max(...times))}`,
      goal: 'none',
      ok: failed === 0,
    },
    reported('memory of a waiting sandbox with a Python of its own', mebibytes(await waitingMemory(own))),
    atMost('memory of a waiting sandbox that was forked', await waitingMemory(forked), 5, mebibytes),
  ]
}

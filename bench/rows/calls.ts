// Rows of tool calls from every kind of sandbox on this machine: wall time relative to a bare client's, and CPU time
// and context switches of each process involved.
import type { ProviderName } from '../../packages/core/src/isolation/provider.ts'
import { closeTestBridge, openTestBridge, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { makeProvider, runtimeEnv, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { type CallCost, callCosts } from '../call-cost.ts'
import { ratio } from '../measure.ts'
import { atMost, type BenchRow, reported } from '../row.ts'

/** Wall time ÷ a bare client's: for sequential calls, and for five hundred at once. */
const GOALS: Record<Exclude<ProviderName, 'kubernetes'>, [oneByOne: number, atOnce: number]> = {
  pyodide: [3, 1.5],
  bubblewrap: [1.7, 1],
  podman: [1.8, 1],
  docker: [1.8, 1],
}

/** @param wanted kinds of sandboxes; empty means all */
export default async function callRows(wanted: readonly string[] = []): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const [engine, [oneByOneGoal, atOnceGoal]] of Object.entries(GOALS) as [ProviderName, [number, number]][]) {
    if (wanted.length > 0 && !wanted.includes(engine)) continue
    const reason = engine === 'pyodide' ? undefined : await whyNot(makeProvider(engine))
    if (reason !== undefined) {
      rows.push({ name: `${engine}: not measured`, value: reason, goal: 'a usable engine', ok: null })
      continue
    }
    const env = { ...runtimeEnv(engine), MCP_BRIDGE_POOL: '0' }
    const bridge = await openTestBridge({ env, servers: { everything: published.everything() } })
    const { oneByOne, atOnce } = await callCosts(bridge, engine)
    await closeTestBridge(bridge)
    rows.push(...costRows(`${engine}, one by one`, oneByOne, oneByOneGoal))
    rows.push(...costRows(`${engine}, 500 at once`, atOnce, atOnceGoal))
  }
  return rows
}

function costRows(name: string, { ratio: measured, uses }: CallCost, limit: number): BenchRow[] {
  const parts = Object.entries(uses).filter(([, { microseconds }]) => microseconds >= 0.5)
  return [
    atMost(`${name} ÷ bare client`, measured, limit, ratio),
    ...parts.map(([part, { microseconds, switches }]) =>
      reported(
        `${name}: ${part === 'bare' ? 'bare client and its server' : part}`,
        `${microseconds.toFixed(1)} µs CPU, ${switches.toFixed(1)} switches`,
      ),
    ),
  ]
}

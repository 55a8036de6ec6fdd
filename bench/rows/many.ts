// Many clients over HTTP, some of which send a cell now and then, and several bridges of one machine that share a state
// folder.
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'
import { makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { type MeasuredBridge, openMeasuredBridge } from '../http-bridge.ts'
import { median, ms, timed } from '../measure.ts'
import type { BenchRow } from '../row.ts'

const CLIENTS = 1_000
const ACTIVE = 100
const CELLS = 10
const ONE_ALONE = 100
/** A client's pause between two cells. */
const THINKS_MS = 2_000
const CONNECT_AT_ONCE = 20
const BRIDGES = [1, 2, 4]
const OF_EACH = 8
const PACE_MS = 200
const FOR_MS = 6_000
const LEAST_SHARE = 0.85

export default async function manyRows(): Promise<BenchRow[]> {
  return [await crowdRow(), ...(await bridgeRows())]
}

async function crowdRow(): Promise<BenchRow> {
  const bridge = await openMeasuredBridge(
    {},
    { ...runtimeEnv('bubblewrap'), MCP_BRIDGE_HTTP_LIMITS: `sessions=${CLIENTS}` },
  )
  try {
    const clients: Client[] = []
    while (clients.length < CLIENTS) {
      clients.push(...(await Promise.all(Array.from({ length: CONNECT_AT_ONCE }, () => bridge.connect()))))
    }
    await run(clients[0]!)
    const alone: number[] = []
    for (let count = 0; count < ONE_ALONE; count += 1) alone.push(await timed(() => run(clients[0]!)))
    const active = clients.slice(0, ACTIVE)
    for (const client of active) await run(client)
    const times = await Promise.all(
      active.map(async (client, index) => {
        await sleep((THINKS_MS * index) / ACTIVE)
        const own: number[] = []
        for (let count = 0; count < CELLS; count += 1) {
          own.push(await timed(() => run(client)))
          await sleep(THINKS_MS)
        }
        return own
      }),
    )
    await Promise.all(clients.map((client) => client.close()))
    const all = times.flat().toSorted((a, b) => a - b)
    const p99 = all[Math.floor(all.length * 0.99)]!
    const factor = `${(p99 / median(alone)).toFixed(1)} ×`
    return {
      name: `${CLIENTS} clients, ${ACTIVE} of them active: p99 of a live cell ÷ p50 with one`,
      value: `${factor} (${ms(p99)}, ${ms(median(alone))})`,
      goal: 'no error',
      ok: true,
    }
  } finally {
    await bridge.close()
  }
}

async function bridgeRows(): Promise<BenchRow[]> {
  const home = makeHome()
  // The sessions of a round still exist in the next one.
  const env = { ...runtimeEnv('bubblewrap'), MCP_BRIDGE_HTTP_LIMITS: `sessions=${OF_EACH * BRIDGES.length}` }
  const bridges: MeasuredBridge[] = []
  const rows: BenchRow[] = []
  let one = 0
  try {
    for (const count of BRIDGES) {
      while (bridges.length < count) bridges.push(await openMeasuredBridge({}, env, home))
      const rate = await cellsPerSecond(bridges)
      one ||= rate
      const share = rate / (one * count)
      rows.push({
        name: `${count} bridge${count === 1 ? '' : 's'}, ${OF_EACH} clients each with ${PACE_MS} ms between cells`,
        value: `${rate.toFixed(0)} cells/s${count > 1 ? `, ${(share * 100).toFixed(0)} % of ${count} times one` : ''}`,
        goal: count > 1 ? `≥ ${LEAST_SHARE * 100} %` : '',
        ok: count > 1 ? share >= LEAST_SHARE : null,
      })
    }
    return rows
  } finally {
    await Promise.all(bridges.map((bridge) => bridge.close()))
    await rm(home, { recursive: true, force: true })
  }
}

async function cellsPerSecond(bridges: readonly MeasuredBridge[]): Promise<number> {
  const clients = await Promise.all(
    bridges.flatMap((bridge) => Array.from({ length: OF_EACH }, () => bridge.connect())),
  )
  for (const client of clients) await run(client)
  const end = performance.now() + FOR_MS
  let count = 0
  await Promise.all(
    clients.map(async (client, index) => {
      await sleep((PACE_MS * index) / clients.length)
      for (; performance.now() < end; count += 1) {
        await run(client)
        await sleep(PACE_MS)
      }
    }),
  )
  await Promise.all(clients.map((client) => client.close()))
  return (count * 1_000) / FOR_MS
}

/** @throws Error when the cell does not return */
async function run(client: Client): Promise<void> {
  const params = { name: 'run_python', arguments: { code: '40 + 2' } }
  const result = await client.callTool(params, { timeout: 60_000 })
  if (!JSON.stringify(result.content).includes('42')) throw new Error(`the cell failed: ${JSON.stringify(result)}`)
}

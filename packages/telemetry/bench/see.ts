// The cost of observers: calls with all observers on and with none, and starts with OTEL_* set.
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  closeTestBridge,
  fixtureServer,
  openTestBridge,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { useOf } from '../../../bench/cpu.ts'
import { lowerQuartile, median, ms, ratio, samples } from '../../../bench/measure.ts'
import { atMost, type BenchRow, reported } from '../../../bench/row.ts'

const WARM_UP = 1_000
const ROUNDS = 25
const ONE_BY_ONE = 100
const AT_ONCE = 500
/** Observers' work after a cell must not fall into the other bridge's measurement. */
const PAUSE_MS = 250
const STARTS = 7
const GOALS = { oneByOne: 1.1, atOnce: 1.15, startMs: 300, megabytes: 15 }
const UNWATCHED = { MCP_BRIDGE_AUDIT: 'off', MCP_BRIDGE_LOG_LEVEL: 'error' }

export default async function seeRows(): Promise<BenchRow[]> {
  const collector = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end('{}'))
  })
  collector.listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}` }
  try {
    return [...(await callRows(otel)), ...(await startRows(otel))]
  } finally {
    collector.closeAllConnections()
    collector.close()
  }
}

async function callRows(otel: Record<string, string>): Promise<BenchRow[]> {
  const servers = { raw: fixtureServer('raw.mjs', 'good') }
  const watched = await openTestBridge({ servers, env: { ...otel, MCP_BRIDGE_METRICS: '127.0.0.1:0' } })
  const unwatched = await openTestBridge({ servers, env: UNWATCHED })
  for (const bridge of [watched, unwatched]) {
    await bridge.run(`import asyncio, time\nfor n in range(${WARM_UP}): await mcp_raw.echo(text="x")`, { timeout: 100 })
  }
  const oneByOne = await costOf(
    watched,
    unwatched,
    `for n in range(${ONE_BY_ONE}): await mcp_raw.echo(text="x")`,
    ONE_BY_ONE,
  )
  const atOnce = await costOf(
    watched,
    unwatched,
    `await asyncio.gather(*(mcp_raw.echo(text="x") for n in range(${AT_ONCE})))`,
    AT_ONCE,
  )
  await Promise.all([watched, unwatched].map(closeTestBridge))
  return [
    atMost('a tool call, every observer on ÷ none', oneByOne.factor, GOALS.oneByOne, ratio),
    atMost(`${AT_ONCE} at once, every observer on ÷ none`, atOnce.factor, GOALS.atOnce, ratio),
    // Includes the work after the cell.
    reported('… CPU of the bridge, one after the other; at once', `${oneByOne.cpu}; ${atOnce.cpu}`),
  ]
}

/** Alternates; each side is first equally often. */
async function costOf(
  watched: TestBridge,
  unwatched: TestBridge,
  code: string,
  calls: number,
): Promise<{ factor: number; cpu: string }> {
  const used = new Map<TestBridge, number[]>([watched, unwatched].map((bridge) => [bridge, []]))
  const took = async (bridge: TestBridge): Promise<number> => {
    const before = useOf([bridge.pid])
    const printed = await bridge.run(`_t = time.perf_counter()\n${code}\nprint((time.perf_counter() - _t) * 1000)`)
    if (!Number.isFinite(Number(printed))) throw new Error(`the calls failed: ${printed}`)
    await sleep(PAUSE_MS)
    used.get(bridge)!.push((useOf([bridge.pid]).microseconds - before.microseconds) / calls)
    return Number(printed)
  }
  const factors = await samples(ROUNDS, async (round) => {
    const times = new Map<TestBridge, number>()
    for (const bridge of round % 2 === 0 ? [watched, unwatched] : [unwatched, watched])
      times.set(bridge, await took(bridge))
    return times.get(watched)! / times.get(unwatched)!
  })
  const [on, off] = [watched, unwatched].map((bridge) => lowerQuartile(used.get(bridge)!).toFixed(0))
  return { factor: median(factors), cpu: `${off} → ${on} µs` }
}

async function startRows(otel: Record<string, string>): Promise<BenchRow[]> {
  const times: number[] = []
  const memory: Record<'with' | 'without', number[]> = { with: [], without: [] }
  for (let index = 0; index < STARTS; index += 1) {
    for (const [kind, env] of [
      ['with', otel],
      ['without', {}],
    ] as const) {
      const startedAt = performance.now()
      const bridge = await openTestBridge({ env })
      await bridge.client.listTools()
      if (kind === 'with') times.push(performance.now() - startedAt)
      await bridge.run('1')
      memory[kind].push(residentMegabytes(bridge.pid))
      await closeTestBridge(bridge)
    }
  }
  const more = median(memory.with) - median(memory.without)
  return [
    atMost('process start → tools/list answered, with OTEL_* set', median(times), GOALS.startMs, ms),
    atMost(
      'memory with OTEL_* set, after a cell: more than without',
      more,
      GOALS.megabytes,
      (value) => `${value.toFixed(1)} MB`,
    ),
  ]
}

function residentMegabytes(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

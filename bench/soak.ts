// `npm run soak [-- --minutes 60 --clients 4 --runtime bubblewrap]`: clients of one bridge over HTTP run cells, hit
// time limits, lose servers and reconnect. Prints rows for what must not grow: the bridge's memory after a warm-up, its
// descriptors, and what is left after the clients have gone and after it has exited. Linux only, because it reads
// /proc. A run of less than half an hour says little about the slope.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Client } from '@modelcontextprotocol/client'
import { ANY_RUNTIME, fixtureServer, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { descendants } from '@sandbridge/core/test/support/machine/processes.ts'
import { type MeasuredBridge, openMeasuredBridge } from './http-bridge.ts'
import { median } from './measure.ts'
import type { BenchRow } from './row.ts'

/** Share of the whole time: caches fill, and V8 compiles. */
const WARM_UP_SHARE = 0.3
/** How long a client stays before it reconnects as a new one. */
const CONNECTION_MS = 60_000
/** Longer than the bridge keeps the session of a client that has vanished. */
const VANISHED_MS = 135_000
const SAMPLE_MS = 5_000

const CELLS: { code: string; timeout?: number }[] = [
  { code: 'rows = [{"id": n, "text": "x" * 50} for n in range(2000)]\nprint(len(rows))' },
  { code: 'print("y" * 200_000)' },
  { code: 'await mcp_everything.echo(message="z" * 5000)' },
  { code: 'import asyncio\nawait asyncio.gather(*(mcp_everything.get_sum(a=n, b=1) for n in range(20)))' },
  { code: 'while True: pass', timeout: 1 },
  { code: '1 / 0' },
  { code: 'try:\n    await mcp_dies.die()\nexcept runtime.MCPError as error:\n    print(type(error).__name__)' },
  { code: 'print(await runtime.search_tool_docs("add two numbers"))' },
  { code: 'print(runtime.output()[-100:])' },
  { code: 'runtime.save_artifact("soak.txt", "the same text")' },
]

interface Sample {
  seconds: number
  rssBytes: number
  descriptorCount: number
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '60' },
      clients: { type: 'string', default: '4' },
      runtime: { type: 'string', default: ANY_RUNTIME },
    },
  })
  const durationMs = Number(values.minutes) * 60_000
  const bridge = await openMeasuredBridge(
    {
      everything: published.everything(),
      dies: fixtureServer('raw.mjs', 'chatty'),
    },
    { MCP_BRIDGE_RUNTIME: values.runtime, MCP_BRIDGE_HTTP_LIMITS: `sessions=${Number(values.clients) * 4}` },
  )
  const pid = bridge.child.pid!
  let cellCount = 0
  try {
    // One client first: the servers that it starts stay, as does the sandbox that is kept ready.
    await oneConnection(bridge, Date.now() + 30_000, 0)
    await sleep(VANISHED_MS)
    const atRest = descendants(pid).length
    const end = Date.now() + durationMs
    const samples: Sample[] = []
    const sampler = setInterval(() => samples.push(sampleOf(pid)), SAMPLE_MS)
    await Promise.all(
      Array.from({ length: Number(values.clients) }, async (_, client) => {
        while (Date.now() < end) {
          // Not `+=` with await: it would add to the count of a minute ago.
          const ran = await oneConnection(bridge, Math.min(end, Date.now() + CONNECTION_MS), client)
          cellCount += ran
        }
      }),
    )
    clearInterval(sampler)
    await sleep(VANISHED_MS)
    const left = descendants(pid).length - atRest
    bridge.child.kill('SIGTERM')
    const children = descendants(pid).map((child) => child.pid)
    await bridge.exited
    await sleep(3_000)
    const survivors = children.filter((child) => isThere(child))
    print(rowsOf(samples, cellCount, left, survivors.length))
  } finally {
    await bridge.close()
  }
}

/**
 * Runs cells until `end`, then disconnects without ending the session, like a crashed client.
 * @returns the number of cells
 */
async function oneConnection(bridge: MeasuredBridge, end: number, seed: number): Promise<number> {
  let client: Client | undefined
  let count = 0
  try {
    client = await bridge.connect()
    for (let index = seed; Date.now() < end; index += 1) {
      await client.callTool({ name: 'run_python', arguments: CELLS[index % CELLS.length]! }, { timeout: 120_000 })
      count += 1
    }
  } catch (error) {
    process.stderr.write(`A client failed: ${causesOf(error)}\n`)
    await sleep(1_000)
  } finally {
    await client?.close()
  }
  return count
}

/** `fetch failed` alone is not informative. */
function causesOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined
    ? `${error.message}: ${causesOf(error.cause)}`
    : String(error)
}

function rowsOf(samples: Sample[], cellCount: number, left: number, survivors: number): BenchRow[] {
  const peak = Math.max(...samples.map((sample) => sample.rssBytes)) / 2 ** 20
  const settled = samples.slice(Math.floor(samples.length * WARM_UP_SHARE))
  const slope = slopePerHour(settled) / 2 ** 20
  const half = Math.floor(settled.length / 2)
  const descriptors = (part: Sample[]) => median(part.map((sample) => sample.descriptorCount))
  const grown = descriptors(settled.slice(half)) - descriptors(settled.slice(0, half))
  const row = (name: string, value: string, goal: string, ok: boolean): BenchRow => ({ name, value, goal, ok })
  return [
    { name: 'cells run', value: String(cellCount), goal: '', ok: null },
    { name: 'most memory of the bridge', value: `${peak.toFixed(0)} MB`, goal: '', ok: null },
    row('memory of the bridge after warm-up', `${slope.toFixed(1)} MB an hour`, '≤ 1 MB an hour', slope <= 1),
    row('descriptors, second half to first', `${grown >= 0 ? '+' : ''}${grown}`, '≤ +2', grown <= 2),
    row('processes more than after one client', String(left), '≤ 0', left <= 0),
    row('processes left when the bridge has ended', String(survivors), '0', survivors === 0),
  ]
}

/** Theil–Sen: the median of all slopes between two samples, which single garbage collections do not move. In bytes. */
function slopePerHour(samples: Sample[]): number {
  const slopes: number[] = []
  const step = Math.max(1, Math.floor(samples.length / 200))
  const some = samples.filter((_, index) => index % step === 0)
  for (let from = 0; from < some.length; from += 1) {
    for (let to = from + 1; to < some.length; to += 1) {
      slopes.push((some[to]!.rssBytes - some[from]!.rssBytes) / (some[to]!.seconds - some[from]!.seconds))
    }
  }
  return slopes.length === 0 ? 0 : median(slopes) * 3600
}

function sampleOf(pid: number): Sample {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return {
    seconds: performance.now() / 1000,
    rssBytes: Number(kilobytes) * 1024,
    descriptorCount: readdirSync(`/proc/${pid}/fd`).length,
  }
}

function isThere(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

function print(rows: BenchRow[]): void {
  for (const { name, value, goal, ok } of rows) {
    process.stdout.write(`${name}: ${value}${goal && ` (goal ${goal}${ok ? '' : ', MISSED'})`}\n`)
    if (ok === false) process.exitCode = 1
  }
}

await main()

// Measures whether a session that takes all it can delays others: cells and calls of a quiet client, alone and beside a
// greedy one of the same bridge.
import type { Client } from '@modelcontextprotocol/client'
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type MeasuredBridge, openMeasuredBridge } from '../http-bridge.ts'
import { ms, samples, timed } from '../measure.ts'
import type { BenchRow } from '../row.ts'

const SAMPLE_COUNT = 200
const MOST = 3
const QUIET = 'await mcp_calm.echo(text="x")'
const TAKING = 'import asyncio, time\nwhile True: '
const GREEDY: [what: string, code: string][] = [
  ['a loop', `${TAKING}pass`],
  ['one that prints without end', `${TAKING}print("x" * 10_000)`],
  [
    'one that calls without end',
    `${TAKING}await asyncio.gather(*(mcp_busy.echo(text="y" * 1000) for _ in range(200)))`,
  ],
  [
    'one that fills its memory',
    'kept = []\nwhile True:\n    try: kept.append(bytearray(1 << 20))\n    except MemoryError: kept.clear()',
  ],
]

export default async function fairnessRows(): Promise<BenchRow[]> {
  const good = fixtureServer('raw.mjs', 'good')
  const bridge = await openMeasuredBridge({ calm: good, busy: good })
  try {
    const quiet = await bridge.connect()
    await p99(quiet)
    const alone = await p99(quiet)
    const rows: BenchRow[] = [{ name: 'a cell with a call, alone, p99', value: ms(alone), goal: '', ok: null }]
    for (const [what, code] of GREEDY) {
      const beside = await p99Beside(bridge, quiet, code)
      const times = beside / alone
      rows.push({
        name: `the same beside ${what}, p99`,
        value: `${ms(beside)}, ${times.toFixed(1)} ×`,
        goal: `≤ ${MOST} ×`,
        ok: times <= MOST,
      })
    }
    await quiet.close()
    return rows
  } finally {
    await bridge.close()
  }
}

async function p99Beside(bridge: MeasuredBridge, quiet: Client, code: string): Promise<number> {
  const greedy = await bridge.connect()
  await run(greedy, '1')
  const stop = new AbortController()
  const taking = run(greedy, code, stop.signal).catch(() => {})
  const result = await p99(quiet)
  stop.abort()
  await taking
  await greedy.close()
  return result
}

async function p99(client: Client): Promise<number> {
  const all = await samples(SAMPLE_COUNT, () => timed(() => run(client, QUIET)))
  return all.toSorted((a, b) => a - b)[Math.floor(SAMPLE_COUNT * 0.99)]!
}

function run(client: Client, code: string, signal?: AbortSignal): Promise<unknown> {
  const params = { name: 'run_python', arguments: { code, timeout: 120 } }
  return client.callTool(params, { timeout: 130_000, ...(signal && { signal }) })
}

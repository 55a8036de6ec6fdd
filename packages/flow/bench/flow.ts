// Rows of flow rules: what following flows adds to a tool call with the record on, in turns with a bridge that does
// not, and in CPU time; how fast results are read into the index of a session, and how large it becomes.
import { OriginIndex } from '@sandbridge/flow/origin-index.ts'
import {
  closeTestBridge,
  makeHome,
  openTestBridge,
  published,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { loopOf, warmUp } from '../../../bench/call-loop.ts'
import { cpuShare } from '../../../bench/cpu-share.ts'
import { median, ratio } from '../../../bench/measure.ts'
import { atMost, type BenchRow } from '../../../bench/row.ts'

/** V8 has compiled most of the hot code by then, for each kind of bridge. */
const WARM_UP = 3_000
const PROFILED_CALLS = 4_000
/** Many short ones: on a busy machine, a few pairs in a row can differ by a tenth. */
const ROUNDS = 15
/** So can two processes of one kind, in all of their rounds. */
const SETS = 3
const CALL_LIMIT = 1.15
const INDEX_LIMIT_MB = 8
const SPEED_LIMIT = 50
const RESULT_CHARS = 50_000_000
const RECORD = { MCP_BRIDGE_AUDIT: 'full' }

export default async function flowRows(): Promise<BenchRow[]> {
  return [...(await callRows()), ...(await cpuRows()), ...indexRows()]
}

const FLOWS = ['record', 'ask'] as const
type Ratios = Record<(typeof FLOWS)[number], number[]>

async function callRows(): Promise<BenchRow[]> {
  const ratios: Ratios = { record: [], ask: [] }
  for (let set = 0; set < SETS; set += 1) await measureSet(ratios)
  return FLOWS.map((flow) => {
    const measured = median(ratios[flow])
    return atMost(`MCP_BRIDGE_FLOW=${flow} ÷ off, one tool call`, measured, CALL_LIMIT, ratio)
  })
}

/** Nothing but flow rules runs this code here. */
const isOfFlow = (file: string, name: string): boolean =>
  /\/packages\/(?:(?:flow|permissions)\/src|core\/src\/(?:calls\/permissions|config\/rules))\//.test(file) ||
  name === 'flowFields'

/** The same in CPU time, on which other load of the machine has little influence. */
async function cpuRows(): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  if (process.platform !== 'linux') return rows
  for (const flow of FLOWS) {
    const env = { ...RECORD, MCP_BRIDGE_FLOW: flow }
    const share = await cpuShare(env, isOfFlow, { warmUp: WARM_UP, calls: PROFILED_CALLS })
    const measured = 1 / (1 - share)
    rows.push(atMost(`MCP_BRIDGE_FLOW=${flow} ÷ off, CPU time of one tool call`, measured, CALL_LIMIT, ratio))
  }
  return rows
}

/** A bridge of each kind, in turns. */
async function measureSet(ratios: Ratios): Promise<void> {
  const open = (flow: string) =>
    openTestBridge({
      home: makeHome({ everything: published.everything() }),
      env: { ...RECORD, MCP_BRIDGE_FLOW: flow },
    })
  const bridges = { off: await open('off'), record: await open('record'), ask: await open('ask') }
  for (const bridge of Object.values(bridges)) await warmUp(bridge, WARM_UP)
  const order = ['off', ...FLOWS] as const
  for (let round = 0; round < ROUNDS; round += 1) {
    const taken = { off: 0, record: 0, ask: 0 }
    for (const at of order.keys()) {
      const flow = order[(round + at) % order.length]!
      taken[flow] = await loopOf(bridges[flow])
    }
    for (const flow of FLOWS) ratios[flow].push(taken[flow] / taken.off)
  }
  for (const bridge of Object.values(bridges)) await closeTestBridge(bridge)
}

/** The largest results, and more different ones than the index has room for. */
function indexRows(): BenchRow[] {
  const row = (at: number) => ({ id: at * 7919, name: `Person ${at.toString(36)}`, mail: `p${at}@acme.example` })
  const large = JSON.stringify(Array.from({ length: RESULT_CHARS / 66 }, (_, at) => row(at)))
  const speeds = Array.from({ length: 5 }, () => {
    const began = performance.now()
    new OriginIndex().addResult({ server: 'a', name: 'list' }, { content: [{ type: 'text', text: large }] })
    return large.length / 1e3 / (performance.now() - began)
  })
  const full = new OriginIndex()
  for (let at = 0; at < 300_000; at += 1) full.addResult({ server: `s${at % 7}`, name: 'get' }, row(at))
  const speed = median(speeds)
  const mb = full.bytes / 2 ** 20
  return [
    {
      name: 'reading a result of 50 MB for its origins',
      value: `${Math.round(speed)} MB/s`,
      goal: `≥ ${SPEED_LIMIT} MB/s`,
      ok: speed >= SPEED_LIMIT,
    },
    {
      name: 'index of origins of a session, full',
      value: `${mb.toFixed(1)} MB`,
      goal: `≤ ${INDEX_LIMIT_MB} MB`,
      ok: mb <= INDEX_LIMIT_MB,
    },
  ]
}

// Rows of rules, record and masking together: what they add to a tool call, alternating with a bridge without them, and
// to the start.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  closeTestBridge,
  makeHome,
  openTestBridge,
  published,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { CALL, loopOf, PAUSE_MS, warmUp } from '../call-loop.ts'
import { median, ms, ratio, timed } from '../measure.ts'
import { ruleTexts } from '../rule-texts.ts'
import { atMost, type BenchRow } from '../row.ts'

const WARM_UP = 1_500
const ROUNDS = 21
const STARTS = 9
const CALL_LIMIT = 1.1
const START_LIMIT_MS = 300
const OFF = { MCP_BRIDGE_AUDIT: 'off' }
const ON = { MCP_BRIDGE_AUDIT: 'full', MCP_BRIDGE_MASK: 'all' }

export default async function trustRows(): Promise<BenchRow[]> {
  return [...(await callRows()), await startRow()]
}

async function callRows(): Promise<BenchRow[]> {
  const servers = { everything: published.everything() }
  const off = await openTestBridge({ home: makeHome(servers), env: OFF })
  const on = await openTestBridge({ home: ruledHome(servers), env: ON })
  for (const bridge of [off, on]) await warmUp(bridge, WARM_UP)
  const loops: number[] = []
  const cells: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    loops.push(inTurns(round, await loopOf(round % 2 ? off : on), await loopOf(round % 2 ? on : off)))
    cells.push(inTurns(round, await cellsOf(round % 2 ? off : on), await cellsOf(round % 2 ? on : off)))
  }
  for (const bridge of [off, on]) await closeTestBridge(bridge)
  return [
    atMost('rules, record and masking on ÷ all off, one tool call', median(loops), CALL_LIMIT, ratio),
    atMost('… a cell with one tool call', median(cells), CALL_LIMIT, ratio),
  ]
}

/** On ÷ off, whichever came first. */
function inTurns(round: number, first: number, second: number): number {
  return round % 2 ? second / first : first / second
}

async function cellsOf(bridge: TestBridge): Promise<number> {
  const taken = await timed(async () => {
    for (let index = 0; index < 10; index += 1) await bridge.run(CALL)
  })
  await sleep(PAUSE_MS)
  return taken
}

async function startRow(): Promise<BenchRow> {
  const start = async (home: string): Promise<number> => {
    const started = performance.now()
    const bridge = await openTestBridge({ home, env: ON })
    await bridge.client.listTools()
    const taken = performance.now() - started
    await closeTestBridge(bridge)
    return taken
  }
  const bare: number[] = []
  const ruled: number[] = []
  for (let round = 0; round < STARTS; round += 1) {
    bare.push(await start(makeHome()))
    ruled.push(await start(ruledHome()))
  }
  const taken = median(ruled)
  return {
    name: 'process start → tools/list with 500 rules',
    value: `${ms(taken)} (${ratio(taken / median(bare))} without)`,
    goal: `≤ ${START_LIMIT_MS} ms`,
    ok: taken <= START_LIMIT_MS,
  }
}

function ruledHome(servers?: Parameters<typeof makeHome>[0]): string {
  const home = makeHome(servers)
  const permissions = { deny: ruleTexts('message', 'message'), allow: ['everything'] }
  writeFileSync(path.join(home, 'MCPs/permissions.json'), JSON.stringify({ permissions }))
  return home
}

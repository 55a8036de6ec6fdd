// What the database adds to a cell: a bridge with PostgreSQL (on this machine, which does not wait for its disk) beside
// one that keeps the same in files.
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type MeasuredBridge, openMeasuredBridge } from '../../../bench/http-bridge.ts'
import { median, ratio, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow } from '../../../bench/row.ts'
import { NO_POSTGRES, TestPostgres } from '../test/support/postgres.ts'

const ROUNDS = 80
const CELLS = {
  'a cell that saves a value': 'runtime.save_memory("last", {"week": 47})',
  'a cell whose call enters the journal': 'await mcp_github.create_issue(owner="octo", repo="hello", title="One")',
}
const LIMIT = 1.5

export default async function postgresRows(): Promise<BenchRow[]> {
  if (NO_POSTGRES !== undefined)
    return [{ name: 'PostgreSQL ÷ files: not measured', value: NO_POSTGRES, goal: 'PostgreSQL', ok: null }]
  const postgres = await TestPostgres.start()
  const bridges: MeasuredBridge[] = []
  try {
    const servers = { github: fixtureServer('documented.mjs', 'github') }
    bridges.push(await openMeasuredBridge(servers, { MCP_BRIDGE_STORAGE: await postgres.database() }))
    bridges.push(await openMeasuredBridge(servers))
    const clients = await Promise.all(bridges.map((bridge) => bridge.connect()))
    const rows: BenchRow[] = []
    for (const [name, code] of Object.entries(CELLS)) {
      const times: [number[], number[]] = [[], []]
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [index, client] of clients.entries()) {
          const run = () => client.callTool({ name: 'run_python', arguments: { code } })
          times[index]!.push(await timed(async () => refuseError(await run())))
        }
      rows.push(atMost(`${name}: PostgreSQL ÷ files`, median(times[0]) / median(times[1]), LIMIT, ratio))
    }
    return rows
  } finally {
    for (const bridge of bridges) await bridge.close()
    await postgres.remove()
  }
}

function refuseError({ isError, content }: { isError?: boolean | undefined; content: unknown }): void {
  if (isError) throw new Error(JSON.stringify(content))
}

// Compares a workflow of twelve calls with the cell it was made from.
import { fixtureServer, closeTestBridge, openTestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { median, ms, ratio, samples, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

const CALLS = 12
const GOAL = 1.05
const BODY = `[(await mcp_github.get_me())["login"] for _ in range(${CALLS})].count("octo")`

export default async function workflowRows(): Promise<BenchRow[]> {
  const bridge = await openTestBridge({ servers: { github: fixtureServer('documented.mjs', 'github') } })
  await bridge.run(`async def twelve() -> int:\n    return ${BODY}\nruntime.save_workflow("twelve", twelve)`)
  const RUN = 'await workflows.twelve()'
  let right = true
  const run = async (code: string): Promise<void> => {
    right &&= (await bridge.run(code)) === String(CALLS)
  }
  await run(BODY)
  await run(RUN)
  // Alternating, so that load on the machine affects both.
  const cells: number[] = []
  const workflows: number[] = []
  await samples(40, async () => {
    cells.push(await timed(() => run(BODY)))
    workflows.push(await timed(() => run(RUN)))
    return 0
  })
  await closeTestBridge(bridge)
  const share = median(workflows) / median(cells)
  return [
    {
      name: `a workflow of ${CALLS} calls, against its own cell`,
      value: right ? `${ratio(share)} (${ms(median(workflows))})` : 'wrong answer',
      goal: `≤ ${GOAL} ×`,
      ok: right && share <= GOAL,
    },
  ]
}

// The overhead of bash cells, in a session that has already run one.
import { closeTestBridge, fixtureServer, openTestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { median, ms, samples, timed } from '../../../bench/measure.ts'
import { type BenchRow, reported } from '../../../bench/row.ts'

const GOAL_MS = 15

export default async function bashRows(): Promise<BenchRow[]> {
  const bridge = await openTestBridge({
    servers: { github: fixtureServer('documented.mjs', 'github') },
    env: { ...runtimeEnv('bubblewrap'), MCP_BRIDGE_LANGUAGES: 'bash' },
  })
  const bash = async (code: string): Promise<string> => (await bridge.callTool('run_bash', { code })).text
  const first = await bash('kept=1; mcp github get_me')
  let right = first.includes('octo')
  const cell = await samples(60, () => timed(async () => (right &&= (await bash('echo "$kept"')) === '1')))
  const call = await samples(20, () =>
    timed(async () => (right &&= (await bash('mcp github get_me')).includes('octo'))),
  )
  await closeTestBridge(bridge)
  return [
    {
      name: 'live bash cell',
      value: right ? ms(median(cell)) : `wrong answer: ${first.slice(0, 200)}`,
      goal: `≤ ${GOAL_MS} ms`,
      ok: right && median(cell) <= GOAL_MS,
    },
    reported('a bash cell that calls a tool', ms(median(call))),
  ]
}

// Cells in other languages than Python, in a session that has run one: what a cell takes beside its own work.
import { closeTestBridge, fixtureServer, openTestBridge } from '../test/support/bridge-process.ts'
import { runtimeEnv } from '../test/support/engines.ts'
import { median, ms, samples, timed } from './measure.ts'
import type { BenchRow } from './row.ts'

const CELL_GOAL_MS = 15

export async function languageRows(): Promise<BenchRow[]> {
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
      goal: `≤ ${CELL_GOAL_MS} ms`,
      ok: right && median(cell) <= CELL_GOAL_MS,
    },
    { name: 'a bash cell that calls a tool', value: ms(median(call)), goal: '', ok: null },
  ]
}

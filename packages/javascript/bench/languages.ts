// The overhead of JavaScript cells, in a session that has already run one.
import { closeTestBridge, fixtureServer, openTestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { median, ms, samples, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

const JAVASCRIPT_GOAL_MS = 3
/** The first cells of a conversation run code that is not compiled yet. */
const WARM_UP = 300

export default async function languageRows(): Promise<BenchRow[]> {
  const bridge = await openTestBridge({
    servers: { github: fixtureServer('documented.mjs', 'github') },
    env: { ...runtimeEnv('bubblewrap'), MCP_BRIDGE_LANGUAGES: 'javascript' },
  })
  let right = true
  const javascript = async (code: string): Promise<string> => (await bridge.callTool('run_javascript', { code })).text
  const begun = await timed(async () => (right &&= (await javascript('const kept = await github.get_me(); 1')) === '1'))
  for (let count = 0; count < WARM_UP; count += 1) await javascript('typeof kept')
  const live = await samples(200, () => timed(async () => (right &&= (await javascript('typeof kept')) !== '')))
  const typed = await samples(60, () =>
    timed(async () => (right &&= (await javascript('const n: number = 1; n')) === '1')),
  )
  const asked = await samples(60, () =>
    timed(async () => (right &&= (await javascript('(await github.get_me()) !== undefined')) === 'true')),
  )
  await closeTestBridge(bridge)
  return [
    {
      name: 'live JavaScript cell',
      value: right ? ms(median(live)) : 'wrong answer',
      goal: `≤ ${JAVASCRIPT_GOAL_MS} ms`,
      ok: right && median(live) <= JAVASCRIPT_GOAL_MS,
    },
    { name: 'a TypeScript cell', value: ms(median(typed)), goal: '', ok: null },
    { name: 'a JavaScript cell that calls a tool', value: ms(median(asked)), goal: '', ok: null },
    { name: 'the first JavaScript cell of a session', value: ms(begun), goal: '', ok: null },
  ]
}

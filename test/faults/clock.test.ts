// @module-tag whole: a fault that takes seconds to make
// This file verifies that a bridge keeps working when the time of day jumps, as after a sleep or when a machine first
// gets the right time.
import { expect, it } from 'vitest'
import { fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { shiftingClock } from '@sandbridge/core/test/support/machine/shifting-clock.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

const DAY_MS = 86_400_000
const JUMPS = [3 * DAY_MS, -3 * DAY_MS, 400 * DAY_MS, 0]

it('a session keeps its variables, its servers and what was saved when the clock jumps', async () => {
  const home = makeHome({ calm: fixtureServer('raw.mjs', 'good'), broken: { command: 'not-there' } })
  const clock = shiftingClock(home)
  const bridge = await startBridge({ home, env: clock.env })
  await bridge.run('total = 1\nawait mcp_calm.echo(text="a")\nawait runtime.search_tool_docs("echo")')
  for (const shift of JUMPS) {
    clock.set(shift)
    const code = [
      'total += 1',
      'runtime.save_memory("total", total)',
      'runtime.save_artifact("total.txt", str(total))',
      'found = await runtime.search_tool_docs("echo")',
      '[await mcp_calm.echo(text="b"), runtime.load_memory("total"), found[0].tool]',
    ].join('\n')
    const count = JUMPS.indexOf(shift) + 2
    expect(await bridge.run(code)).toContain(`['b', ${count}, 'echo']`)
    // The control: the bridge's clock jumps.
    const created = await bridge.run('runtime.artifacts()[0].createdAt')
    const distance = new Date(created.slice(1, -1)).getTime() - (Date.now() + shift)
    expect(Math.abs(distance)).toBeLessThan(DAY_MS / 2)
    expect(await bridge.run('while True: pass', { timeout: 0.5 })).toContain('Timed out after 0.5 s')
  }
})

it('a client over HTTP keeps its session when the clock jumps', async () => {
  const clock = shiftingClock(makeHome())
  const bridge = await startHttpBridge({ env: clock.env })
  const old = await bridge.connect('legacy')
  const modern = await bridge.connect('modern')
  await old.run('x = 1')
  const { structured } = await modern.call({ code: 'x = 1' })
  for (const shift of JUMPS) {
    clock.set(shift)
    expect(await old.run('x += 1\n"kept"')).toContain("'kept'")
    expect(await modern.run('x += 1\n"kept"', { session: structured['session'] })).toContain("'kept'")
  }
})

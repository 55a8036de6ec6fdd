// @module-tag whole: hundreds of servers
// This file verifies that a bridge with hundreds of servers starts, lists them within limits, and starts only those
// that are used or were never listed before.
import path from 'node:path'
import { expect, it } from 'vitest'
import { estimateTokens } from '../../src/util/tokens/estimate-tokens.ts'
import { bridgeEnv, fixtureServer, makeHome, type ServerEntry } from '../support/bridges/bridge-process.ts'
import { descendants } from '../support/machine/processes.ts'
import { runCommand } from '../support/machine/run-program.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const COUNT = 300
const good = fixtureServer('raw.mjs', 'good')
const servers = Object.fromEntries(
  Array.from({ length: COUNT }, (_, index): [string, ServerEntry] => [
    `server-${index}`,
    index % 30 === 10 ? good : { command: path.resolve(`/not-there/${index}`) },
  ]),
)

it('a bridge starts with hundreds of configured servers', { timeout: 180_000 }, async () => {
  const bridge = await startBridge({ servers })
  const { tools } = await bridge.client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['run_python'])
  // On a busy machine, a cell that lists all servers takes a minute.
  const patiently = async (code: string) => (await bridge.call({ code, timeout: 120 }, { onprogress: () => {} })).text
  expect(await patiently('len(runtime.discovered_servers()), await mcp_server_160.echo(text="hi")')).toBe(
    `(${COUNT}, 'hi')`,
  )
  const [content] = (
    await bridge.client.readResource({ uri: 'resource://mcp-server-code-execution-mode/capabilities' })
  ).contents
  const summary = content && 'text' in content ? content.text : ''
  expect(summary).toContain('- and 200 more: runtime.discovered_servers()')
  expect(estimateTokens(summary)).toBeLessThan(3_000)
  const found = await patiently('hits = await runtime.search_tool_docs("echo a text")\nhits[0].tool')
  expect(found).toContain("'echo'")
  expect(estimateTokens(found)).toBeLessThan(1_000)
  expect(await bridge.run('await mcp_server_280.echo(text="still there")')).toBe("'still there'")
  // A bridge that finds all of them listed starts the one that is used.
  const next = await startBridge({ home: bridge.home, ownProcess: true })
  await next.client.listTools()
  expect(await next.run('await mcp_server_160.echo(text="hi")')).toBe("'hi'")
  // Behind relays, the servers of the first client go on for the next.
  if (process.platform === 'linux' && !process.env['SANDBRIDGE_TEST_RESIDENT']) {
    const running = descendants(next.pid).filter(({ command }) => command.includes('raw.mjs'))
    expect(running).toHaveLength(1)
  }
})

it('sandbridge servers lists hundreds of servers', async () => {
  const home = makeHome(servers)
  const { code, stdout } = await runCommand(['servers'], bridgeEnv(home), { cwd: home })
  expect([code, stdout.trim().split('\n').length]).toEqual([0, COUNT])
})

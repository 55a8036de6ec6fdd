// This file verifies that a server is asked for its tools once: over a start, a search, docs, calls, a second client
// and a second start, in one home.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { fixtureServer, makeHome } from '../support/bridges/bridge-process.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'
import { newFolder } from '../support/machine/new-folder.ts'

it('a server is asked for its tools once, by whichever client comes first', { timeout: 240_000 }, async () => {
  const seen = path.join(newFolder(), 'seen')
  const home = makeHome({ hub: fixtureServer('raw.mjs', 'journal', seen) })
  const count = (method: string) => readFileSync(seen, 'utf8').split(`${method}\n`).length - 1
  let uses = 0
  const use = async (bridge: Awaited<ReturnType<typeof startBridge>>) => {
    // The same call of a client that comes back at once would be answered from its journal.
    const text = `call ${(uses += 1)}`
    await bridge.client.listTools()
    expect(await bridge.run('print(await runtime.search_tool_docs("echo a text"))')).toContain('mcp_hub.echo')
    expect(await bridge.run('print(await runtime.query_tool_docs("hub"))')).toContain('mcp_hub.pid')
    expect(await bridge.run(`await mcp_hub.echo(text="${text}")`)).toContain(text)
  }
  const first = await startBridge({ home })
  await use(first)
  await first.hasKept(1)
  const second = await startBridge({ home })
  await use(second)
  expect([count('tools/list'), count('tools/call')]).toEqual([1, 2])
  await Promise.all([first.client.close(), second.client.close()])
  const later = await startBridge({ home })
  await use(later)
  expect([count('tools/list'), count('tools/call')]).toEqual([1, 3])
  // Control: it is asked again before a tool is unknown.
  await later.run('await mcp_hub.missing()')
  expect(count('tools/list')).toBeGreaterThan(1)
})

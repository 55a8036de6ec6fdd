// @module-tag whole: a bridge for each test; learned-calls.test.ts has the journey
// This file verifies who reads the names of fields that a server's results had: they are text of the server.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { connectAs } from '@sandbridge/core/test/support/bridges/http-users.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { tellers, tellingBridge } from '@sandbridge/core/test/support/bridges/telling-bridge.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const told = { crm: { record: { maria_gonzales: 'admin', john_smith: 'guest' } } }
const CALL = 'await mcp_crm.get(name="record")\n1'
const LOOK = `
print(await runtime.query_tool_docs("crm"))
print(await runtime.query_tool_docs("crm", tools=["get"], detail="full"))
print(await runtime.search_tool_docs("get", detail="full"))
print(await runtime.list_tools("crm"))`

it('names in the results of one user are in the docs of this user only, and not on disk', async () => {
  const servers = tellers(newFolder(), told)
  const bridge = await startHttpBridge({ servers })
  const [ann, bob] = await connectAs(bridge, 'ann', 'bob')
  await ann!.run(CALL)
  const own = await ann!.run(LOOK)
  expect(own.split('-> {maria_gonzales: str, john_smith: str}').length).toBeGreaterThan(3)
  const others = await bob!.run(LOOK)
  expect(others).toContain('mcp_crm.get')
  expect(others).not.toMatch(/gonzales|smith/)
  // As it ends, it writes what is not written yet.
  const ended = new Promise((resolve) => bridge.child.once('exit', resolve))
  bridge.child.kill('SIGTERM')
  await ended
  const files = readdirSync(path.join(bridge.home, 'MCPs/.sandbridge'), {
    recursive: true,
    withFileTypes: true,
  }).filter((entry) => entry.isFile())
  expect(files.map(({ parentPath }) => path.basename(parentPath))).toContain('toolbooks')
  for (const { parentPath, name } of files)
    expect(readFileSync(path.join(parentPath, name), 'latin1')).not.toMatch(/gonzales|smith/)
})

it('a session whose flows are followed reads no names of results in docs, also not of earlier sessions', async () => {
  const first = await tellingBridge({ told: { ...told }, env: { MCP_BRIDGE_FLOW: 'off' } })
  await first.bridge.run(CALL)
  expect(await first.bridge.run(LOOK)).toContain('-> {maria_gonzales: str, john_smith: str}')
  await first.bridge.client.close()
  const { bridge } = await tellingBridge({ told: { ...told }, home: first.home })
  const later = await bridge.run(LOOK)
  expect(later).toContain('-> dict')
  expect(later).not.toMatch(/gonzales|smith/)
  await bridge.run(CALL)
  expect(await bridge.run(LOOK)).not.toMatch(/gonzales|smith/)
})

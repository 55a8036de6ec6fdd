// This file verifies `headersHelper` with the built bridge: when its command runs, and when it must not.
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { protectedServer } from '@sandbridge/core/test/support/servers/protected-server.ts'

const CALL = 'await mcp_r.echo(text="hi")'

it('a bridge runs a headersHelper again when its headers are refused, and names it when those are, too', async () => {
  needsPosix('its command is for /bin/sh')
  const server = await protectedServer()
  const bridge = await startBridge({ servers: { r: { url: server.url, headersHelper: 'cat "$HOME/headers.json"' } } })
  const print = (token: string) =>
    writeFileSync(path.join(bridge.home, 'headers.json'), JSON.stringify({ authorization: `Bearer ${token}` }))
  for (const token of ['first-token', 'second-token']) {
    print(token)
    server.valid.clear()
    server.valid.add(token)
    expect(await bridge.run(CALL)).toBe("'hi'")
  }
  server.valid.clear()
  const refused = await bridge.run(CALL)
  expect(refused).toContain("Server 'r' does not accept the headers that its headersHelper prints")
  expect(refused).not.toMatch(/second-token|sandbridge login/)
  expect(server.counts).toMatchObject({ register: 0, authorize: 0 })
})

it('a bridge that jails servers does not run a headersHelper, and nobody runs that of an untrusted project', async () => {
  needsPosix('its command is for /bin/sh')
  const { url } = await protectedServer()
  const marks = makeHome()
  const entry = (mark: string) => ({ url, headersHelper: `touch ${path.join(marks, mark)}; echo "{}"` })
  const home = makeHome({ r: entry('own') })
  writeFileSync(path.join(home, '.mcp.json'), JSON.stringify({ mcpServers: { project: entry('project') } }))
  const run = (env: Record<string, string>) =>
    runCommand(['index'], bridgeEnv(home, { MCP_BRIDGE_SOURCES: 'mcps,claude-code', ...env }), { cwd: home })
  expect((await run({ MCP_BRIDGE_JAIL: 'all' })).stdout).toContain("headersHelper of server 'r' is not run")
  expect(existsSync(path.join(marks, 'own'))).toBe(false)
  await run({})
  expect(existsSync(path.join(marks, 'own'))).toBe(true)
  expect(existsSync(path.join(marks, 'project'))).toBe(false)
})

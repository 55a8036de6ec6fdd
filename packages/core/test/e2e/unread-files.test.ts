// @module-tag whole: a command for each file
// This file verifies that an invalid config file is never taken for "no server is configured": by commands, and by a
// bridge that serves a client.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, fixtureServer, makeHome } from '../support/bridges/bridge-process.ts'
import { runCommand } from '../support/machine/run-program.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const BROKEN = '{\n  "mcpServers": {\n    "notes": { "command": "notes" "args": [] }\n  }\n}\n'

/** A home whose only file of servers lacks a comma. `atEnd` gets what removes it, with the test if it is missing. */
function brokenHome(atEnd: (end: () => void) => void = onTestFinished): { home: string; file: string; line: string } {
  const home = makeHome()
  atEnd(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const file = path.join(home, 'MCPs/servers.json')
  writeFileSync(file, BROKEN)
  const where = 'is not valid JSON: a comma is missing at line 3, column 35.'
  return { home, file, line: `${file} ${where} Its servers are left out until it is corrected.` }
}

describe('a config file with invalid JSON', () => {
  // One for all: behind relays, each home has a resident of its own.
  let broken: ReturnType<typeof brokenHome>
  beforeAll(() => {
    let end: (() => void) | undefined
    broken = brokenHome((remove) => (end = remove))
    return end
  })

  // Any other command opens the servers as `servers` does.
  it.each(['servers', 'exec -c 1', 'doctor --json', 'init --yes'])(
    'a config file with invalid JSON is reported with its line and column, and exit code 1, by: %s',
    async (command) => {
      const { home, line } = broken
      const { code, stdout, stderr } = await runCommand(command.split(' '), bridgeEnv(home))
      expect(stderr).toContain(`sandbridge: ${line}\n`)
      expect(stdout + stderr).not.toContain('No MCP server is configured')
      expect(code).toBe(1)
    },
  )
})

it('a file that has a list in place of its servers is reported with what is expected, and exit code 1', async () => {
  const { home, file } = brokenHome()
  writeFileSync(file, '{"mcpServers": []}')
  const { code, stderr } = await runCommand(['servers'], bridgeEnv(home))
  const cause = 'has a list in place of its servers; expected an object such as {"NAME": {"command": "…"}}'
  expect(stderr).toContain(`sandbridge: ${file} ${cause}. Its servers are left out until it is corrected.\n`)
  expect(code).toBe(1)
})

it('a valid file of servers is reported by no command', async () => {
  const home = makeHome()
  const { code, stdout, stderr } = await runCommand(['servers'], bridgeEnv(home))
  expect(stdout + stderr).toMatch(/^No MCP server is configured/)
  expect(code).toBe(0)
})

it('a bridge that serves a client keeps its other servers, and says once in a result which file it cannot read', async () => {
  const { home, file, line } = brokenHome()
  writeFileSync(
    path.join(home, 'MCPs/good.json'),
    JSON.stringify({ mcpServers: { good: fixtureServer('raw.mjs', 'good') } }),
  )
  const bridge = await startBridge({ home })
  expect(await bridge.run('await mcp_good.echo(text="x")')).toContain(`${line} Tell the user.`)
  expect(await bridge.run('1')).toBe('1')

  // A file that was corrected and is broken again is reported again.
  writeFileSync(file, '{"mcpServers": {}}')
  expect(await bridge.run('2')).toBe('2')
  writeFileSync(file, `${BROKEN} `)
  expect(await bridge.run('3')).toContain(line)
})

it('the first bridge on a machine says in a result which files of other clients it reads, and no later one does', async () => {
  const home = makeHome()
  const cursor = path.join(home, '.cursor/mcp.json')
  mkdirSync(path.dirname(cursor))
  writeFileSync(cursor, JSON.stringify({ mcpServers: { jira: fixtureServer('raw.mjs', 'good') } }))
  const bridge = await startBridge({ home })
  const said =
    `Cells can also call the servers in files of other MCP clients: cursor (${cursor}): jira. ` +
    'To leave a client out, set MCP_BRIDGE_SOURCES, such as MCP_BRIDGE_SOURCES=-cursor, for the bridge.'
  expect(await bridge.run('1')).toContain(`${said} Tell the user.`)
  expect(await bridge.run('2')).toBe('2')
  const { stdout } = await runCommand(['doctor'], bridgeEnv(home))
  expect(stdout).toContain(`\n${said}\n`)
  const later = await startBridge({ home })
  expect(await later.run('3')).toBe('3')
})

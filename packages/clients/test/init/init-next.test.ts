// @module-tag whole: init.test.ts has the journey
// This file verifies what follows registering: servers are asked for their tools, the user may leave clients out, and
// init says what to do next.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, BUILT_CLI, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'
import { inTerminal, needsTerminal, type Step } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { tellers } from '@sandbridge/core/test/support/bridges/telling-bridge.ts'

/** A home with a server of its own, and one in Cursor's file. */
function homeWithCursor() {
  const home = makeHome({ own: fixtureServer('raw.mjs', 'good') })
  const file = path.join(home, '.cursor/mcp.json')
  mkdirSync(path.dirname(file))
  writeFileSync(file, JSON.stringify({ mcpServers: { jira: fixtureServer('raw.mjs', 'named', 'create_issue') } }))
  const sandbridge = (...args: string[]) => runProgram(process.execPath, [BUILT_CLI, ...args], bridgeEnv(home))
  const atTerminal = (args: string[], steps: Step[]) =>
    inTerminal([process.execPath, BUILT_CLI, ...args], bridgeEnv(home, { TERM: 'dumb' }), { steps })
  return { home, file, sandbridge, atTerminal }
}

it('after init --yes, the first search finds tools, and init says what to do next', async () => {
  const { file, sandbridge } = homeWithCursor()
  const { stdout, code } = await sandbridge('init', '--yes')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^own +2 tools {2}[\d.]+ s\njira +1 tool {2}[\d.]+ s$/m)
  expect(stdout).toContain(`Cells can also call the servers in files of other MCP clients: cursor (${file}): jira.`)
  expect(stdout.slice(stdout.indexOf('\nNext:'))).toBe(
    '\nNext:\n' +
      '- Restart these clients, which then start Sandbridge: cursor.\n' +
      '- cursor also lists 1 server itself: jira. Move them behind Sandbridge, so that they use no context: ' +
      'sandbridge init --move --client cursor\n' +
      '- For work with data, give cells pandas and charts: sandbridge packages add pandas matplotlib\n' +
      '- To be asked before what one server said reaches another: sandbridge config permissions.flow ask. ' +
      'For fewer questions, run sandbridge init after that, or add "trusted": true to the entries of servers that return only your own text.\n- To start Sandbridge at login, so that no client waits (about 120 MB): sandbridge init --login\n',
  )
  expect((await sandbridge('search', 'create an issue')).stdout).toMatch(/mcp_jira\.create_issue/)
  expect((await sandbridge('config', 'permissions.flow', 'ask')).code).toBe(0)
  // Nothing is asked a second time.
  expect((await sandbridge('init', '--yes')).stdout).not.toMatch(/2 tools|Restart/)
})

it('init --move says nothing of the client from which it has moved the servers', async () => {
  const { home, sandbridge } = homeWithCursor()
  const other = path.join(home, '.gemini/settings.json')
  mkdirSync(path.dirname(other))
  writeFileSync(other, JSON.stringify({ mcpServers: { wiki: fixtureServer('raw.mjs', 'good') } }))
  const { stdout } = await sandbridge('init', '--yes', '--move', '--client', 'cursor')
  expect(stdout).toContain(
    `Cells can also call the servers in files of other MCP clients: gemini-cli (${other}): wiki.`,
  )
})

it('init --login has the system start the resident at login', async () => {
  needsLinux('systemd starts it there')
  const { home } = homeWithCursor()
  const told = path.join(home, 'told')
  writeFileSync(path.join(home, 'systemctl'), `#!/bin/sh\necho "$@" >> ${told}\n`, { mode: 0o755 })
  const env = bridgeEnv(home, { PATH: `${home}:${process.env['PATH']}` })
  const { code, stdout } = await runProgram(process.execPath, [BUILT_CLI, 'init', '--yes', '--login'], env)
  expect([code, stdout]).toEqual([0, expect.stringContaining('The resident bridge starts at login.')])
  expect(readFileSync(told, 'utf8')).toMatch(/enable.*sandbridge\.service/)
  expect(readFileSync(path.join(home, '.config/systemd/user/sandbridge.service'), 'utf8')).toContain(BUILT_CLI)
})

it('init --undo asks first, and names each file once', async () => {
  const { file, sandbridge } = homeWithCursor()
  const before = readFileSync(file, 'utf8')
  await sandbridge('init', '--yes')
  await sandbridge('init', '--yes', '--move')
  const asked = await sandbridge('init', '--undo')
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('Pass --yes to skip the confirmation.') })
  expect(asked.stdout.split(file)).toHaveLength(2)
  expect(readFileSync(file, 'utf8')).not.toBe(before)
  const ofOne = await sandbridge('init', '--undo', '--client', 'cursor', '--yes')
  expect([ofOne.code === 0, ofOne.stderr]).toEqual([false, expect.stringContaining('for every client')])
  const { stdout } = await sandbridge('init', '--undo', '--yes')
  expect(stdout).toMatch(/^restored .*mcp\.json\ndeleted .*cursor\.json$/m)
  expect(readFileSync(file, 'utf8')).toBe(before)
})

it('init asks in a terminal which clients to leave out, and the entry it writes leaves them out', async () => {
  needsTerminal()
  const { file, atTerminal } = homeWithCursor()
  const screen = await atTerminal(
    ['init'],
    [
      ['Let cells call them, too? [Y/n]', 'n\n'],
      ['Make these changes? [y/N]', 'y\n'],
      ['Start it at login, so that no client waits? It takes about 120 MB. [y/N]', '\n'],
      ['Start these servers and list their tools now? [Y/n]', 'n\n'],
    ],
  )
  expect(screen).toContain(`Sandbridge found servers in the file of cursor (${file}): jira`)
  // The client that was left out is not asked for its tools, either.
  expect(screen).toContain('so no search finds them: own\n')
  expect(screen).toContain('List them with `sandbridge index`.')
  expect(screen).toContain('- Set MCP_BRIDGE_SOURCES=-cursor for commands in a terminal, too.')
  const { mcpServers } = JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: Record<string, object> }
  expect(mcpServers['sandbridge']).toMatchObject({ env: { MCP_BRIDGE_SOURCES: '-cursor' } })
})

it("init asks in a terminal whose text is the user's own, where there is a reason to ask", async () => {
  needsTerminal()
  const home = makeHome()
  const closed = { annotations: { openWorldHint: false } }
  const servers = tellers(home, {
    notes: closed,
    diary: closed,
    web: {},
    mail: { annotations: { openWorldHint: true } },
  })
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
  const env = { MCP_BRIDGE_FLOW: 'ask', TERM: 'dumb' }
  const init = (steps: Step[]) => inTerminal([process.execPath, BUILT_CLI, 'init'], bridgeEnv(home, env), { steps })
  const trust = () => {
    const file = path.join(home, 'MCPs/permissions.json')
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}'
    return ((JSON.parse(text) as { trust?: { server: string }[] }).trust ?? []).map(({ server }) => server)
  }
  // Never without being asked.
  expect((await runProgram(process.execPath, [BUILT_CLI, 'init', '--yes'], bridgeEnv(home, env))).code).toBe(0)
  expect(trust()).toEqual([])
  const screen = await init([
    ['notes: it runs on this machine, and says of 3 tools that they reach nothing outside', ''],
    ['may act on its text? [y/N]', '\n'],
    ['diary: it runs', ''],
    ['may act on its text? [y/N]', 'y\n'],
  ])
  expect(screen).not.toMatch(/(web|mail): it runs/)
  expect(trust()).toEqual(['diary'])
  expect(await init([['notes: it runs', 'n\n']])).not.toContain('diary: it runs')
})

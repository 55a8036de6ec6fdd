// This file verifies where servers come from, and that an invalid file affects only its own servers.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, BUILT_CLI, fixtureServer, makeHome, published } from '../support/bridges/bridge-process.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'
import { runCommand, runProgram } from '../support/machine/run-program.ts'

/** The names that a bridge finds, and what it writes to stderr. No sandbox starts for them. */
async function found(home: string, env: Record<string, string> = {}) {
  const args = ['-v', 'servers', '--json']
  const { stdout, stderr, code } = await runCommand(args, bridgeEnv(home, env))
  const { servers } = JSON.parse(stdout) as { servers: { name: string }[] }
  return { code, stderr, names: servers.map(({ name }) => name).toSorted() }
}

it('the bridge reads every JSON file in ~/MCPs, loads the valid ones and says why it left the others out', async () => {
  const home = makeHome({ good: published.everything() })
  const write = (file: string, text: string | Buffer) => writeFileSync(path.join(home, 'MCPs', file), text)
  write('broken.json', '{"mcpServers": {')
  write('comments.json', '{\n  // mine\n  "mcpServers": {"commented": {"command": "x",},},\n}')
  write('binary.json', Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x01]))
  write('self.json', JSON.stringify({ mcpServers: { itself: { command: 'npx', args: ['-y', 'sandbridge'] } } }))
  const { names, stderr, code } = await found(home)
  expect(code).toBe(1)
  expect(names).toEqual(['commented', 'good'])
  expect(stderr).toMatch(/broken\.json/)
  expect(stderr).toMatch(/binary\.json/)
  // `init` writes such an entry into every client.
  expect(stderr).not.toMatch(/itself/)
})

it('the bridge keeps two servers of one name from two files', async () => {
  const home = makeHome({ twin: { command: 'a' } })
  writeFileSync(path.join(home, 'MCPs/zz.json'), JSON.stringify({ mcpServers: { twin: { command: 'b' } } }))
  expect((await found(home)).names).toHaveLength(2)
})

it('the bridge reads MCP_SERVERS_CONFIG too, and accepts an entry for itself only when asked', async () => {
  const home = makeHome()
  const file = path.join(home, 'more.json')
  writeFileSync(file, JSON.stringify({ mcpServers: { extra: { command: 'x' }, itself: { command: 'sandbridge' } } }))
  const config = { MCP_SERVERS_CONFIG: file }
  expect((await found(home, config)).names).toEqual(['extra'])
  expect((await found(home, { ...config, MCP_BRIDGE_ALLOW_SELF_SERVER: '1' })).names).toEqual(['extra', 'itself'])
})

it('the bridge recognises itself behind a launcher by its answer, and lists none of its tools', async () => {
  const script = `require('child_process').spawn(process.execPath, [${JSON.stringify(BUILT_CLI)}], { stdio: 'inherit' })`
  const home = makeHome({ launched: { command: 'node', args: ['-e', script] }, good: fixtureServer('raw.mjs', 'good') })
  const index = (env = {}) => runProgram(process.execPath, [BUILT_CLI, 'index'], bridgeEnv(home, env))
  const { stdout, stderr } = await index()
  expect(stdout + stderr).toMatch(/^launched +failed: is Sandbridge itself/m)
  expect(stdout).toMatch(/^good +2 tools/m)
  expect((await index({ MCP_BRIDGE_ALLOW_SELF_SERVER: '1' })).stdout).toMatch(/^launched +\d+ tool/m)
})

it('the bridge gives a server its environment and folder, and the sandbox none of it', async () => {
  const home = makeHome()
  const bridge = await startBridge({
    servers: { everything: { ...published.everything(), env: { CANARY: 'c4n4ry-value' }, cwd: home } },
    env: { BRIDGE_CANARY: 'c4n4ry-bridge' },
  })
  const seen = await bridge.run('await mcp_everything.get_env()')
  expect(seen).toContain('c4n4ry-value')
  // The server does not get the bridge's own environment.
  expect(seen).not.toContain('c4n4ry-bridge')
  expect(await bridge.run('import os\nstr(dict(os.environ))')).not.toContain('c4n4ry')
  expect(bridge.stderr).not.toContain('c4n4ry')
})

it('an invalid setting is reported with its variable, its value and the allowed values', async () => {
  const env = bridgeEnv(makeHome(), { MCP_BRIDGE_TIMEOUT: 'soon', MCP_BRIDGE_OUTPUT_MODE: 'xml' })
  const { stdout, stderr, code } = await runCommand([], env)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^sandbridge: .*MCP_BRIDGE_TIMEOUT.*soon/)
  expect(stderr).toMatch(/MCP_BRIDGE_OUTPUT_MODE.*"xml".*compact, toon, json/s)
})

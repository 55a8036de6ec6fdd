// This file verifies where servers come from, and that an invalid file affects only its own servers.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, CLI, makeHome, published } from '../support/bridge-process.ts'
import { startBridge } from '../support/start-bridge.ts'
import { runProgram } from '../support/run-program.ts'

const names = 'sorted(runtime.discovered_servers())'

it('the bridge reads every JSON file in ~/MCPs, loads the valid ones and says why it left the others out', async () => {
  const home = makeHome({ good: published.everything() })
  const write = (file: string, text: string | Buffer) => writeFileSync(path.join(home, 'MCPs', file), text)
  write('broken.json', '{"mcpServers": {')
  write('comments.json', '{\n  // mine\n  "mcpServers": {"commented": {"command": "x",},},\n}')
  write('binary.json', Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x01]))
  write('self.json', JSON.stringify({ mcpServers: { itself: { command: 'npx', args: ['-y', 'sandbridge'] } } }))
  const { stdout, stderr, code } = await runProgram(process.execPath, [CLI, '-v', 'exec', '-c', names], bridgeEnv(home))
  expect(code).toBe(0)
  expect(stdout.trim()).toBe("['commented', 'good']")
  expect(stderr).toMatch(/broken\.json/)
  expect(stderr).toMatch(/binary\.json/)
  expect(stderr).toMatch(/itself/)
})

it('the bridge keeps two servers of one name from two files', async () => {
  const home = makeHome({ twin: { command: 'a' } })
  writeFileSync(path.join(home, 'MCPs/zz.json'), JSON.stringify({ mcpServers: { twin: { command: 'b' } } }))
  const { stdout } = await runProgram(process.execPath, [CLI, 'exec', '-c', `len(${names})`], bridgeEnv(home))
  expect(stdout.trim()).toBe('2')
})

it('the bridge reads MCP_SERVERS_CONFIG too, and accepts an entry for itself only when asked', async () => {
  const home = makeHome()
  const file = path.join(home, 'more.json')
  writeFileSync(file, JSON.stringify({ mcpServers: { extra: { command: 'x' }, itself: { command: 'sandbridge' } } }))
  const exec = (env: Record<string, string>) =>
    runProgram(process.execPath, [CLI, 'exec', '-c', names], bridgeEnv(home, { MCP_SERVERS_CONFIG: file, ...env }))
  expect((await exec({})).stdout.trim()).toBe("['extra']")
  expect((await exec({ MCP_BRIDGE_ALLOW_SELF_SERVER: '1' })).stdout.trim()).toBe("['extra', 'itself']")
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
  const { stderr, code } = await runProgram(process.execPath, [CLI], env)
  expect(code).toBe(2)
  expect(stderr).toMatch(/MCP_BRIDGE_TIMEOUT.*soon/)
  expect(stderr).toMatch(/MCP_BRIDGE_OUTPUT_MODE.*xml.*compact.*toon.*json/s)
})

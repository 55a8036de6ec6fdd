// @module-tag whole: it starts bridges without a cache
// This file verifies the first start of servers: listed before the first search, and told about while a package manager
// installs them.
import { expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, fixtureServer } from '../support/bridges/bridge-process.ts'
import { onPath, skip } from '../support/suite/needs.ts'
import { startNpmRegistry } from '../support/servers/npm-registry.ts'
import { runCommand } from '../support/machine/run-program.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'
import { newFolder } from '../support/machine/new-folder.ts'

const hasResidents = process.platform !== 'win32'

it('servers that were never seen are listed as soon as a client asks for the tools', async () => {
  const bridge = await startBridge({ servers: { quick: fixtureServer('raw.mjs', 'good') } })
  await bridge.client.listTools()
  const code = '[server["state"] for server in runtime.discovered_servers(detailed=True)]'
  await expect.poll(() => bridge.run(code), { timeout: 20_000 }).toBe("['running']")
})

it(
  'a server that npm installs is said to be installed, by the search, the call and the command, and works in the end',
  { timeout: 180_000 },
  async () => {
    if (!onPath('npx')) skip('npx is not installed')
    const registry = await startNpmRegistry()
    onTestFinished(() => registry.close())
    const goOn = registry.pause()
    const cache = newFolder()
    const env = {
      npm_config_registry: registry.url,
      npm_config_cache: cache,
      npm_config_audit: 'false',
      npm_config_update_notifier: 'false',
    }
    const slow = { command: 'npx', args: ['-y', 'slow-server', 'good'], env }
    // A command knows what the resident does, and nothing of a bridge that serves one client.
    const shared = { MCP_BRIDGE_RESIDENT: hasResidents ? 'on idle=1' : 'off' }
    const bridge = await startBridge({ servers: { slow, quick: fixtureServer('raw.mjs', 'good') }, env: shared })
    await bridge.client.listTools()
    const ofCommand = bridgeEnv(bridge.home, shared)
    const listed = async () => (await runCommand(['servers'], ofCommand)).stdout
    if (hasResidents)
      await expect
        .poll(listed, { timeout: 60_000, interval: 1000 })
        .toMatch(/^slow +mcp_slow +installing +began just now$/m)
    const found = await bridge.run('[tool.server for tool in await runtime.search_tool_docs("echo")]')
    expect(found).toMatch(/quick[^]*Not searched: slow \(it is being installed\)\. Search again later\./)
    const called = await bridge.run('await mcp_slow.echo(text="x")', { timeout: 1 })
    expect(called).toMatch(
      /Server 'slow' is being installed by npm, for \d+ s so far\. That goes on: call it again later\./,
    )
    goOn()
    expect(await bridge.run('await mcp_slow.echo(text="installed")')).toBe("'installed'")
  },
)

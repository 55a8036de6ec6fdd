// This file verifies that a terminal and a cell can find servers of a registry, and what is reported when a registry
// fails.
import { expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { FakeRegistry, listed } from '@sandbridge/core/test/support/servers/fake-registry.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

const weather = listed({
  name: 'io.example/weather',
  description: 'Forecasts for any place',
  remotes: [{ type: 'streamable-http', url: 'https://weather.example/mcp' }],
})
const LINE = 'io.example/weather 1.0.0 (remote (http); no secrets; publisher not verified)  # Forecasts for any place'

async function startRegistry() {
  const registry = await FakeRegistry.start([weather])
  onTestFinished(() => registry.close())
  return registry
}

it('sandbridge find prints a line for each server, online and offline', async () => {
  const registry = await startRegistry()
  const home = makeHome()
  const find = (...args: string[]) =>
    runCommand(['find', ...args], bridgeEnv(home, { MCP_BRIDGE_REGISTRIES: registry.address }))
  expect(await find('forecast')).toEqual({ code: 0, stdout: `${LINE}\n`, stderr: '' })
  const asked = registry.requests.length
  expect((await find('forecast', '--offline')).stdout).toBe(`${LINE}\n`)
  expect(JSON.parse((await find('forecast', '--json')).stdout)).toMatchObject([{ name: 'io.example/weather' }])
  expect(registry.requests).toHaveLength(asked)
  expect(await find('nothing-of-the-kind')).toMatchObject({ code: 0, stdout: '' })
})

it('a cell finds the same servers as sandbridge find, and sees what is wrong with a registry', async () => {
  const registry = await startRegistry()
  const bridge = await startBridge({ env: { MCP_BRIDGE_REGISTRIES: registry.address } })
  registry.instead = (_, response) => !!response.end('<html>')
  const failed = await bridge.call({ code: 'await runtime.find_servers("forecast")' })
  expect(failed).toMatchObject({ isError: true, structured: {} })
  expect(failed.text).toContain('returned a web page instead of a list')
  const other = await startRegistry()
  const second = await startBridge({ env: { MCP_BRIDGE_REGISTRIES: `${registry.address} ${other.address}` } })
  const { text } = await second.call({ code: 'print(await runtime.find_servers("forecast"))' })
  expect(text).toContain(LINE)
  expect(text).toContain('returned a web page instead of a list')
})

it('what publishers say of their servers counts as read text, as that of a server does', async () => {
  const registry = await startRegistry()
  const bridge = await startBridge({
    servers: { a: fixtureServer('raw.mjs', 'good') },
    env: { MCP_BRIDGE_REGISTRIES: registry.address, MCP_BRIDGE_FLOW: 'deny' },
  })
  const call = 'print((await mcp_a.echo(text="x")))'
  const find = (shown: string) => `found = await runtime.find_servers("forecast")\nprint(${shown})`
  // Control: nothing of it is shown.
  expect(await bridge.run(`${find('len(found)')}\n${call}`)).not.toContain('has read')
  expect(await bridge.run(call)).not.toContain('has read')
  await bridge.run(find('found[0]["description"]'))
  expect(await bridge.run(call)).toContain('the model has read text of registries')
})

it('a cell cannot search for servers when registries are switched off', async () => {
  const bridge = await startBridge({ env: { MCP_BRIDGE_REGISTRIES: 'off' } })
  const { text } = await bridge.call({ code: 'await runtime.find_servers("x")' })
  expect(text).toContain('MCP_BRIDGE_REGISTRIES is off')
  expect(text).toContain('Ask the user to remove that setting')
})

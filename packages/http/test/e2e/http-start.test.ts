// @module-tag whole: it starts many bridges over HTTP; http.test.ts has the journey
// This file verifies how `sandbridge run --http` starts: where it listens, who learns the token, and what it refuses.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'

const TOKEN = 'chosen-by-the-user'

async function tryToStart(address: string, env: Record<string, string> = {}, home = makeHome()) {
  return runCommand(['run', '--http', address], bridgeEnv(home, env))
}

/** Occupies a port of this machine until `release` or the end of the test. */
async function takePort(): Promise<{ port: number; release: () => Promise<void> }> {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const release = () => new Promise<void>((resolve) => void taken.close(() => resolve()))
  onTestFinished(release)
  return { port: (taken.address() as { port: number }).port, release }
}

it('serve over HTTP makes a token when none is set, and shows only the path of its file', async () => {
  const bridge = await startHttpBridge()
  const file = path.join(bridge.home, 'MCPs/.sandbridge/http-token')
  expect(bridge.stderr()).toContain(`Serving MCP at ${bridge.url} to clients with the token in ${file}\n`)
  expect(new URL(bridge.url).hostname).toBe('127.0.0.1')
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  const client = await bridge.connect('legacy')
  expect(await client.run('1')).toBe('1')
  await expect(bridge.connect('legacy', { token: 'x'.repeat(43) })).rejects.toThrow()
  expect(bridge.stderr()).not.toContain(bridge.token)
})

it('serve over HTTP uses a token that is set, and makes no file', async () => {
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_HTTP_TOKEN: TOKEN } })
  expect(() => readFileSync(path.join(bridge.home, 'MCPs/.sandbridge/http-token'))).toThrow(/ENOENT/)
  expect((await (await bridge.connect('modern')).client.listTools()).tools).toHaveLength(1)
  expect(bridge.stderr()).not.toContain(TOKEN)
})

it('serve over HTTP needs a token that is set where other machines can connect', async () => {
  const { code, stderr } = await tryToStart('0.0.0.0:0')
  expect(code).toBe(2)
  expect(stderr).toMatch(/Other machines can reach 0\.0\.0\.0, and MCP_BRIDGE_HTTP_TOKEN is not set/)
  const bridge = await startHttpBridge({ address: '0.0.0.0:0', env: { MCP_BRIDGE_HTTP_TOKEN: TOKEN } })
  expect(bridge.url).toMatch(/^http:\/\/0\.0\.0\.0:\d+\/mcp$/)
})

it('serve over HTTP needs the address that access tokens are for where other machines can connect', async () => {
  const issuer = { MCP_BRIDGE_OAUTH: 'issuer=https://login.example.com' }
  const { code, stderr } = await tryToStart('0.0.0.0:0', issuer)
  expect([code, stderr]).toEqual([2, expect.stringMatching(/MCP_BRIDGE_PUBLIC_URL is not/)])
  const env = { ...issuer, MCP_BRIDGE_PUBLIC_URL: 'https://bridge.example.com/mcp' }
  const home = { MCP_BRIDGE_OAUTH: 'issuer=http://127.0.0.1:9', MCP_BRIDGE_PUBLIC_URL: env.MCP_BRIDGE_PUBLIC_URL }
  const bridge = await startHttpBridge({ address: '0.0.0.0:0', env: home })
  expect(bridge.stderr()).toMatch(/http-token, or one of http:\/\/127\.0\.0\.1:9\n/)
  for (const issuers of [
    'http://login.example.com',
    'https://u:p@login.example.com',
    'https://login.example.com?x',
    'x',
  ]) {
    const refused = await tryToStart('0', { MCP_BRIDGE_OAUTH: `issuer=${issuers}` })
    expect(refused.stderr).toMatch(/MCP_BRIDGE_OAUTH=issuer: .* is not allowed/)
  }
})

it('serve over HTTP reports settings that contradict each other in a sentence', async () => {
  expect((await tryToStart('nonsense')).stderr).toMatch(/--http "nonsense" is not a valid address/)
  expect((await tryToStart('0', { MCP_BRIDGE_HTTP_TOKEN: 'short' })).stderr).toMatch(/MCP_BRIDGE_HTTP_TOKEN: its value/)
  const { port } = await takePort()
  const { code, stderr } = await tryToStart(String(port))
  expect([code, stderr]).toEqual([2, expect.stringMatching(/cannot listen: .*EADDRINUSE/)])
})

it('serve over HTTP does not use a token that others can read', async () => {
  needsPosix('Windows has no modes')
  const home = makeHome()
  const folder = path.join(home, 'MCPs/.sandbridge')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'http-token'), 'x'.repeat(43), { mode: 0o644 })
  const { code, stderr } = await tryToStart('0', {}, home)
  expect([code, stderr]).toEqual([2, expect.stringMatching(/Other users of this machine can read/)])
})

it('serve over HTTP leaves its own address out of its servers, where a client is configured with it', async () => {
  const { port, release } = await takePort()
  await release()
  const itself = { url: `http://127.0.0.1:${port}/mcp` }
  const other = { url: `http://127.0.0.1:${port === 65_535 ? 1 : port + 1}/mcp` }
  const bridge = await startHttpBridge({ address: String(port), servers: { itself, other } })
  const client = await bridge.connect('legacy')
  expect(await client.run('runtime.discovered_servers()')).toMatch(/^(?!.*itself).*other/s)
})

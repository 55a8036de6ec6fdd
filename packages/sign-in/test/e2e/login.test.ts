// @module-tag whole: a command for each test
// This file verifies `sandbridge login`, `logout` and `image build` when called by programs, and that a bridge recovers
// after a refusal.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { pathWith, pathWithBrowser } from '@sandbridge/core/test/support/servers/agreeing-browser.ts'
import { bridgeEnv, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { protectedServer } from '@sandbridge/core/test/support/servers/protected-server.ts'

const PATH_WITH_BROWSER = pathWithBrowser()

const sandbridge = (home: string, args: string[], env: Record<string, string> = {}) =>
  runCommand(args, bridgeEnv(home, { PATH: PATH_WITH_BROWSER, ...env }), { cwd: home })

it('sandbridge login prints JSON alone on stdout, and the page to sign in at on stderr', async () => {
  needsPosix('its browser is a script')
  const server = await protectedServer()
  const home = makeHome({ r: { url: server.url } })
  const first = await sandbridge(home, ['login', 'r', '--json'])
  expect(JSON.parse(first.stdout)).toEqual({ server: 'r', signedIn: true })
  expect(first.stderr).toMatch(/^Sign in to 'r' here:\nhttp:\/\/127\.0\.0\.1:\d+\/authorize\?/)
  const again = await sandbridge(home, ['login', 'r', '--json'])
  expect(JSON.parse(again.stdout)).toEqual({ server: 'r', signedIn: false })
  const plain = await sandbridge(home, ['login', 'r'])
  expect(plain).toEqual({
    code: 0,
    stdout: "'r' is already signed in. Sign in anew: sandbridge login r --new\n",
    stderr: '',
  })
  expect((await sandbridge(home, ['logout', 'mcp_r'])).stdout).toMatch(
    /^Signed out of 'r'. Its authorization server cannot revoke tokens/,
  )
  const byAlias = await sandbridge(home, ['login', 'mcp_r', '--json'])
  expect(JSON.parse(byAlias.stdout)).toEqual({ server: 'r', signedIn: true })
  const unknown = await sandbridge(home, ['login', 'q'])
  expect(unknown.stderr).toMatch(/Unknown server 'q'/)
})

it('sandbridge image build prints JSON alone on stdout, and the lines of the build on stderr', async () => {
  needsPosix('its engine is a script')
  const info = JSON.stringify({ ServerVersion: '28.2.2', OSType: 'linux' })
  const docker = `#!/bin/sh\nif [ "$1" = info ]; then echo '${info}'; else echo "Step 1 of $1"; fi\n`
  const env = { PATH: pathWith({ docker }), MCP_BRIDGE_RUNTIME: 'docker' }
  const built = await sandbridge(makeHome(), ['image', 'build', 'slim', '--json'], env)
  expect(JSON.parse(built.stdout)).toEqual({ engine: 'docker', image: 'localhost/sandbridge-slim:latest' })
  expect(built.stderr).toBe('Step 1 of build\n')
  const plain = await sandbridge(makeHome(), ['image', 'build', 'slim'], env)
  expect(plain.stdout).toContain('Step 1 of build\n')
  expect(plain.stdout).toContain('Use it with MCP_BRIDGE_IMAGE=localhost/sandbridge-slim:latest')
})

const CALL = 'await mcp_r.echo(text="hi")'

it('a server that refused many times works as soon as the user has signed in', async () => {
  needsPosix('its browser is a script')
  const server = await protectedServer()
  const bridge = await startBridge({ servers: { r: { url: server.url } } })
  for (let i = 0; i < 10; i += 1) expect(await bridge.run(CALL)).toContain('sandbridge login r')
  await sandbridge(bridge.home, ['login', 'r'])
  expect(await bridge.run(CALL)).toBe("'hi'")
  // The server invalidates the sign-in; the bridge signs in again, first by the refresh token, then, when that is
  // refused, by the user.
  server.valid.clear()
  server.refreshTokens.clear()
  for (let i = 0; i < 10; i += 1) expect(await bridge.run(CALL)).toContain('sandbridge login r')
  await sandbridge(bridge.home, ['login', 'r'])
  expect(await bridge.run(CALL)).toBe("'hi'")
})

it('a server that refused a header works as soon as its definition has the right one, in this bridge and the next', async () => {
  const server = await protectedServer()
  server.valid.add('right')
  const withToken = (token: string) => ({ r: { url: server.url, headers: { Authorization: `Bearer ${token}` } } })
  const bridge = await startBridge({ servers: withToken('wrong') })
  for (let i = 0; i < 5; i += 1) expect(await bridge.run(CALL)).toContain('not accept the Authorization header')
  const file = path.join(bridge.home, 'MCPs/servers.json')
  const wrong = readFileSync(file, 'utf8')
  writeFileSync(file, JSON.stringify({ mcpServers: withToken('right') }))
  expect(await bridge.run(CALL)).toBe("'hi'")
  writeFileSync(file, wrong)
  expect((await sandbridge(bridge.home, ['search', 'echo'])).stdout).not.toContain('mcp_r.echo')
  // The server accepts the old token now: nothing here has changed that would clear a remembered failure.
  server.valid.add('wrong')
  expect((await sandbridge(bridge.home, ['index', 'r'])).stdout).toMatch(/^r +1 tool /)
  expect((await sandbridge(bridge.home, ['exec', '-c', CALL])).stdout).toBe("'hi'\n")
})

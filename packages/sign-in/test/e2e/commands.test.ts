// @module-tag whole: a command for each step
// This file verifies what the commands around a sign-in show and print, with the built bridge.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { pathWith, pathWithBrowser } from '@sandbridge/core/test/support/servers/agreeing-browser.ts'
import { bridgeEnv, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { protectedServer } from '@sandbridge/core/test/support/servers/protected-server.ts'

const PATH = pathWithBrowser()
const CALL = 'await mcp_r.echo(text="hi")'

const login = (home: string, args: string[], env: Record<string, string> = {}) =>
  runCommand(['login', ...args], bridgeEnv(home, { PATH, ...env }), { cwd: home })
const run = async (home: string, args: string[], env: Record<string, string> = {}) => {
  const { stdout, stderr } = await runCommand(args, bridgeEnv(home, env), { cwd: home })
  return stdout + stderr
}

it('servers and doctor show who is signed in, and logout forgets sign-ins of entries that are gone', async () => {
  needsPosix('its browser is a script')
  const servers = [await protectedServer(), await protectedServer(), await protectedServer()]
  const claims = Buffer.from(JSON.stringify({ email: 'ann@example.com' })).toString('base64url')
  for (const { twist } of servers)
    twist.steps = {
      code: (usual) => ({ ...usual, id_token: `x.${claims}.y` }),
      metadata: (usual, _sent, base) => ({ ...usual, revocation_endpoint: `${base}/revoke` }),
    }
  const [first, second, third] = servers.map(({ url }) => url) as [string, string, string]
  const home = makeHome({ r: { url: first }, s: { url: second }, t: { url: third } })
  expect(await run(home, ['servers', 'r'])).toMatch(/^authorized +no sign-in$/m)
  for (const name of ['r', 's', 't']) expect((await login(home, [name])).stdout).toContain(`Signed in to '${name}'.`)
  expect(await run(home, ['servers', 'r'])).toMatch(/^authorized +signed in as ann@example\.com, just now$/m)
  expect(await run(home, ['servers'])).toMatch(/^s +mcp_s .*signed in as ann@example\.com, just now\./m)
  expect(JSON.parse(await run(home, ['servers', '--json']))).toMatchObject({
    servers: [{ signIn: { account: 'ann@example.com' } }, {}, {}],
  })
  const json = JSON.parse(await run(home, ['servers', 'r', '--json'])) as object
  expect(json).toMatchObject({ signIn: { uses: 'sign-in', account: 'ann@example.com' } })
  expect(await run(home, ['doctor'])).toContain('r: signed in as ann@example.com')
  writeFileSync(path.join(home, 'MCPs/servers.json'), '{"mcpServers": {}}')
  expect(await run(home, ['logout', first])).toBe(
    "Signed out of 'r'. Its authorization server has revoked the tokens.\n",
  )
  expect(await run(home, ['logout', 's'])).toContain("Signed out of 's'")
  expect(await run(home, ['logout', '--all'])).toContain("Signed out of 't'")
  expect(servers.map(({ revoked }) => revoked.length)).toEqual([2, 2, 2])
  expect(await run(home, ['logout', '--all'])).toBe('There is no sign-in.\n')
  expect(await run(home, ['logout', first])).toBe(`There is no sign-in to '${first}'.\n`)
})

it('login --json prints a failure as JSON, and login --new registers anew', async () => {
  needsPosix('its browser is a script')
  const server = await protectedServer()
  const home = makeHome({ r: { url: server.url } })
  server.twist.error = 'access_denied'
  const refused = await login(home, ['r', '--json'])
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.stdout)).toMatchObject({
    server: 'r',
    signedIn: false,
    error: { code: 'UPSTREAM_AUTH_REQUIRED', message: expect.stringContaining('access_denied') as string },
  })
  expect(JSON.parse((await login(home, ['unknown', '--json'])).stdout)).toMatchObject({ signedIn: false })
  delete server.twist.error
  const { stdout } = await login(home, ['r'])
  expect(stdout).toContain('This command waits for 10 minutes.')
  expect((await login(home, ['r'])).stdout).toContain('already signed in')
  const { register } = server.counts
  expect((await login(home, ['r', '--new'])).stdout).toContain("Signed in to 'r'.")
  expect(server.counts.register).toBe(register + 1)
})

it('login opens the program that BROWSER names where the system has no opener', async () => {
  needsPosix('its browser is a script')
  const server = await protectedServer()
  const marks = makeHome()
  const mark = path.join(marks, 'opened')
  const script = `#!${process.execPath}\nrequire('node:fs').writeFileSync('${mark}', process.argv.slice(2).join(' '))\nfetch(process.argv[3])\n`
  const folder = pathWith({ 'my-browser': script }).split(path.delimiter)[0]!
  const BROWSER = 'no-such-browser:my-browser --new-window %s'
  const { stdout } = await login(makeHome({ r: { url: server.url } }), ['r'], { PATH: folder, BROWSER })
  expect(stdout).toContain("Signed in to 'r'.")
  expect(readFileSync(mark, 'utf8')).toMatch(/^--new-window http:.*\/authorize\?/)
})

it('another key for sign-ins is named as the cause, and each key has a sign-in of its own', async () => {
  needsPosix('its browser is a script')
  const { url } = await protectedServer()
  const home = makeHome({ r: { url } })
  const [one, other] = ['a', 'b'].map((digit) => ({ MCP_BRIDGE_SIGN_IN_KEY: digit.repeat(64) }))
  await login(home, ['r'], one)
  expect(await run(home, ['exec', '-c', CALL], other)).toContain('sealed with another key than that of')
  await login(home, ['r'], other)
  for (const key of [one, other]) expect(await run(home, ['exec', '-c', CALL], key)).toContain('hi')
})

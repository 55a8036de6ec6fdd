// @module-tag whole: users.test.ts has the journey of two users
// This file verifies that a user of a shared bridge has servers, secrets and sign-ins of their own, which other users
// cannot reach.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { pathWithBrowser } from '@sandbridge/core/test/support/servers/agreeing-browser.ts'
import { bridgeEnv, fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type HttpBridge, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { connectAs, give, tokenFor } from '@sandbridge/core/test/support/bridges/http-users.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { protectedServer } from '@sandbridge/core/test/support/servers/protected-server.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const sandbridge = ({ home }: HttpBridge, ...args: string[]) => runCommand(args, bridgeEnv(home), { cwd: home })

const servers = (mcpServers: object) => ({ mcpServers })
const lines = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [])
const caught = (call: string) =>
  `try:\n    print(${call})\nexcept runtime.MCPError as error:\n    print(error.code, error)`
const UNREACHABLE = /is not defined|PROXY_SERVER_UNAVAILABLE/
const PID = (server: string) => caught(`await mcp_${server}.pid()`)

it('servers in the folder of a user are added to the shared ones, for that user alone', async () => {
  const bridge = await startHttpBridge({
    servers: { shared: fixtureServer('raw.mjs', 'good'), both: fixtureServer('raw.mjs', 'good') },
  })
  const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
  const owner = await bridge.connect('legacy')
  const sharedPid = await owner.run(PID('shared'))
  const bothPid = await owner.run(PID('both'))
  expect(await ben!.run(PID('shared'))).toBe(sharedPid)
  expect(await ann!.run(PID('shared'))).toBe(sharedPid)
  expect(await ann!.run(PID('mine'))).toMatch(UNREACHABLE)
  // They count from the next cell on. One with the name of a shared server replaces it for this user.
  const own = servers({ mine: fixtureServer('raw.mjs', 'good'), Both: fixtureServer('raw.mjs', 'good') })
  give(bridge, 'ann', 'servers.json', own)
  const again = await bridge.connect('legacy', { token: ann!.token })
  const seen = await Promise.all([ann!, again].map((client) => client.run(PID('mine'))))
  expect(seen[0]).toMatch(/^\d+$/)
  expect(seen[1]).toBe(seen[0])
  expect(await ann!.run(PID('both'))).toMatch(/^\d+$/)
  expect(await ann!.run(PID('both'))).not.toBe(bothPid)
  const annsShared = await ann!.run(PID('shared'))
  expect(annsShared).toMatch(/^\d+$/)
  expect(annsShared).not.toBe(sharedPid)
  for (const other of [ben!, owner]) {
    expect(await other.run(PID('mine'))).toMatch(UNREACHABLE)
    expect(await other.run('[server.name for server in runtime.discovered_servers()]')).not.toContain('mine')
    expect(await other.run(PID('both'))).toBe(bothPid)
    const { contents } = await other.client.readResource({ uri: CAPABILITIES })
    expect(JSON.stringify(contents)).not.toContain('mine')
  }
  expect(JSON.stringify(await ann!.client.readResource({ uri: CAPABILITIES }))).toContain('mine')
})

const TOKEN = 'annsTokenThatNobodySees4711'
const CAPABILITIES = 'resource://mcp-server-code-execution-mode/capabilities'

it('variables in the folder of a user fill in the shared definitions for that user, and are taken out of the record and of errors', async () => {
  const journals = newFolder()
  const [ofAll, ofAnn] = [path.join(journals, 'of-all'), path.join(journals, 'of-ann')]
  const hub = { ...fixtureServer('ruled.mjs', '${env:HUB_JOURNAL}'), env: { HUB_TOKEN: '${env:HUB_TOKEN:-none}' } }
  const bridge = await startHttpBridge({
    servers: { hub },
    env: { HUB_JOURNAL: ofAll, MCP_BRIDGE_AUDIT: 'full' },
  })
  const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
  give(bridge, 'ann', '.env', `HUB_JOURNAL=${ofAnn}\nHUB_TOKEN=${TOKEN}\n`)
  expect(await ann!.run(`await mcp_hub.create_issue(title="${TOKEN}")`)).toContain('did create_issue')
  expect(await ben!.run('await mcp_hub.delete_repo(id=1)')).toContain('did delete_repo')
  expect(lines(ofAnn)).toEqual([JSON.stringify(['create_issue', { title: TOKEN }])])
  expect(lines(ofAll)).toEqual([JSON.stringify(['delete_repo', { id: 1 }])])
  const record = async () => (await sandbridge(bridge, 'log', '--json')).stdout
  await expect.poll(record, { timeout: 10_000 }).toMatch(/create_issue/)
  expect(await record()).toMatch(/"title\\?":\\?"\[redacted\]/)
  expect(await record()).not.toContain(TOKEN)
})

it('a mistake in the folder of a user stops that user, and never gives them the shared connections instead', async () => {
  const bridge = await startHttpBridge({ servers: { hub: fixtureServer('raw.mjs', 'good') } })
  const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
  const withRules = (deny: unknown) => servers({ hub: { ...fixtureServer('raw.mjs', 'good'), permissions: { deny } } })
  expect(await ann!.run(PID('hub'))).toMatch(/^\d+$/)
  give(bridge, 'ann', 'servers.json', withRules([{ tool: 'hub__echo', when: 'args.text ==' }]))
  for (let count = 0; count < 2; count += 1) expect(await ann!.run(PID('hub'))).toMatch(/servers\.json.*valid CEL/s)
  expect(await ben!.run(PID('hub'))).toMatch(/^\d+$/)
  give(bridge, 'ann', 'servers.json', withRules(7))
  expect(await ann!.run(PID('hub'))).toMatch(UNREACHABLE)
  await until(() => bridge.stderr().includes('A server entry was skipped'))
  give(bridge, 'ann', 'servers.json', withRules(['hub__echo']))
  expect(await ann!.run(PID('hub'))).toMatch(/^\d+$/)
  expect(await ann!.run(caught('await mcp_hub.echo(text="x")'))).toContain('PERMISSION_DENIED')
  expect(await ben!.run(caught('await mcp_hub.echo(text="x")'))).toBe('x')
})

it('rules of a user count for a server of their own, and that user alone is asked about its calls', async () => {
  const bridge = await startHttpBridge({ servers: { asker: fixtureServer('raw.mjs', 'good') } })
  const asked: string[] = []
  const connect = async (name: string) =>
    bridge.connect('legacy', {
      token: tokenFor(bridge, name),
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', () => {
          asked.push(name)
          return { action: 'accept' as const, content: { answer: 'no' } }
        }),
    })
  const rules = { permissions: { ask: ['asker__pid'] } }
  for (const name of ['ann', 'ben'])
    give(bridge, name, 'servers.json', servers({ asker: fixtureServer('raw.mjs', 'good') }))
  give(bridge, 'ann', 'permissions.json', rules)
  const [ann, ben] = [await connect('ann'), await connect('ben')]
  expect(await ann.run(PID('asker'))).toContain('PERMISSION_DENIED')
  expect(await ben.run(PID('asker'))).toMatch(/^\d+$/)
  expect(asked).toEqual(['ann'])
})

it('the sign-in of a user is kept in their folder, and no other user calls with it', async () => {
  needsPosix('its browser is a script')
  const remote = await protectedServer()
  const key = { MCP_BRIDGE_SIGN_IN_KEY: '0123456789abcdef'.repeat(4) }
  const bridge = await startHttpBridge({ servers: { r: { url: remote.url } }, env: key })
  const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
  const call = caught('await mcp_r.echo(text="hi")')
  expect(await ann!.run(call)).toContain('sandbridge login r')
  const unknown = await sandbridge(bridge, 'login', 'r', '--user', 'anne')
  expect(unknown.code).not.toBe(0)
  expect(unknown.stderr).toMatch(/There is no user 'anne'.*ann/s)
  const signIn = runCommand(
    ['login', 'r', '--user', 'ann', '--json'],
    bridgeEnv(bridge.home, { PATH: pathWithBrowser(), ...key }),
    { cwd: bridge.home },
  )
  expect(JSON.parse((await signIn).stdout)).toEqual({ server: 'r', signedIn: true })
  const kept = readFileSync(path.join(bridge.home, 'MCPs/users/ann/.sandbridge/tokens.json'), 'utf8')
  for (const token of remote.valid) expect(kept).not.toContain(token)
  expect(kept).toContain('"sealed"')
  expect(existsSync(path.join(bridge.home, 'MCPs/.sandbridge/tokens.json'))).toBe(false)
  expect(await ann!.run(call)).toBe('hi')
  expect(await ben!.run(call)).toContain('sandbridge login r')
  remote.valid.clear()
  remote.refreshTokens.clear()
  expect(await ann!.run(call)).toContain('sandbridge login r --user ann')
})

it('a sign-in that a user is offered while a cell waits is theirs alone', async () => {
  const remote = await protectedServer()
  const bridge = await startHttpBridge({ servers: { r: { url: remote.url } } })
  const [ben] = await connectAs(bridge, 'ben')
  const ann = await bridge.connect('legacy', {
    token: tokenFor(bridge, 'ann'),
    capabilities: { elicitation: { url: {} } },
    prepare: (client) =>
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        await fetch((params as { url: string }).url)
        return { action: 'accept' as const }
      }),
  })
  const call = caught('await mcp_r.echo(text="hi")')
  // Shared connections do not become hers in the middle of a cell.
  expect(await ann.run(call)).toMatch(/UPSTREAM_AUTH_REQUIRED.*signed in.*Run the cell again/s)
  expect(await ann.run(call)).toBe('hi')
  expect(await ben!.run(call)).toContain('requires authentication')
  expect(await (await bridge.connect('legacy')).run(call)).toContain('requires authentication')
  expect(existsSync(path.join(bridge.home, 'MCPs/.sandbridge/tokens.json'))).toBe(false)
})

// @module-tag whole: a command and a server for each test
// This file verifies how a registry's server becomes one of the user's: shown, tried, saved, updated and removed,
// without showing any secret.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { FakeRegistry, listed } from '@sandbridge/core/test/support/servers/fake-registry.ts'
import { runCommand, runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { needsPosix, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { jails } from '@sandbridge/core/parts'

const SECRET = 's3cret-of-the-user'
/** Why a test needs another system than Windows. */
const NPX = 'its npx is a script of a shell'
const weather = (version: string, more: object = {}) => ({
  name: 'io.example/weather',
  version,
  packages: [
    {
      registryType: 'npm',
      identifier: 'weather-mcp',
      version,
      transport: { type: 'stdio' },
      environmentVariables: [{ name: 'WEATHER_KEY', isRequired: true, isSecret: true }],
      packageArguments: [{ type: 'positional', value: '${HOME};$(touch x)' }],
      ...more,
    },
  ],
})

/** A home with an `npx` that logs its arguments and then is a real server. */
async function setUp(servers = [listed(weather('1.0.0'))]) {
  const home = makeHome()
  const registry = await FakeRegistry.start(servers)
  onTestFinished(() => registry.close())
  const bin = path.join(home, 'bin')
  mkdirSync(bin)
  // A jail hides /tmp, in which the clone may be, and shows the folder of the program.
  copyFileSync(fixtureServer('raw.mjs').args![0]!, path.join(bin, 'raw.mjs'))
  const script = `#!/bin/sh\nprintf '%s' "$LANG" > "$HOME/language"\nprintf '%s\\n' "$WEATHER_KEY" "$@" > "$HOME/started"\nexec '${process.execPath}' '${bin}/raw.mjs' good\n`
  writeFileSync(path.join(bin, 'npx'), script)
  chmodSync(path.join(bin, 'npx'), 0o755)
  const env = { PATH: `${bin}${path.delimiter}${process.env['PATH']}`, MCP_BRIDGE_REGISTRIES: registry.address }
  const run = (args: string[], more: Record<string, string> = {}) =>
    runCommand(args, bridgeEnv(home, { ...env, ...more }), { cwd: home })
  // A jailed server has its own home folder.
  const jailHomes = path.join(home, 'MCPs/.sandbridge/jail')
  const startedIn = () =>
    [home, ...(existsSync(jailHomes) ? readdirSync(jailHomes).map((name) => path.join(jailHomes, name)) : [])]
      .map((folder) => path.join(folder, 'started'))
      .filter((file) => existsSync(file))
  const started = () => readFileSync(startedIn()[0]!, 'utf8').split('\n')
  return { home, registry, env, run, started, startedIn }
}

it('sandbridge add --dry-run shows what would run, and runs nothing', async () => {
  const { run, startedIn } = await setUp()
  const { stdout, code } = await run(['add', 'weather', '--dry-run'])
  expect(code).toBe(0)
  expect(stdout).toContain('runs: npx -y weather-mcp@1.0.0 "${$}{HOME};$(touch x)"\n')
  expect(stdout).toContain('  sets: WEATHER_KEY\n')
  expect(stdout).toContain('asks for: WEATHER_KEY (secret)')
  expect(stdout).toContain('The publisher of io.example/weather has not been verified')
  expect(startedIn()).toEqual([])
})

it('a command line is shown whole with its white space where trust is asked for, or nothing is asked', async () => {
  const hidden = `${'x'.repeat(1_100)}   --upload=all`
  const server = listed(weather('1.0.0', { ...open, packageArguments: [{ type: 'positional', value: hidden }] }))
  const { bridge, messages, run } = await asking([server], { add: true })
  const { stdout } = await run(['add', 'weather', '--dry-run'])
  expect(stdout).toContain(`runs: npx -y weather-mcp@1.0.0 "${'x'.repeat(1_100)}\\u0020{3}--upload=all"\n`)
  expect(await bridge.run('await runtime.request_server("weather")')).toMatch(
    /its command line is too long for a question.*sandbridge add io\.example\/weather/s,
  )
  expect(messages).toEqual([])
})

it('sandbridge add starts a server, shows its tools and keeps it; a running bridge calls it in its next cell', async () => {
  needsPosix(NPX)
  const { run, home, env, started } = await setUp()
  const bridge = await startBridge({ home, env })
  expect(await bridge.run('mcp_servers')).toBe('mcp_servers: none')
  const { stdout, stderr, code } = await run(['add', 'weather', '--yes'], { MCP_INPUT_WEATHER_WEATHER_KEY: SECRET })
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(/It offers \d+ tools:\n {2}/)
  expect(started()).toEqual([SECRET, '-y', 'weather-mcp@1.0.0', '${HOME};$(touch x)', ''])
  const file = path.join(home, 'MCPs/added-servers.json')
  for (const text of [stdout, stderr, readFileSync(file, 'utf8')]) expect(text).not.toContain(SECRET)
  expect(statSync(file).mode & 0o077).toBe(0)
  expect(await bridge.run('await mcp_weather.echo(text="hello")')).toContain('hello')
  expect(started()[0]).toBe(SECRET)
  expect(bridge.stderr).not.toContain(SECRET)
  expect((await run(['add', 'weather', '--yes'])).stderr).toContain("There is a server 'weather' already")
})

it('sandbridge add keeps nothing when the server does not start', async () => {
  const { run, home } = await setUp([listed(weather('1.0.0', { registryType: 'pypi' }))])
  const { code, stderr } = await run(['add', 'weather', '--yes'], { MCP_INPUT_WEATHER_WEATHER_KEY: SECRET, PATH: '' })
  expect(code).toBe(2)
  expect(stderr).toContain('uvx')
  expect(existsSync(path.join(home, 'MCPs/added-servers.json'))).toBe(false)
})

it('sandbridge add updates a server with the answers it has, and removes it with its secrets', async () => {
  needsPosix(NPX)
  const { run, home, registry, started } = await setUp()
  await run(['add', 'weather', '--yes'], { MCP_INPUT_WEATHER_WEATHER_KEY: SECRET })
  expect((await run(['update', '--yes'])).stdout).toBe('weather: 1.0.0 is the newest version.\n')
  registry.servers = [listed(weather('1.1.0'), { updatedAt: '2030-01-01T00:00:00Z' })]
  rmSync(path.join(home, 'MCPs/.sandbridge/registry'), { recursive: true })
  const updated = await run(['update', '--yes'])
  expect(updated.stdout, updated.stderr).toContain('weather: 1.0.0 → 1.1.0')
  expect(updated.stdout).toContain('Its tools have not changed.')
  expect(started().slice(0, 3)).toEqual([SECRET, '-y', 'weather-mcp@1.1.0'])
  // As if the version before had offered `parrot` in place of `echo`.
  const file = path.join(home, 'MCPs/added-servers.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace('"echo":', '"parrot":'))
  registry.servers = [listed(weather('1.2.0'), { updatedAt: '2030-01-02T00:00:00Z' })]
  rmSync(path.join(home, 'MCPs/.sandbridge/registry'), { recursive: true })
  expect((await run(['update', '--yes'])).stdout).toMatch(/Its tools have changed .*:\n {2}\+ echo\n {2}- parrot\n/)
  expect((await run(['remove', 'wether'])).stderr).toContain('Did you mean weather?')
  expect((await run(['remove', 'weather', '--yes'])).stdout).toBe('Removed weather.\n')
  expect((await run(['servers', '--json'])).stdout).not.toContain('weather')
  const left = await runProgram('grep', ['-rl', SECRET, path.join(home, 'MCPs')], {})
  expect(left.stdout).toBe('')
})

it('sandbridge add adds a server from a file, and says that no registry lists it', async () => {
  needsPosix(NPX)
  const { run, home } = await setUp()
  const file = path.join(home, 'server.json')
  writeFileSync(file, JSON.stringify(weather('2.0.0')))
  const added = await run(['add', '--from', file, '--name', 'local', '--yes', '--no-jail'], {
    MCP_INPUT_LOCAL_WEATHER_KEY: SECRET,
  })
  expect(added.stdout, added.stderr).toContain('Added local')
  writeFileSync(file, '<html>')
  expect((await run(['add', '--from', file])).stderr).toContain('is not a server.json')
})

it('sandbridge add adds a server at a URL twice, for two separate accounts', async () => {
  needsPosix(NPX)
  const { run, home, registry, env } = await setUp()
  registry.instead = (_request, response, url) =>
    url.pathname === '/server.json' && !!response.end(JSON.stringify(weather('2.0.0')))
  for (const account of ['home', 'work']) {
    const added = await run(['add', '--from', `${registry.address}/server.json`, '--name', account, '--yes'], {
      [`MCP_INPUT_${account.toUpperCase()}_WEATHER_KEY`]: `${SECRET}-${account}`,
    })
    expect(added.stdout, added.stderr).toContain(`Added ${account}`)
    expect(added.stdout).toContain('The publisher of io.example/weather has not been verified')
  }
  const bridge = await startBridge({ home, env })
  const both = 'print(await mcp_home.echo(text="1"), await mcp_work.echo(text="2"))'
  expect(await bridge.run(both)).toMatch(/1.*2/)
  for (const account of ['home', 'work']) {
    const secrets = path.join(home, 'MCPs/.sandbridge/secrets')
    const { stdout } = await runProgram('grep', ['-rl', `${SECRET}-${account}`, secrets], {})
    expect(stdout.trim().split('\n')).toEqual([expect.stringContaining(`/${account}-`)])
  }
})

const open = {
  packageArguments: [],
  environmentVariables: [{ name: 'UNITS', isRequired: true, choices: ['si', 'us'] }],
}

/** A bridge whose user answers `content`, or declines. */
async function asking(
  servers: ReturnType<typeof listed>[],
  content?: Record<string, string | boolean>,
  more: Record<string, string> = {},
) {
  const made = await setUp(servers)
  // The first client of a resident, whose programs are elsewhere.
  if (more['MCP_BRIDGE_RESIDENT']) {
    const env = { ...made.env, ...more, PATH: process.env['PATH'] ?? '', LANG: 'of-the-first' }
    await (await startBridge({ home: made.home, env })).run('1')
  }
  const messages: string[] = []
  const bridge = await startBridge({
    home: made.home,
    env: { ...made.env, ...more },
    capabilities: { elicitation: { form: {} } },
    prepare: (client) =>
      client.setRequestHandler('elicitation/create', ({ params }) => {
        messages.push(params.message)
        return content ? { action: 'accept', content } : { action: 'decline' }
      }),
  })
  return { ...made, bridge, messages }
}

it('a cell asks the user for a server and calls it on the next line', async () => {
  needsPosix(NPX)
  const server = listed(weather('1.0.0', open))
  const { bridge, messages } = await asking([server], { add: true, weather_UNITS: 'si' })
  const code = `
weather = await runtime.request_server("weather")
print(await weather.echo(text="from the same cell"), mcp_servers["weather"] is weather)`
  expect(await bridge.run(code)).toContain('from the same cell True')
  expect(messages[0]).toContain("asks to add the MCP server 'io.example/weather' 1.0.0")
  expect(messages[0]).toContain('It would run: npx -y weather-mcp@1.0.0')
  expect(await bridge.run('await mcp_weather.echo(text="later")')).toContain('later')
  await bridge.run('runtime.reset()')
  expect(await bridge.run('mcp_servers')).toBe('mcp_servers: weather')
})

it('a server that a cell asks for is tried with the environment of its client, not of the first of a resident', async () => {
  needsPosix('residents of Windows have tests of their own')
  const own = { MCP_BRIDGE_RESIDENT: 'on idle=1', LANG: 'of-the-second' }
  const made = await asking([listed(weather('1.0.0', open))], { add: true, weather_UNITS: 'si' }, own)
  const folder = path.join(made.home, 'MCPs/.sandbridge/run')
  expect(readdirSync(folder).filter((name) => name.endsWith('.d'))).toHaveLength(1)
  await made.bridge.run('await runtime.request_server("weather")')
  const [started] = made.startedIn()
  expect(readFileSync(path.join(path.dirname(started!), 'language'), 'utf8')).toBe('of-the-second')
})

it('a cell that asks for servers in a loop is refused after the first no', async () => {
  const { bridge, messages, startedIn } = await asking([listed(weather('1.0.0', open))])
  const code = `
for _ in range(50):
    try:
        await runtime.request_server("io.example/weather")
    except runtime.MCPError as error:
        print(error.code, error)`
  const lines = (await bridge.run(code)).split('\n')
  expect(lines[0]).toContain('SERVER_REFUSED The server was not added: the user said no')
  expect(lines.slice(1, 50).every((line) => line.includes('is not asked again'))).toBe(true)
  expect(messages).toHaveLength(1)
  expect(startedIn()).toEqual([])
})

it('a cell learns that secrets are given in a terminal, and that there is no user to ask', async () => {
  const secret = await asking([listed(weather('1.0.0'))], { add: true })
  const wanted = await secret.bridge.run('await runtime.request_server("weather")')
  expect(wanted).toContain('it needs secrets, which can only be given in a terminal: WEATHER_KEY')
  expect(wanted).toContain('sandbridge add io.example/weather')
  expect(secret.messages).toEqual([])
  const { home, env } = await setUp([listed(weather('1.0.0', open))])
  const silent = await startBridge({ home, env })
  expect(await silent.run('await runtime.request_server("weather")')).toContain('there is no user to ask')
})

it('a package that is added runs in a jail, when it is tried and later, unless the user says otherwise', async () => {
  const jail = await jails.for('This test').then(({ findJailMaker }) => findJailMaker())
  if (typeof jail === 'string') skip(jail)
  const { run, home, startedIn, env } = await setUp([listed(weather('1.0.0', open))])
  const { stdout, stderr } = await run(['add', 'weather', '--yes'], { MCP_INPUT_WEATHER_UNITS: 'si' })
  expect(stdout, stderr).toContain('in a jail: network: the public internet; writes to its own home folder only')
  expect(startedIn()).toHaveLength(1)
  expect(startedIn()[0]).toContain('/.sandbridge/jail/')
  rmSync(startedIn()[0]!)
  const bridge = await startBridge({ home, env })
  expect(await bridge.run('await mcp_weather.echo(text="hello")')).toContain('hello')
  expect(startedIn()[0]).toContain('/.sandbridge/jail/')
  await run(['remove', 'weather', '--yes'])
  // Its home folder is removed with it.
  expect(startedIn()).toEqual([])
  await run(['add', 'weather', '--yes', '--no-jail'], { MCP_INPUT_WEATHER_UNITS: 'si' })
  expect(startedIn()).toEqual([path.join(home, 'started')])
})

// @module-tag whole: a command for each test
// This file verifies what a person sees of servers in a terminal: one server in detail, its log, lists, and no log
// lines.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { inTerminal } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const locked = { ...fixtureServer('raw.mjs', 'needs-key', '--token=s3cret-value'), env: { OTHER: 's3cret-other' } }
const LICENCE = path.join(newFolder(), 'licence')
const home = makeHome({
  good: { ...fixtureServer('raw.mjs', 'good'), description: 'Says what it is told' },
  locked,
  absent: { command: 'uvx-that-is-not-there', args: ['some-server'] },
  unset: { command: 'node', env: { KEY: '${NOT_SET_ANYWHERE}' } },
  dies: { ...fixtureServer('raw.mjs', 'dies', '1', '--token=s3cret-value'), env: { OTHER: 's3cret-other' } },
  fickle: fixtureServer('raw.mjs', 'needs-key', LICENCE),
})
const project = path.join(home, 'project')
const run = (args: string[], cwd = home) => runCommand(args, bridgeEnv(home), { cwd })
const shown = (args: string[], cwd = home) => inTerminal([process.execPath, CLI, ...args], bridgeEnv(home), { cwd })

beforeAll(async () => {
  mkdirSync(project)
  writeFileSync(path.join(project, '.mcp.json'), JSON.stringify({ mcpServers: { theirs: { command: 'theirs' } } }))
  writeFileSync(LICENCE, '')
  await run(['index'])
})

it('sandbridge servers NAME shows where a server is defined, its command, tools, instructions and cost', async () => {
  const { stdout } = await run(['servers', 'good'])
  expect(stdout).toContain(`defined in   ${path.join(home, 'MCPs/servers.json')}`)
  expect(stdout).toMatch(/^command +\S*node(?:\.exe")? .*raw\.mjs"? good$/m)
  expect(stdout).toMatch(/^state +2 tools, read just now$/m)
  expect(stdout).toMatch(/^cost +about \d+ tokens/m)
  expect(stdout).toMatch(/Instructions:\n {2}mode good/)
  expect(stdout).toMatch(/Tools:\n {2}echo +Tool echo/)
})

it('sandbridge servers NAME shows why a server failed, with the last line of its traceback and without its secrets', async () => {
  const { stdout } = await run(['servers', 'locked'])
  expect(stdout).toMatch(
    /^last failure {2}`\S*node(?:\.exe")? .*raw\.mjs"? needs-key --token=\[redacted\]` exited with code 1\. Last output: KeyError: the variable KEY is not set$/m,
  )
  expect(stdout).toContain('Last output:\n  Traceback (most recent call last):')
  expect(stdout).not.toContain('s3cret')
  const log = await run(['servers', 'locked', '--log'])
  expect(log.stdout).toMatch(/^Traceback .*\n[^]*KeyError: the variable KEY is not set\n$/)
  expect(JSON.parse((await run(['servers', 'locked', '--json'])).stdout)).toMatchObject({
    name: 'locked',
    failure: { reason: expect.stringContaining('KeyError'), log: expect.stringContaining('Traceback') },
  })
})

it.each([
  ['absent', /the command `uvx-that-is-not-there` was not found/, /Correct the command in .*servers\.json\. PATH was /],
  ['unset', /needs the environment variable NOT_SET_ANYWHERE/, /Set NOT_SET_ANYWHERE where the bridge is started/],
])('sandbridge servers NAME says what is missing and what to do: %s', async (name, why, what) => {
  const { stdout } = await run(['servers', name])
  expect(stdout).toMatch(why)
  expect(stdout).toMatch(what)
})

it('sandbridge servers NAME says what to do about a server that wrote nothing', async () => {
  const { stdout, stderr } = await run(['servers', 'good', '--log'])
  expect([stdout, stderr]).toEqual(['', "Server 'good' has not failed. List its tools with `sandbridge index good`.\n"])
})

it('a server whose entry is skipped is counted by `servers`, and its reason and file are told where it is named', async () => {
  const other = makeHome({
    good: fixtureServer('raw.mjs', 'good'),
    notes: { ...fixtureServer('raw.mjs', 'good'), permission: { deny: ['*'] } } as ReturnType<typeof fixtureServer>,
  })
  const ask = (...args: string[]) => runCommand(args, bridgeEnv(other), { cwd: other })
  const list = await ask('servers')
  expect(list.stdout).not.toContain('notes')
  expect(list.stderr).toBe('1 entry skipped: see `sandbridge servers --sources`.\n')
  for (const command of [
    ['servers', 'notes'],
    ['servers', 'notes', '--log'],
    ['index', 'notes'],
  ]) {
    const { code, stderr } = await ask(...command)
    expect(code).not.toBe(0)
    expect(stderr).toContain(
      `Server 'notes' is skipped: its entry in ${path.join(other, 'MCPs/servers.json')} has a field permission`,
    )
  }
  const { stdout } = await ask('doctor', '--json')
  expect(JSON.parse(stdout)).toMatchObject({
    skipped: [{ name: 'notes', reason: expect.stringContaining('permission') }],
  })
})

describe('a server that worked before', () => {
  it('a server that exits in the middle of a call keeps its stderr for `servers`', async () => {
    const cell = await run(['exec', '-c', 'await mcp_dies.echo(text="x")'])
    expect(cell.stderr).toContain("exited with code 9 during the call of 'echo'")
    const { stdout } = await run(['servers', 'dies'])
    expect(stdout).toMatch(/^state +2 tools/m)
    expect(stdout).toMatch(/^last error +just now: exited with code 9\. Last output: out of luck$/m)
    expect((await run(['servers', 'dies', '--log'])).stdout).toBe('out of luck\n')
    expect(JSON.parse((await run(['servers', 'dies', '--json'])).stdout)).toMatchObject({
      lastError: { reason: expect.stringContaining('exited with code 9'), log: 'out of luck' },
    })
  })

  it('a server that a call cannot start keeps its stderr for `servers`', async () => {
    rmSync(LICENCE)
    const cell = await run(['exec', '-c', 'await mcp_fickle.echo(text="x")'])
    expect(cell.stderr).toMatch(/could not be started: .* exited with code 1/)
    const { stdout } = await run(['servers', 'fickle'])
    expect(stdout).toMatch(/^last error +just now: .*KeyError: the variable KEY is not set$/m)
    expect((await run(['servers', 'fickle', '--log'])).stdout).toMatch(/^Traceback .*\n[^]*KeyError/)
  })
})

it('the error of a cell says what to do to the user at the terminal', async () => {
  const { stderr } = await run(['exec', '-c', 'await mcp_locked.echo(text="x")'])
  expect(stderr).toContain('is not set. Read its full output with `sandbridge servers locked --log`')
  expect(stderr).not.toMatch(/the user/i)
})

it('the error of a cell says to a model what to ask of the user', async () => {
  const bridge = await startBridge({ servers: { locked } })
  expect(await bridge.run('await mcp_locked.echo(text="x")')).toContain(
    'The user can read its full output with `sandbridge servers locked --log`.',
  )
})

describe('a server of a project that is not trusted', () => {
  it.each([['servers'], ['tools'], ['index']])(
    'a server of an untrusted project is named by %s with the command that trusts it',
    async (command) => {
      const { code, stderr } = await run([command, 'theirs'], project)
      expect(code).toBe(2)
      expect(stderr).toBe(
        `sandbridge: Server 'theirs' is defined by an untrusted project file: ${path.join(project, '.mcp.json')}\n` +
          'Read that file, and allow its servers with `sandbridge trust`.\n',
      )
    },
  )
})

describe('a cell that uses a server of a project that is not trusted', () => {
  it.each(['await mcp_theirs.read()', 'mcp_servers["theirs"]', 'await runtime.list_tools("theirs")'])(
    'a cell that uses a server of an untrusted project gets an error that says so: %s',
    async (code) => {
      const { stderr } = await run(['exec', '-c', code], project)
      expect(stderr).toContain(
        `Server 'theirs' is defined by an untrusted project file: ${path.join(project, '.mcp.json')}. ` +
          'Read that file, and allow its servers with `sandbridge trust`.',
      )
    },
  )

  it('a cell whose call names a server of an untrusted project does not run', async () => {
    const { code, stderr } = await run(['exec', '-s', 'theirs', '-c', '1'], project)
    expect(code).toBe(2)
    expect(stderr).toContain("Server 'theirs' is defined by an untrusted project file")
    expect(stderr).toContain('allow its servers with `sandbridge trust`')
  })
})

describe('in a terminal', () => {
  it('sandbridge servers in a terminal lists servers with a head, colours and what to do next', async () => {
    const screen = await shown(['servers'], project)
    expect(screen).toMatch(/SERVER.*STATE/)
    expect(screen).toMatch(/good +mcp_good +<32m2 tools<39m +Says what it is told/)
    expect(screen).toMatch(/<31mfailed/)
    expect(screen).toMatch(/theirs.*<33mnot trusted/)
    expect(screen).toContain('6 servers with 6 tools. 3 failed. Why: sandbridge servers locked')
    expect(screen).not.toContain('skipped')
  })

  it('sandbridge servers in a terminal counts the entries that are no servers', async () => {
    const other = makeHome()
    writeFileSync(path.join(other, 'MCPs/servers.json'), '{ "mcpServers": { "odd": { "command": 7 } } }')
    const screen = await inTerminal([process.execPath, CLI, 'servers'], bridgeEnv(other), { cwd: other })
    expect(screen).toContain('1 entry skipped: see `sandbridge servers --sources`')
  })

  it('sandbridge servers in a terminal lists the files that define servers with a head, colours and what to do next', async () => {
    const screen = await shown(['servers', '--sources'], project)
    expect(screen).toMatch(/CLIENT.* +.*SERVERS.* +.*FILE/)
    expect(screen).toMatch(/claude-code.*<33m1 server, not trusted/)
    expect(screen).toContain('2 files with 7 servers. 1 file not trusted. Allow: sandbridge trust')
    expect((await run(['servers', '--sources'], project)).stdout).not.toMatch(/CLIENT|Allow:/)
  })

  it('sandbridge index in a terminal shows a line for each server, and the whole time', async () => {
    const screen = await shown(['index', 'good', 'locked'])
    expect(screen).toContain('good    starting')
    expect(screen).toMatch(/good +<32m2 tools {2}[\d.]+ s/)
    expect(screen).toMatch(/1 server ready with 2 tools, 1 failed, in [\d.]+ s\. Why: sandbridge servers locked/)
  })

  it('a command in a terminal writes no log line unless -v asks for it', async () => {
    const quiet = await shown(['index', 'good'])
    expect(quiet).not.toMatch(/^\d{4}-\d\d-\d\dT/m)
    expect(await shown(['-v', 'index', 'good'])).toMatch(/^\d{4}-\d\d-\d\dT\S+ info A server was started/m)
    expect((await run(['index', 'good'])).stderr).toBe('')
  })

  it.each(['search', 'find'])('%s takes only a limit that it can keep to', async (command) => {
    for (const limit of ['abc', '0', '-3', '1.5', '101'])
      expect(await run([command, 'an issue', `--limit=${limit}`]), limit).toMatchObject({
        code: 2,
        stdout: '',
        stderr: 'sandbridge: --limit must be a whole number from 1 to 100\n',
      })
  })

  it('a command in a terminal says what to do where there are no servers', async () => {
    const empty = makeHome()
    for (const args of [['servers'], ['index'], ['search', 'x']]) {
      const screen = await inTerminal([process.execPath, CLI, ...args], bridgeEnv(empty), { cwd: empty })
      expect(screen).toContain('No MCP server is configured. Add entries under "mcpServers"')
    }
  })
})

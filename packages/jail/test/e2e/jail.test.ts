// @module-tag whole: a jail for each test
// This file verifies jails with the built bridge: which definitions jail their server, what a person is told, and that
// no jail outlives the bridge.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findPlaces } from '../../../core/src/util/process/find-program.ts'
import { findBubblewrapJail } from '../../src/jails/bubblewrap-jail.ts'
import { findJailMaker } from '../../src/jail-maker.ts'
import { bridgeEnv, CLI, closeTestBridge, fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { makeHome, openTestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { SLIM_IMAGE } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { until } from '@sandbridge/core/test/upstream/support.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const jail = await findBubblewrapJail()
const why = typeof jail === 'string' ? jail : undefined
const needsJail = () => void (why !== undefined && skip(why))
const intruder = (extra: Record<string, unknown> = {}) => ({ ...fixtureServer('intruder.mjs'), ...extra })
const SERVERS = {
  open: intruder({ sandbox: false }),
  plain: intruder(),
  told: intruder({ sandbox: { filesystem: { allowWrite: ['${workspaceFolder}/out'] } } }),
}
const readKey =
  "(await mcp_SERVER.run(code=\"return require('fs').readFileSync(process.env.HOME + '/.ssh/key', 'utf8')\"))"
const code = (server: string) => `print(${readKey.replace('SERVER', server)})`

function prepare(home: string): void {
  mkdirSync(path.join(home, '.ssh'))
  mkdirSync(path.join(home, 'out'))
  mkdirSync(path.join(home, '.vscode'))
  writeFileSync(path.join(home, '.ssh/key'), 'the-private-key')
  const servers = {
    of_code: { ...intruder(), sandboxEnabled: true },
    not_enabled: { ...intruder({ env: { OTHER: '1' } }), sandbox: {} },
  }
  mkdirSync(path.join(home, '.config/Code/User'), { recursive: true })
  writeFileSync(path.join(home, '.config/Code/User/mcp.json'), JSON.stringify({ servers }))
}

/** PATH with these programs. Engines of the usual folders are found as well, so others stand before them that fail. */
function pathWith(...programs: string[]): string {
  const folder = realpathSync(newFolder())
  for (const other of ['podman', 'docker'])
    if (!programs.includes(other)) writeFileSync(path.join(folder, other), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  for (const one of programs)
    symlinkSync(
      execFileSync('sh', ['-c', `command -v ${one}`])
        .toString()
        .trim(),
      path.join(folder, one),
    )
  return folder
}

/** Each one in a usual folder is tried, whatever the PATH is. */
function needsNoProgram(...names: string[]): void {
  const found = names.find((name) => findPlaces(name, '').size > 0)
  if (found) skip(`only on a machine without ${found}`)
}

const engines = await Promise.all((['podman', 'docker'] as const).map((name) => findJailMaker(SLIM_IMAGE, [name])))

describe.each(['podman', 'docker'] as const)('a server in a container of %s', (engine) => {
  const found = engines[engine === 'podman' ? 0 : 1]!
  beforeEach(() => {
    if (typeof found !== 'string') return
    if ((process.env['SANDBRIDGE_TEST_ENGINES'] ?? '').includes(engine)) throw new Error(found)
    skip(found)
  })
  const prepared = () => {
    const home = makeHome()
    const file = path.join(home, 'stubborn.py')
    copyFileSync(path.join(import.meta.dirname, '../../../core/test/fixtures/servers/stubborn.py'), file)
    const stubborn = { command: 'python3', args: [file], sandbox: { image: SLIM_IMAGE } }
    writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: { stubborn } }))
    // Podman may run as another user here.
    mkdirSync(path.join(home, 'MCPs/.sandbridge/jail'), { recursive: true })
    for (const one of [home, path.join(home, 'MCPs'), file]) chmodSync(one, 0o777)
    // Podman comes first where both exist.
    return { home, env: { TMPDIR: home, ...(engine === 'docker' && { PATH: pathWith('docker') }) } }
  }
  const open = async () => {
    const { home, env } = prepared()
    return { home, bridge: await openTestBridge({ home, env, ownProcess: true }) }
  }
  const containersOf = (pid: number): string =>
    execFileSync(engine, ['ps', '--all', '--filter', `label=sandbridge.bridge=${pid}`, '--format', '{{.Names}}'])
      .toString()
      .trim()

  it(`a server in a container of ${engine} is removed when the bridge is killed, though it does not end with its stdin`, async () => {
    const { home, bridge } = await open()
    expect(await bridge.run('await mcp_stubborn.look()')).toContain('uid')
    const { servingPid } = bridge
    expect(containersOf(servingPid)).not.toBe('')
    process.kill(servingPid, 'SIGKILL')
    await until(() => containersOf(servingPid) === '')
    await until(() => !readdirSync(home).some((name) => /^sandbridge-\w{6}$/.test(name)))
    await closeTestBridge(bridge)
  })

  it(`a server in a container of ${engine} is removed when the bridge ends`, async () => {
    const { bridge } = await open()
    expect(await bridge.run('await mcp_stubborn.look()')).toContain('uid')
    const { servingPid } = bridge
    await closeTestBridge(bridge)
    await until(() => containersOf(servingPid) === '')
  })

  it(`a server in a container of ${engine} is reported as jailed with it by \`servers\` and \`doctor\``, async () => {
    const { home, env } = prepared()
    const run = (args: string[]) => runProgram(process.execPath, [CLI, ...args], bridgeEnv(home, env), { cwd: home })
    expect((await run(['servers', 'stubborn'])).stdout).toMatch(new RegExp(`^jailed with +${engine}$`, 'm'))
    expect(JSON.parse((await run(['servers', 'stubborn', '--json'])).stdout)).toMatchObject({ jailedWith: engine })
    expect((await run(['doctor'])).stdout).toContain(`Jailed with ${engine}: stubborn.`)
  })
})

describe('a server in a jail', () => {
  beforeEach(needsJail)
  const home = makeHome(SERVERS)
  let all: Awaited<ReturnType<typeof openTestBridge>>
  beforeAll(async () => {
    if (why !== undefined) return
    all = await openTestBridge({ home, env: { MCP_BRIDGE_JAIL: 'all' }, prepareHome: prepare })
    // The first sandbox on a machine takes long.
    await all.run('1')
  })
  afterAll(() => why ?? closeTestBridge(all))

  it('every local server is jailed under MCP_BRIDGE_JAIL=all, except one that its user takes out', async () => {
    expect(await all.run(code('open'))).toContain('the-private-key')
    expect(await all.run(code('plain'))).toContain('failed: ENOENT')
    expect(await all.run(code('told'))).toContain('failed: ENOENT')
  })

  it('a jailed server does not see settings.json', async () => {
    writeFileSync(path.join(home, 'MCPs/settings.json'), '{"output": {"tokens": 6001}}')
    const read = (server: string) => all.run(code(server).replace('/.ssh/key', '/MCPs/settings.json'))
    expect(await read('open')).toContain('6001')
    expect(await read('plain')).toContain('failed: ENOENT')
  })

  it('a server is jailed when its definition asks for it, in our format and in that of VS Code', async () => {
    const some = await openTestBridge({ home })
    try {
      expect(await some.run(code('plain'))).toContain('the-private-key')
      expect(await some.run(code('not_enabled'))).toContain('the-private-key')
      expect(await some.run(code('told'))).toContain('failed: ENOENT')
      expect(await some.run(code('of_code'))).toContain('failed: ENOENT')
    } finally {
      await some.client.close()
    }
  })

  it('a jailed server is shown as such by `servers` and `doctor`', async () => {
    const run = (args: string[]) => runProgram(process.execPath, [CLI, ...args], bridgeEnv(home), { cwd: home })
    expect((await run(['servers', 'told'])).stdout).toMatch(
      /^jailed +no network; writes to \$\{workspaceFolder\}\/out$/m,
    )
    expect((await run(['servers', 'told'])).stdout).toMatch(/^jailed with +bubblewrap$/m)
    expect((await run(['servers', 'plain'])).stdout).toMatch(/^jailed +no$/m)
    const { servers } = JSON.parse((await run(['servers', '--json'])).stdout) as { servers: Record<string, unknown>[] }
    expect(servers.find(({ name }) => name === 'told')).toMatchObject({
      jailed: expect.stringContaining('no network') as string,
    })
    expect((await run(['doctor'])).stdout).toMatch(/^Jailed with bubblewrap: .*told/m)
  })

  it('a jailed server ends when the bridge is killed, and what guarded its writable folder is removed', async () => {
    const doomedHome = makeHome({ told: SERVERS.told })
    const guarded = () => readdirSync(path.join(doomedHome, 'out'))
    const doomed = await openTestBridge({ home: doomedHome, prepareHome: prepare, ownProcess: true })
    await doomed.run('await mcp_told.run(code="process.title = \'jailed-and-doomed\'")')
    const alive = () => execFileSync('sh', ['-c', 'pgrep -x jailed-and-doom || true']).toString().trim()
    await until(() => alive() !== '')
    expect(guarded()).toContain('.envrc')
    process.kill(doomed.servingPid, 'SIGKILL')
    // Waits until the jailed process is gone.
    await until(() => alive() === '')
    await until(() => guarded().length === 0)
    await closeTestBridge(doomed)
  })
})

it.each<[string, unknown, string]>([
  ['a key that no jail has', { filesystem: { allowEverything: ['/'] } }, 'sandbox.filesystem'],
  ['a text', 'yes', 'sandbox'],
  ['a network that is a text', { network: 'off' }, 'sandbox'],
])('a server whose jail settings are invalid is left out: %s', async (_, sandbox, field) => {
  const home = makeHome({ odd: intruder({ sandbox }) })
  const { stdout } = await runProgram(process.execPath, [CLI, 'servers', '--sources'], bridgeEnv(home), { cwd: home })
  expect(stdout).toContain(`odd  has a ${field} that is not understood: see docs/jail.md`)
})

describe('where bubblewrap is not installed, a server that is to be jailed', () => {
  beforeEach(needsJail)
  const run = async (args: string[], env: Record<string, string>) => {
    const home = makeHome({ told: SERVERS.told })
    mkdirSync(path.join(home, 'out'))
    const hidden = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap', '--', process.execPath, CLI]
    return runProgram('/usr/bin/bwrap', [...hidden, ...args], bridgeEnv(home, env), { cwd: home })
  }

  it('a server that is to be jailed is not started without bubblewrap and without an engine, and the user is told what to install', async () => {
    needsNoProgram('bwrap', 'podman', 'docker')
    const env = { PATH: '/nonexistent' }
    const { stdout, stderr } = await run(['index'], env)
    expect(stdout + stderr).toContain(
      'must run in a jail, and none can be made: bubblewrap is not installed; podman is not installed; docker is not installed',
    )
    const shown = await run(['servers', 'told'], env)
    expect(shown.stdout).toMatch(/^jailed with +nothing, so it does not start: bubblewrap is not installed/m)
    expect((await run(['doctor'], env)).stdout).toContain('These servers do not start: told. They cannot be jailed')
  })

  it('a server that is to be jailed runs in a container without bubblewrap, with the programs of the machine', async () => {
    needsNoProgram('bwrap')
    if (typeof engines[1] === 'string') skip(engines[1])
    const { stdout, stderr } = await run(['index'], { PATH: pathWith('docker') })
    expect(stdout + stderr).toMatch(/told.*1 tool/)
  })
})

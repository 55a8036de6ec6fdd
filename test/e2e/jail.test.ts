// This file verifies jails through the built bridge: which definitions jail their server, what a person is told of it, and that none outlives the bridge.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBubblewrapJail } from '../../src/upstream/stdio/jail/bubblewrap-jail.ts'
import { bridgeEnv, CLI, closeTestBridge, fixtureServer, makeHome, openTestBridge } from '../support/bridge-process.ts'
import { runProgram } from '../support/run-program.ts'
import { until } from '../upstream/support.ts'

const jail = await findBubblewrapJail()
const why = typeof jail === 'string' ? jail : undefined
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

describe.skipIf(why !== undefined)('a server in a jail', () => {
  const home = makeHome(SERVERS)
  let all: Awaited<ReturnType<typeof openTestBridge>>
  beforeAll(async () => {
    all = await openTestBridge({ home, env: { MCP_BRIDGE_JAIL: 'all' }, prepareHome: prepare })
    // The first sandbox of a machine takes long to make.
    await all.run('1')
  }, 120_000)
  afterAll(() => closeTestBridge(all))

  it('is what every local server is under MCP_BRIDGE_JAIL=all, but for one that its user takes out', async () => {
    expect(await all.run(code('open'))).toContain('the-private-key')
    expect(await all.run(code('plain'))).toContain('failed: ENOENT')
    expect(await all.run(code('told'))).toContain('failed: ENOENT')
  })

  it('is what a definition asks for without the setting, in our words and in those of VS Code', async () => {
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

  it('is shown by `servers` and `doctor`', async () => {
    const run = (args: string[]) => runProgram(process.execPath, [CLI, ...args], bridgeEnv(home), { cwd: home })
    expect((await run(['servers', 'told'])).stdout).toMatch(
      /^jailed +no network; writes to \$\{workspaceFolder\}\/out$/m,
    )
    expect((await run(['servers', 'plain'])).stdout).toMatch(/^jailed +no$/m)
    const { servers } = JSON.parse((await run(['servers', '--json'])).stdout) as { servers: Record<string, unknown>[] }
    expect(servers.find(({ name }) => name === 'told')).toMatchObject({
      jailed: expect.stringContaining('no network') as string,
    })
    expect((await run(['doctor'])).stdout).toMatch(/^Jailed with bubblewrap: .*told/m)
  })

  it('ends when the bridge is killed', async () => {
    const doomed = await openTestBridge({ home: makeHome({ told: SERVERS.told }), prepareHome: prepare })
    await doomed.run('await mcp_told.run(code="process.title = \'jailed-and-doomed\'")')
    const alive = () => execFileSync('sh', ['-c', 'pgrep -x jailed-and-doom || true']).toString().trim()
    await until(() => alive() !== '')
    process.kill(doomed.pid, 'SIGKILL')
    await until(() => alive() === '')
    await closeTestBridge(doomed)
  })
})

it.each<[string, unknown, string]>([
  ['a key that no jail has', { filesystem: { allowEverything: ['/'] } }, 'sandbox.filesystem'],
  ['a text', 'yes', 'sandbox'],
  ['a network that is a text', { network: 'off' }, 'sandbox'],
])('leaves a server out whose sandbox is not understood: %s', async (_, sandbox, field) => {
  const home = makeHome({ odd: intruder({ sandbox }) })
  const { stdout } = await runProgram(process.execPath, [CLI, 'servers', '--sources'], bridgeEnv(home), { cwd: home })
  expect(stdout).toContain(`odd  has a ${field} that is not understood: see docs/jail.md`)
})

it.skipIf(why !== undefined)('is not started where no jail can be made, and says what to install', async () => {
  const home = makeHome({ told: SERVERS.told })
  mkdirSync(path.join(home, 'out'))
  const withoutBubblewrap = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap', '--', process.execPath]
  const { stdout, stderr } = await runProgram('bwrap', [...withoutBubblewrap, CLI, 'index'], bridgeEnv(home), {
    cwd: home,
  })
  expect(stdout + stderr).toContain('must run in a jail, and none can be made: bubblewrap is not installed')
  const shown = await runProgram(process.execPath, [CLI, 'servers', 'told'], bridgeEnv(home), { cwd: home })
  expect(shown.stdout).toContain('apt install bubblewrap')
})

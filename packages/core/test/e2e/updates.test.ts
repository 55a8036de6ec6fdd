// @module-tag whole: each case installs a package and starts bridges
// This file verifies that a running bridge serves on when its package is updated or removed, or the cache is cleared:
// most of its code is loaded after that.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { bridgeEnv, BUILT_CLI, fixtureServer, makeHome } from '../support/bridges/bridge-process.ts'
import { needsTerminal, runInTerminal, type Step } from '../support/machine/in-terminal.ts'
import { installedPackage } from '../support/machine/installed-package.ts'
import { needsPosix } from '../support/suite/needs.ts'
import { until } from '../support/machine/processes.ts'
import { isAlive, kill, residentHome } from '../support/bridges/resident-clients.ts'

vi.setConfig({ testTimeout: 180_000 })

const COPIES = 'MCPs/.sandbridge/package-copies'
const SERVERS = { raw: fixtureServer('raw.mjs', 'good') }
const LATE = [
  ['print((await mcp_raw.echo(text="x")).text)', 'x'],
  ['print(len(await runtime.search_tool_docs("echo")) > 0)', 'True'],
  ['1 / 0', 'ZeroDivisionError'],
] as const
const AWAY = { uninstall: ({ uninstall }: Package) => uninstall(), update: ({ update }: Package) => update('99.0.0') }
type Package = ReturnType<typeof installedPackage>

it.each(Object.entries(AWAY))('a bridge without a resident serves on after an %s', async (_, change) => {
  const installed = installedPackage()
  const { connect } = residentHome(SERVERS, { MCP_BRIDGE_RESIDENT: 'off' }, installed.cli)
  const ann = await connect('ann')
  change(installed)
  for (const [code, printed] of LATE) expect(await ann.run(code)).toContain(printed)
})

it.each(Object.entries(AWAY))(
  'clients of a resident are served on after an %s, also when it is killed',
  async (_, change) => {
    needsPosix('residents of Windows have tests of their own')
    const installed = installedPackage()
    const { connect, residents } = residentHome(SERVERS, {}, installed.cli)
    const ann = await connect('ann')
    change(installed)
    for (const [code, printed] of LATE) expect(await ann.run(code)).toContain(printed)
    expect(residents()).toHaveLength(1)
    kill(residents()[0]!, 'SIGKILL')
    await until(() => !isAlive(residents()[0]!))
    for (const [code, printed] of LATE) expect(await ann.run(code)).toContain(printed)
    expect(residents()).toHaveLength(2)
  },
)

it('a result says once that another version was installed', async () => {
  const installed = installedPackage()
  const { connect } = residentHome({}, { MCP_BRIDGE_RESIDENT: 'off' }, installed.cli)
  const ann = await connect('ann')
  expect(await ann.run('print(1)')).toBe('1')
  installed.update('99.0.0')
  expect(await ann.run('print(2)')).toMatch(/^2\n.*Sandbridge 99\.0\.0 has been installed/s)
  expect(await ann.run('print(3)')).toBe('3')
})

it('a prompt goes on after its package was removed', async () => {
  needsTerminal()
  const installed = installedPackage()
  const home = makeHome(SERVERS)
  const typed = ['import time; time.sleep(5)', ...LATE.map(([code]) => code), 'exit']
  const prompt = runInTerminal(
    [process.execPath, installed.cli, 'shell'],
    bridgeEnv(home, { MCP_BRIDGE_RESIDENT: 'off' }),
    { steps: typed.map((line): Step => ['>>> ', `${line}\r`]) },
  )
  const copies = path.join(home, COPIES)
  await until(() => existsSync(copies) && readdirSync(copies).some((name) => !name.includes('.')))
  installed.uninstall()
  const { stdout } = await prompt
  for (const [, printed] of LATE) expect(stdout).toContain(printed)
})

it('the cache can be removed under a resident and its clients', async () => {
  needsPosix('residents of Windows have tests of their own')
  const { connect, home, residents } = residentHome(SERVERS, {}, BUILT_CLI)
  const ann = await connect('ann')
  rmSync(path.join(home, 'cache'), { recursive: true })
  for (const [code, printed] of LATE) expect(await ann.run(code)).toContain(printed)
  const bob = await connect('bob')
  for (const [code, printed] of LATE) expect(await bob.run(code)).toContain(printed)
  expect(residents()).toHaveLength(1)
  const [copy] = readdirSync(path.join(home, COPIES))
  expect(readFileSync(`/proc/${residents()[0]}/cmdline`, 'utf8')).toContain(copy)
})

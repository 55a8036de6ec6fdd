// @module-tag whole: it installs packages
// This file verifies `sandbridge packages`, and what a client is told of a package that is missing. The packages are
// wheels made here, so that no test needs a network.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { makeWheel } from '@sandbridge/core/test/support/servers/make-wheel.ts'
import { needsRoot } from '@sandbridge/core/test/support/suite/needs.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const folder = newFolder()
// The sandboxes of root run as another user.
chmodSync(folder, 0o755)
const env = { MCP_BRIDGE_RUNTIME: 'bubblewrap', MCP_BRIDGE_CACHE_DIR: path.join(folder, 'cache') }

function wheel(options?: Parameters<typeof makeWheel>[0]): string {
  const { fileName, data } = makeWheel(options)
  writeFileSync(path.join(folder, fileName), data)
  return path.join(folder, fileName)
}

const good = wheel()
const damaged = wheel({ name: 'damaged', record: (text) => text.replace('sha256=', 'sha256=x') })
const broken = wheel({ name: 'broken', files: { 'broken/__init__.py': '1 / 0\n' } })
/** The same ones in several tests: making an embedded sandbox with them takes five seconds of processor time. */
const SEVERAL = { MCP_BRIDGE_PACKAGES: [good, broken, damaged].join(' ') }

it('packages are added after a sandbox has imported them, listed, used and removed', async () => {
  await providerOrSkip('bubblewrap')
  const home = makeHome()
  const sandbridge = (args: string[], more = {}) =>
    runProgram(process.execPath, [CLI, ...args], bridgeEnv(home, { ...env, ...more }))
  const added = await sandbridge(['packages', 'add', good, damaged])
  expect(added).toMatchObject({ code: 1, stderr: '' })
  expect(added.stdout).toMatch(/^tinypkg +1\.0 +0\.0 MB +[\d.]+ s$/m)
  expect(added.stdout).toMatch(/^.*damaged-1\.0-py3-none-any\.whl +missing .*RECORD/m)
  const kept = path.join(home, 'MCPs', '.sandbridge', 'packages.json')
  expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual([good])
  // Every command and bridge of this user has them.
  expect((await sandbridge(['exec', '-c', 'import tinypkg\ntinypkg.ANSWER'])).stdout).toBe('42\n')
  const listed = await sandbridge(['packages', '--json'])
  expect([listed.code, JSON.parse(listed.stdout)]).toMatchObject([
    0,
    { provider: 'bubblewrap', missing: [], totalCount: 1, packages: [{ name: 'tinypkg', version: '1.0' }] },
  ])
  expect((await sandbridge(['packages', 'add', good], { MCP_BRIDGE_PACKAGES: good })).stderr).toMatch(
    /is set and replaces/,
  )
  expect((await sandbridge(['packages', 'remove', 'tinypkg'])).stdout).toMatch(/^Removed /)
  expect((await sandbridge(['exec', '-c', 'import tinypkg'])).stderr).toMatch(/tinypkg is not in this sandbox/)
})

it('a missing package stops no cell: the first result names it, and its import says why', async () => {
  await providerOrSkip('bubblewrap')
  const bridge = await startBridge({ env: { ...env, MCP_BRIDGE_PACKAGES: `${good} ${damaged}` } })
  const first = await bridge.call({ code: '1 + 1' })
  expect(JSON.stringify(first)).toMatch(/2.*configured and missing here: .*damaged-1\.0.*RECORD/)
  const second = JSON.stringify(
    await bridge.call({ code: 'import tinypkg\ntry:\n  import damaged\nfinally:\n  print(tinypkg.ANSWER)' }),
  )
  expect(second).toMatch(/42/)
  expect(second).toMatch(/damaged is not in this sandbox\. It could not be installed: .*RECORD/)
  // Once in the session.
  expect(second).not.toMatch(/configured and missing here/)
})

it.for(['bubblewrap', 'pyodide'] as const)(
  'packages are imported in a waiting sandbox of %s, also one whose import fails',
  async (engine) => {
    await providerOrSkip(engine)
    const more = { MCP_BRIDGE_RUNTIME: engine, MCP_BRIDGE_POOL: '1', MCP_BRIDGE_SESSION: 'fresh' }
    const bridge = await startBridge({ env: { ...env, ...SEVERAL, ...more } })
    // The first sandboxes may be taken before they have waited. Each result names the package that is missing.
    await expect.poll(() => bridge.run("import sys\n'tinypkg' in sys.modules"), { timeout: 60_000 }).toMatch(/^True$/m)
    expect(await bridge.run('import broken')).toMatch(/ZeroDivisionError/)
  },
)

it('the embedded sandbox has packages compiled, and their files take no room from those of cells', async () => {
  await providerOrSkip('pyodide')
  const text = 'def {{ name }}():'
  const large = wheel({
    name: 'large',
    files: {
      'large/__init__.py': 'def fail():\n    raise ValueError("here")\n',
      'large/template.py': text,
      // More than cells have for their files.
      'large/data.bin': Buffer.alloc(90 << 20),
    },
  })
  const bridge = await startBridge({
    env: { ...env, MCP_BRIDGE_RUNTIME: 'pyodide', MCP_BRIDGE_PACKAGES: large, MCP_BRIDGE_MEMORY: '1g' },
  })
  // A client that asks for progress waits, however long a busy machine takes to prepare the sandbox.
  const cell = async (code: string) => (await bridge.callTool('run_python', { code }, { onprogress: () => {} })).text
  expect(await cell('import large, os\nos.path.exists(large.__cached__), large.__cached__')).toMatch(
    /^\(True, '.*\.pyc'\)/,
  )
  // A module of the cell itself has no such file.
  expect(await cell('open("own.py", "w").close()\nimport own\nos.path.exists(own.__cached__)')).toMatch(/^False/)
  expect(await cell('import inspect\nprint(inspect.getsource(large.fail))')).toContain('raise ValueError("here")')
  // Twice, because the first file that reaches the limit makes the sandbox count again.
  expect(await cell('for n in range(2): open(f"f{n}", "wb").write(bytes(30 << 20))\n"written"')).toMatch(/^'?written/)
  expect(await cell('open("f3", "wb").write(bytes(40 << 20))')).toMatch(/No space left/)
})

it('doctor names the packages of cells, those that are missing, and how to add pandas', async () => {
  const home = makeHome()
  const doctor = async (more = {}) =>
    (
      await runProgram(
        process.execPath,
        [CLI, 'doctor'],
        bridgeEnv(home, { ...env, MCP_BRIDGE_RUNTIME: 'pyodide', ...more }),
      )
    ).stdout
  const withPackages = await doctor(SEVERAL)
  expect(withPackages).toContain(`Packages: ${good}, ${broken}, ${damaged}, from MCP_BRIDGE_PACKAGES.`)
  expect(withPackages).toMatch(/Cells cannot import .*damaged.*RECORD/)
  expect(withPackages).not.toContain('no pandas')
  // Without packages, the sandbox that all tests share is that of this cache.
  const shared = { MCP_BRIDGE_CACHE_DIR: path.join(home, 'cache') }
  expect(await doctor(shared)).toContain('Cells have no pandas. Add it: sandbridge packages add pandas matplotlib')
})

it('a cache folder that sandboxes cannot enter stops no cell', async () => {
  needsRoot('the sandboxes of other users run as the user of the cache folder')
  await providerOrSkip('bubblewrap')
  const closed = path.join(folder, 'closed')
  mkdirSync(closed, { mode: 0o700 })
  const more = { MCP_BRIDGE_CACHE_DIR: path.join(closed, 'cache'), MCP_BRIDGE_PACKAGES: good }
  const bridge = await startBridge({ env: { ...env, ...more } })
  expect(await bridge.run('1 + 1')).toMatch(/^2\n.*tinypkg.*cannot enter .*closed/s)
})

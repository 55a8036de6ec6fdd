// @module-tag whole: it starts every sandbox with folders
// This file verifies packages and folders of this machine that the user adds to a sandbox, the same for every provider
// that supports them.
import { chmodSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSettings } from '../../../core/src/config/settings/settings.ts'
import { createLog } from '../../../core/src/util/log.ts'
import { findProvider } from '../../src/choose/detect.ts'
import type { Provider } from '../../../core/src/isolation/provider.ts'
import { startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import {
  providerOrSkip,
  removeImageOf,
  runtimeEnv,
  type TestedProvider,
} from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { makeWheel } from '@sandbridge/core/test/support/servers/make-wheel.ts'
import { needsWholeRun } from '@sandbridge/core/test/support/suite/needs.ts'
import { SANDBOX_CACHE } from '@sandbridge/core/test/support/sandboxes/sandbox-cache.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

function temporaryFolder(): string {
  const folder = newFolder()
  // A sandbox may run as another user.
  chmodSync(folder, 0o755)
  return folder
}

async function provide(runtime: TestedProvider | 'auto', env: Record<string, string>): Promise<Provider> {
  const home = temporaryFolder()
  const cache = path.join(home, 'cache')
  for (const folder of [cache, SANDBOX_CACHE]) mkdirSync(folder, { recursive: true })
  symlinkSync(SANDBOX_CACHE, path.join(cache, 'pyodide'), 'junction')
  const all = { MCP_BRIDGE_CACHE_DIR: cache, ...runtimeEnv(runtime), ...env }
  const settings = readSettings(all, { home })
  const log = createLog('error', () => {})
  return (await findProvider(settings, log)).provider
}

function wheelFile(options?: Parameters<typeof makeWheel>[0]): string {
  const { fileName, data } = makeWheel(options)
  const file = path.join(temporaryFolder(), fileName)
  writeFileSync(file, data)
  return file
}

describe.each(['pyodide', 'bubblewrap', 'bubblewrap-image', 'podman', 'docker'] as const)('%s', (runtime) => {
  it('the sandbox has the configured packages, and no others', { timeout: 300_000 }, async () => {
    // The image is made as for podman; package-image.test.ts makes those of docker.
    if (runtime === 'docker') needsWholeRun()
    await providerOrSkip(runtime)
    const provider = await provide(runtime, { MCP_BRIDGE_PACKAGES: wheelFile() })
    const cells = await startCells(provider)
    expect(
      (await cells.run('import tinypkg, importlib.metadata\n(tinypkg.ANSWER, importlib.metadata.version("tinypkg"))'))
        .value,
    ).toBe("(42, '1.0')")
    expect((await cells.run('runtime.packages()["tinypkg"]')).value).toBe("'1.0'")
    // Before packages of the same name in the machine or the image.
    const order = await cells.evaluate<string[]>(
      '[place for place in __import__("sys").path if place.endswith("-packages")]',
    )
    if (runtime !== 'pyodide') {
      expect(order[0]).toBe('/opt/site-packages')
      const ask = 'import tinypkg; print(tinypkg.ANSWER)'
      const started = `import subprocess, sys
own = subprocess._args_from_interpreter_flags()  # with which multiprocessing and scikit-learn start Python
[subprocess.run([sys.executable, *options, '-c', ${JSON.stringify(ask)}], capture_output=True).stdout for options in ([], own)]`
      expect((await cells.run(started)).value).toBe("[b'42\\n', b'42\\n']")
    }
    removeImageOf(cells.kernel.sandbox)
    // It is read-only: a cell cannot plant code in it for the next session.
    await cells.run('try: open(tinypkg.__file__, "w").write("ANSWER = 0")\nexcept OSError: pass')
    expect((await (await startCells(provider)).run('import tinypkg\ntinypkg.ANSWER')).value).toBe('42')
  })
})

it.each(['pyodide', 'bubblewrap', 'bubblewrap-image'] as const)(
  'a sandbox of %s starts after the cache was deleted, with all packages',
  { timeout: 300_000 },
  async (runtime) => {
    // They unpack an image, or build a sandbox, twice. bundle.test.ts has embedded sandboxes without packages.
    if (runtime !== 'bubblewrap') needsWholeRun()
    await providerOrSkip(runtime)
    const cache = path.join(temporaryFolder(), 'cache')
    const provider = await provide(runtime, { MCP_BRIDGE_PACKAGES: wheelFile(), MCP_BRIDGE_CACHE_DIR: cache })
    const answer = async () => (await (await startCells(provider)).run('import tinypkg\ntinypkg.ANSWER')).value
    expect(await answer()).toBe('42')
    renameSync(cache, `${cache}-deleted`)
    expect(await Promise.all([answer(), answer()])).toEqual(['42', '42'])
  },
)

describe.each(['bubblewrap', 'bubblewrap-image', 'podman', 'docker'] as const)('%s', (runtime) => {
  it('a mounted folder has the name that the user gave, and is read-only without :rw', async () => {
    await providerOrSkip(runtime)
    const folder = temporaryFolder()
    chmodSync(folder, 0o777)
    writeFileSync(path.join(folder, 'notes.txt'), 'hello')
    const link = path.join(temporaryFolder(), 'Übungen 2')
    symlinkSync(folder, link)
    const file = '/mnt/Übungen 2/notes.txt'
    const readOnly = await startCells(await provide(runtime, { MCP_BRIDGE_MOUNT: link }))
    expect((await readOnly.run(`open("${file}").read()`)).value).toBe("'hello'")
    expect((await readOnly.run(`open("${file}.new", "w")`)).error?.message).toMatch(/Read-only file system/)
    expect((await readOnly.run('import os\nos.listdir("/mnt")')).value).toBe("['Übungen 2']")
    // The control: with :rw, the same cell can write.
    const writable = await startCells(await provide(runtime, { MCP_BRIDGE_MOUNT: `${link}:rw` }))
    expect((await writable.run(`open("${file}.new", "w").write("x")`)).error).toBeUndefined()
    expect(readFileSync(path.join(folder, 'notes.txt.new'), 'utf8')).toBe('x')
  })
})

it('the embedded sandbox refuses a mount, and says why wheels are missing', async () => {
  const folder = temporaryFolder()
  await expect(provide('pyodide', { MCP_BRIDGE_MOUNT: folder })).rejects.toThrow(
    /embedded sandbox does not support MCP_BRIDGE_MOUNT/,
  )
  const { fileName, data } = makeWheel({ name: 'native', tag: 'cp314-cp314-manylinux_2_28_x86_64' })
  writeFileSync(path.join(folder, fileName), data)
  const empty = temporaryFolder()
  const damaged = wheelFile({ name: 'broken', record: (text) => text.replace('sha256=', 'sha256=x') })
  const absent = path.join(empty, 'absent-1.0-py3-none-any.whl')
  // pip would run its code on this machine.
  const source = path.join(empty, 'source-1.0.tar.gz')
  writeFileSync(source, '')
  const packages = [folder, empty, absent, damaged, source, wheelFile()].join(' ')
  const provider = await provide('pyodide', { MCP_BRIDGE_PACKAGES: packages })
  const cells = await startCells(provider)
  const missing = Object.fromEntries(provider.missingPackages!.map(({ name, reason }) => [name, reason]))
  expect(missing).toEqual({
    native: expect.stringContaining('its name says another Python version or platform'),
    [path.basename(empty)]: 'it is neither a wheel nor a folder that has one',
    'source-1.0.tar.gz': 'it is neither a wheel nor a folder that has one',
    absent: expect.stringContaining('cannot be used: ENOENT'),
    broken: expect.stringContaining('RECORD'),
  })
  // The control: the good wheel is there.
  expect((await cells.run('import tinypkg\ntinypkg.ANSWER')).value).toBe('42')
})

it('a mount of the bridge’s own folders is refused, whatever the provider', async () => {
  const state = temporaryFolder()
  await expect(provide('bubblewrap', { MCP_BRIDGE_STATE_DIR: state, MCP_BRIDGE_MOUNT: state })).rejects.toThrow(
    /own files/,
  )
  await expect(provide('auto', { MCP_BRIDGE_MOUNT: '/no/such/folder' })).rejects.toThrow(/is not a folder/)
})

// This file verifies what bubblewrap passes over on the PATH: a Python that lacks what the kernel needs, a bubblewrap
// that does not work, and packages that are installed for this machine's Python.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { BubblewrapProvider } from '../../src/provider.ts'
import { findHostSystem } from '../../src/find-system.ts'
import { startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { visibleFolder } from '@sandbridge/core/test/support/machine/visible-folder.ts'

const SYSTEM_PYTHON = '/usr/bin/python3'

function firstOnPath(folder: string): void {
  vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`)
}

/** A copy of the system's Python, with a package of its own. */
function copyOfPython(): { bin: string; library: string; packages: string } {
  const folder = visibleFolder()
  const ask = 'import sys, os; print(os.path.dirname(os.__file__), os.path.basename(os.path.dirname(os.__file__)))'
  const [from = '', name = ''] = spawnSync(SYSTEM_PYTHON, ['-I', '-c', ask], { encoding: 'utf8' })
    .stdout.trim()
    .split(' ')
  const library = path.join(folder, 'lib', name)
  const isLeftOut = /\/(test|idlelib|tkinter|turtledemo|ensurepip|lib2to3|__pycache__|config-[^/]*)$/
  cpSync(from, library, { recursive: true, filter: (file) => !isLeftOut.test(file) })
  rmSync(path.join(library, 'sitecustomize.py'), { force: true })
  const bin = path.join(folder, 'bin')
  mkdirSync(bin)
  cpSync(realpathSync(SYSTEM_PYTHON), path.join(bin, 'python3'))
  const packages = path.join(folder, 'local/lib', name, 'dist-packages')
  mkdirSync(packages, { recursive: true })
  return { bin, library, packages }
}

it('a Python that lacks what the kernel needs is passed over with that reason, and the next one runs cells', async () => {
  await providerOrSkip('bubblewrap')
  const { bin, library } = copyOfPython()
  firstOnPath(bin)
  const before = await findHostSystem()
  expect(before.verdict).toContain(path.join(bin, 'python3'))
  rmSync(path.join(library, 'asyncio'), { recursive: true })
  rmSync(path.join(library, 'socket.py'))
  const { verdict, remarks } = await findHostSystem()
  expect(verdict).not.toContain(bin)
  expect(remarks).toEqual([expect.stringMatching(/\/bin\/python3: it lacks .*asyncio.*socket/)])
  const cells = await startCells(new BubblewrapProvider({ pidsCount: 128 }))
  expect((await cells.run('import asyncio, socket; 6 * 7')).value).toBe('42')
})

it('what is installed for this machine’s Python is neither seen nor run, unless the user wants it', async () => {
  await providerOrSkip('bubblewrap')
  const { bin, packages } = copyOfPython()
  writeFileSync(path.join(packages, 'of_host.py'), 'value = 42')
  writeFileSync(path.join(packages, 'noisy.pth'), "import sys; sys.stdout.write('Welcome!\\n')\n")
  firstOnPath(bin)
  const code = `
import importlib.util, subprocess, sys
subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True).stdout, importlib.util.find_spec("of_host") is not None`
  const run = async (hostPackages: boolean) => {
    const provider = new BubblewrapProvider({ pidsCount: 128, hostPackages })
    const { value, error } = await (await startCells(provider)).run(code)
    expect(error).toBeUndefined()
    return value
  }
  expect(await run(false)).toBe("('42\\n', False)")
  expect(await run(true)).toBe("('Welcome!\\n42\\n', True)")
})

it('a bubblewrap that does not work is passed over for the next one, and the verdict says so', async () => {
  await providerOrSkip('bubblewrap')
  const folder = visibleFolder()
  writeFileSync(
    path.join(folder, 'bwrap'),
    '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n',
    {
      mode: 0o755,
    },
  )
  firstOnPath(folder)
  const { found, verdict } = await findHostSystem()
  expect(found).toBeDefined()
  expect(verdict).toMatch(/^bubblewrap with \/\S+, as [^;]+; \S+\/bwrap does not work: .*uid map.*AppArmor/)
})

it.each([
  ['loopback: Failed RTM_NEWADDR: Operation not permitted', 'allow them with sysctl'],
  ["Can't mount proc on /newroot/proc: Operation not permitted", 'systempaths=unconfined'],
])('a bubblewrap that says "%s" is passed over with the remedy', async (says, remedy) => {
  await providerOrSkip('bubblewrap')
  const bin = visibleFolder()
  writeFileSync(path.join(bin, 'bwrap'), `#!/bin/sh\necho "bwrap: ${says}" >&2; exit 1\n`, { mode: 0o755 })
  firstOnPath(bin)
  expect((await findHostSystem()).verdict).toContain(remedy)
})

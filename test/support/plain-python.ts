// A kernel in a bare python3 without isolation: for tests of the kernel, and as the unprotected control in which
// attacks must succeed. A fixture, never a provider: whatever a cell does, it does to this machine.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { skip } from './needs.ts'
import { StdioProcess } from '../../src/isolation/local/stdio-process.ts'
import type { Sandbox } from '../../src/isolation/provider.ts'

const PYTHON_FOLDER = path.join(import.meta.dirname, '..', '..', 'python')

/** The interpreter to test with; SANDBRIDGE_TEST_PYTHON names another one. */
const PYTHON = process.env['SANDBRIDGE_TEST_PYTHON'] ?? 'python3'

/** The interpreter itself, behind any launcher script on the PATH, and its version. Determined once. */
let found: { executable: string; version: [number, number] } | undefined

function findPython(): typeof found {
  if (found) return found
  const code = 'import sys, json; print(json.dumps([sys.executable, *sys.version_info[:2]]))'
  const { status, stdout } = spawnSync(PYTHON, ['-c', code], { encoding: 'utf8' })
  if (status !== 0) return undefined
  const [executable, major, minor] = JSON.parse(stdout) as [string, number, number]
  return (found = { executable, version: [major, minor] })
}

function canEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch {
    return false
  }
}

let count = 0

/** Starts a kernel. The caller disposes of it. */
export function startPlainPython(): Sandbox {
  count += 1
  const { HOME } = process.env
  // A folder that may not be entered, such as one of root's, makes a missing program look like a forbidden one.
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => canEnter(folder))
  return new StdioProcess({
    id: `plain-python-${count}`,
    provider: 'bubblewrap', // the closest one: a native Python on this machine
    command: findPython()?.executable ?? PYTHON,
    // Compiled once for all tests of a run: compiling takes half of the time to start.
    args: ['-I', '-X', `pycache_prefix=${path.join(tmpdir(), 'pycache')}`, PYTHON_FOLDER, '3'],
    bell: true,
    env: { PATH: folders.join(path.delimiter), HOME, LANG: 'C.UTF-8' },
    explain: ({ signal, stderr }) => ({ reason: signal === null ? 'exited' : 'killed', detail: stderr }),
  })
}

/** Runs a Python program outside any kernel, to its end. */
export function runPython(args: string[], options: { cwd?: string } = {}) {
  return spawnSync(findPython()?.executable ?? PYTHON, args, { encoding: 'utf8', ...options })
}

/** Skips the test where kernels cannot be tested natively. */
export function needsPython(): void {
  const why = whyNoPython()
  if (why !== undefined) skip(why)
}

/** Why kernels cannot be tested natively on this machine; undefined when they can. */
export function whyNoPython(): string | undefined {
  if (process.platform !== 'linux') return 'only on Linux: the native kernel'
  const python = findPython()
  if (!python) return `there is no ${PYTHON}`
  const [major, minor] = python.version
  return major === 3 && minor >= 10 ? undefined : `${PYTHON} is Python ${major}.${minor}, the kernel needs 3.10`
}

// A kernel in a bare python3 without isolation: for tests of the kernel, as the unprotected control in which attacks
// must succeed, and for the cells of tests that are about something else. A fixture, never a provider of the product:
// whatever a cell does, it does to this machine.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { StdioProcess } from '../../../src/isolation/local/stdio-process.ts'
import type { ProviderName, Sandbox } from '../../../src/isolation/provider.ts'
import { KERNEL_FOLDER } from '../../../src/util/package-root.ts'

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

/** The interpreter's path, or its name if it cannot be started. */
export const pythonProgram = (): string => findPython()?.executable ?? PYTHON

/** Why kernels cannot be tested natively on this machine; undefined when they can. */
export function whyNoPython(): string | undefined {
  if (process.platform !== 'linux') return 'only on Linux: the native kernel'
  const python = findPython()
  if (!python) return `there is no ${PYTHON}`
  const [major, minor] = python.version
  return major === 3 && minor >= 10 ? undefined : `${PYTHON} is Python ${major}.${minor}, the kernel needs 3.10`
}

function canEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface PlainKernelOptions {
  provider: ProviderName
  /** Missing: the one to test with. */
  python?: string
  /** Missing: that of this process. */
  cwd?: string
  env?: Record<string, string | undefined>
  /** The place of its folder /projects, which is that of this machine otherwise. */
  projects?: string
  /** Most memory that it may ask for, in bytes. */
  memoryBytes?: number
}

/** Starts the program that follows with so much memory, in KiB. */
const WITH_MEMORY = 'ulimit -v "$1" && shift && exec "$@"'

/** What packages/core/python/__main__.py does, with other projects. */
const SERVE = `
import sys
sys.path.insert(0, sys.argv[1])
from sandbridge_kernel.run import projects
from sandbridge_kernel.serve import serve_pipes
projects.FOLDER = sys.argv[2]
serve_pipes(3)`

let count = 0

/** Starts a kernel. The caller disposes of it. */
export function startPlainKernel({
  provider,
  python = pythonProgram(),
  cwd,
  env,
  projects,
  memoryBytes,
}: PlainKernelOptions): Sandbox {
  count += 1
  // A folder that may not be entered, such as one of root's, makes a missing program look like a forbidden one.
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => canEnter(folder))
  // Compiled once for all tests of a run: compiling takes half of the time to start.
  const flags = ['-I', '-X', `pycache_prefix=${path.join(tmpdir(), 'pycache')}`]
  const kernel = [...flags, ...(projects === undefined ? [KERNEL_FOLDER, '3'] : ['-c', SERVE, KERNEL_FOLDER, projects])]
  const [command, ...args] =
    memoryBytes === undefined
      ? [python, ...kernel]
      : ['/bin/sh', '-c', WITH_MEMORY, 'sh', String(Math.floor(memoryBytes / 1024)), python, ...kernel]
  return new StdioProcess({
    id: `plain-python-${process.pid}-${count}`,
    provider,
    command,
    args,
    bell: true,
    ...(cwd !== undefined && { cwd }),
    env: { PATH: folders.join(path.delimiter), HOME: process.env['HOME'], LANG: 'C.UTF-8', ...env },
    explain: ({ signal, stderr }) => ({ reason: signal === null ? 'exited' : 'killed', detail: stderr }),
  })
}

// Skips tests that this machine cannot run, by name and with the reason: a skip without one fails the run. A reason
// that begins with `only on` tells CI that no installation helps.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runningTest } from './at-end.ts'
import { newFolder } from '../machine/new-folder.ts'

/** Skips the running test, or in `beforeEach` the next one. */
export function skip(reason: string): never {
  const test = runningTest()
  if (test === undefined) throw new Error(`Not in a test: ${reason}`)
  return test.skip(reason)
}

/** Needs a program that runs, which is more than to be installed. */
export function needsProgram(name: string): void {
  if (!hasProgram(name)) skip(`${name} does not run here`)
}

/** Needs a bubblewrap that may make namespaces: many systems have one that may not. */
export function needsBubblewrap(): void {
  if (!runs('bwrap', '--ro-bind', '/', '/', 'true')) skip('bubblewrap does not run here')
}

const NO_PIP = 'python3 has no pip here'
const hasPip = (): boolean => runs('python3', '-m', 'pip', '--version')

/** Needs a pip that runs, which chooses packages and installs them. */
export function needsPip(): void {
  if (!hasPip()) skip(NO_PIP)
}

/** Needs a package index that pip is configured for. */
export function needsIndex(): void {
  const why = whyNoIndex()
  if (why !== undefined) skip(why)
}

/** The same for `beforeAll`, where no test runs yet; undefined where there is one. */
export function whyNoIndex(): string | undefined {
  if (!hasPip()) return NO_PIP
  const folder = newFolder()
  const words = ['download', '--quiet', '--no-deps', '--only-binary', ':all:', '--retries', '0', '--dest', folder]
  const { status } = spawnSync('python3', ['-m', 'pip', ...words, 'tabulate'], { cwd: '/', timeout: 30_000 })
  rmSync(folder, { recursive: true, force: true })
  return status === 0 ? undefined : 'pip reaches no package index here'
}

/** For what costs much and changes seldom: CI has a short run for each change, and a whole one for each week. */
export function needsWholeRun(): void {
  if (WHY_NOT_NOW !== undefined) skip(WHY_NOT_NOW)
}

/** The same for `beforeAll`; undefined where all tests run. */
export const WHY_NOT_NOW = process.env['SANDBRIDGE_TEST_CLUSTER'] === 'short' ? 'only on a whole run of CI' : undefined

const found = new Map<string, boolean>()

function hasProgram(name: string): boolean {
  return runs(name, '--version')
}

/** Tried once for each test file. */
function runs(program: string, ...args: string[]): boolean {
  const command = [program, ...args].join(' ')
  const known = found.get(command) ?? spawnSync(program, args, { cwd: '/' }).status === 0
  found.set(command, known)
  return known
}

/** The full path of a program on the PATH. */
export function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter)
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file))
}

/** Needs a disk for temporary files on which names that differ in case are two. */
export function needsCase(): void {
  const file = path.join(newFolder(), 'case')
  writeFileSync(file, '')
  if (existsSync(file.replace(/case$/, 'CASE'))) skip('the disk for temporary files ignores case')
}

/** @param why for example `it reads /proc` */
export function needsLinux(why: string): void {
  if (process.platform !== 'linux') skip(`only on Linux: ${why}`)
}

/** @param why for example `Windows has no modes` */
export function needsPosix(why: string): void {
  if (process.platform === 'win32') skip(`only on Linux and macOS: ${why}`)
}

/** Needs symbolic links of files, which take a privilege on Windows: administrators and developers have it. */
export function needsLinks(): void {
  const folder = newFolder()
  try {
    symlinkSync('nothing', path.join(folder, 'link'))
  } catch {
    skip('this user may not make links of files')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** @param why what only root can do */
export function needsRoot(why: string): void {
  if (process.getuid?.() !== 0) skip(`it needs root: ${why}`)
}

// How bubblewrap makes a sandbox: whether it works on this machine, as which user, and with which options.
import { arch as machineArch, release } from 'node:os'
import { type CommandResult, runCommand } from '@sandbridge/core/util/process'
import { type MountedFolder, NOBODY } from '@sandbridge/core/isolation'
import { findBubblewrapPrograms } from '@sandbridge/native/find-bubblewrap.ts'
import { seccompFilter } from '@sandbridge/native/seccomp/seccomp-filter.ts'
import type { SystemFiles } from './system-files.ts'

/** How to start bubblewrap on this machine. */
export interface Bubblewrap {
  /** The program to start: bwrap, or setpriv to become an unprivileged user first. */
  command: string
  /** Arguments that precede those of bwrap. */
  before: string[]
  /** Describes the user that the sandbox runs as on this machine. */
  user: string
}

const ISOLATION = [
  '--unshare-all --unshare-user --die-with-parent --new-session --as-pid-1 --cap-drop ALL',
  `--hostname sandbox --uid ${NOBODY} --gid ${NOBODY}`,
].flatMap((words) => words.split(' '))
/** Engines also mount /proc/sys read-only: some kernels let the owner of a namespace write settings there. */
const NO_FURTHER = '--disable-userns --ro-bind /proc/sys /proc/sys'.split(' ')
/**
 * Only the devices that are needed: terminals use kernel memory that is not counted, and so does a shared mapping of
 * /dev/zero.
 */
const DEVICES = [
  '--perms 0755 --size 65536 --tmpfs /dev',
  ...['null', 'full', 'random', 'urandom'].map((name) => `--dev-bind /dev/${name} /dev/${name}`),
  ...[' ', '/0 ', '/1 ', '/2 '].map(
    (fd, at) => `--symlink /proc/self/fd${fd}/dev/${['fd', 'stdin', 'stdout', 'stderr'][at]}`,
  ),
].flatMap((words) => words.split(' '))
const SEALED = '--remount-ro /dev --remount-ro / --chdir /workspace'.split(' ')

/** Returns each bubblewrap, or a sentence that says why none can be used here. Starts nothing. */
export function findBubblewraps(): Bubblewrap[] | string {
  const found = findBubblewrapPrograms()
  if (typeof found === 'string') return found
  // Older kernels count all processes of the user for RLIMIT_NPROC, also those outside the sandbox.
  if (!isAtLeast(release(), 5, 14)) return `bubblewrap needs Linux 5.14 for its process limit; this is ${release()}`
  return found.map(({ bwrap, become }) => {
    const [command = bwrap, ...before] = become.length === 0 ? [] : [...become, '--', bwrap]
    return { command, before, user: become.length > 0 ? `as uid ${NOBODY}` : 'as this user' }
  })
}

/** The path of its program. */
export function programOf({ command, before }: Bubblewrap): string {
  return before.at(-1) ?? command
}

/** Returns the command that becomes the sandbox's user; empty if that is the current user. */
export function asSandboxUser({ command, before }: Bubblewrap): string[] {
  return before.length === 0 ? [] : [command, ...before.slice(0, -1)]
}

/** Runs the Python of a system once, with the isolation of a sandbox. */
export function runInside(
  { command, before }: Bubblewrap,
  system: SystemFiles,
  pythonArgs: readonly string[],
  input?: Buffer,
): Promise<CommandResult> {
  const { environment } = system
  const wall = bubblewrapArguments(system, { environment, seccomp: true })
  const args = [...before, ...wall, '--', system.python, ...pythonArgs]
  return runCommand(command, args, { timeoutMs: 20_000, extraInput: systemCallFilter(), ...(input && { input }) })
}

/** Returns the content of a sandbox's descriptor 3. */
export function systemCallFilter(): Buffer {
  return seccompFilter(machineArch() === 'arm64' ? 'arm64' : 'x64', false)
}

/** Returns the writable folders of a sandbox with their sizes in MiB. */
export function writableFolders(projects: boolean): [path: string, mebibytes: number][] {
  return [
    ['/dev/shm', 64],
    ['/tmp', 64],
    ['/workspace', 128],
    ...(projects ? [['/projects', 64] as [string, number]] : []),
  ]
}

/**
 * Returns the arguments of bwrap up to the command. With `seccomp`, the filter comes on descriptor 3. With `forks`,
 * they are for a process that forks sandboxes (packages/core/python/sandbox_fork_server.py): it can create namespaces,
 * and has mount points for each sandbox's own /proc and writable folders.
 */
export function bubblewrapArguments(
  { binds }: SystemFiles,
  {
    environment = {},
    seccomp = false,
    folders = [],
    projects = false,
    forks = false,
  }: {
    environment?: Readonly<Record<string, string>>
    seccomp?: boolean
    folders?: readonly MountedFolder[]
    projects?: boolean
    forks?: boolean
  },
): string[] {
  const writable = writableFolders(projects)
  return [
    ...ISOLATION,
    ...binds,
    '--proc',
    '/proc',
    ...(forks ? [] : NO_FURTHER),
    ...DEVICES,
    ...writable.flatMap(([path, mebibytes]) => (forks ? ['--dir', path] : tmpfs(path, mebibytes))),
    ...folders.flatMap(({ source, target, mode }) => [mode === 'rw' ? '--bind' : '--ro-bind', source, target]),
    ...SEALED,
    '--clearenv',
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...(seccomp ? ['--seccomp', '3'] : []),
  ]
}

function tmpfs(path: string, mebibytes: number): string[] {
  return ['--size', String(mebibytes << 20), '--perms', '1777', '--tmpfs', path]
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [, a = '0', b = '0'] = /^(\d+)\.(\d+)/.exec(version) ?? []
  return Number(a) > major || (Number(a) === major && Number(b) >= minor)
}

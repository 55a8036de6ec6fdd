// How bubblewrap makes a sandbox: whether it can be used here, as which user, and every option that it is given.
import { arch as machineArch, release } from 'node:os'
import { findPrograms } from '../../process/find-program.ts'
import { runCommand, type CommandResult } from '../../process/run-command.ts'
import type { MountedFolder } from '../mounted-folder.ts'
import { seccompFilter } from '../seccomp-filter.ts'
import type { SystemFiles } from './system-files.ts'

/** bubblewrap as it is started here. */
export interface Bubblewrap {
  /** What is started: bwrap, or setpriv that becomes an unprivileged user first. */
  command: string
  /** Arguments before those of bwrap. */
  before: string[]
  /** Who the sandbox is on this machine, in words. */
  user: string
}

const NOBODY = '65534'

const ISOLATION = [
  '--unshare-all --unshare-user --die-with-parent --new-session --as-pid-1 --cap-drop ALL',
  `--hostname sandbox --uid ${NOBODY} --gid ${NOBODY}`,
].flatMap((words) => words.split(' '))
/** /proc/sys as engines mount it: some kernels let the owner of a namespace write settings in it. */
const NO_FURTHER = '--disable-userns --ro-bind /proc/sys /proc/sys'.split(' ')
/** Only the devices that are needed: terminals use kernel memory that is not counted, and so does a shared mapping of /dev/zero. */
const DEVICES = [
  '--perms 0755 --size 65536 --tmpfs /dev',
  ...['null', 'full', 'random', 'urandom'].map((name) => `--dev-bind /dev/${name} /dev/${name}`),
  ...[' ', '/0 ', '/1 ', '/2 '].map(
    (fd, at) => `--symlink /proc/self/fd${fd}/dev/${['fd', 'stdin', 'stdout', 'stderr'][at]}`,
  ),
].flatMap((words) => words.split(' '))
const SEALED = '--remount-ro /dev --remount-ro / --chdir /workspace'.split(' ')

/** bubblewrap, or a sentence that says why it cannot be used here. Starts nothing. */
export async function findBubblewrap(): Promise<Bubblewrap | string> {
  if (process.platform !== 'linux') return 'bubblewrap runs on Linux only'
  if (machineArch() !== 'x64' && machineArch() !== 'arm64')
    return `bubblewrap is not supported on ${machineArch()}: it has no system call filter`
  // Before it, RLIMIT_NPROC counted all processes of the user, outside the sandbox as well.
  if (!isAtLeast(release(), 5, 14)) return `bubblewrap needs Linux 5.14 for its process limit; this is ${release()}`
  const [bwrap] = findPrograms('bwrap')
  if (bwrap === undefined) return 'bubblewrap is not installed'
  const asUser = await becomeUnprivileged()
  if (typeof asUser === 'string') return asUser
  const [command = bwrap, ...before] = asUser.length === 0 ? [] : [...asUser, bwrap]
  return { command, before, user: asUser.length > 0 ? `as uid ${NOBODY}` : 'as this user' }
}

/** What becomes the user that sandboxes run as; empty when that is this one. */
export function asSandboxUser({ command, before }: Bubblewrap): string[] {
  return before.length === 0 ? [] : [command, ...before.slice(0, -1)]
}

/** Run the Python of a system once, behind the walls of a sandbox. */
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

/** What a sandbox reads on descriptor 3. */
export function systemCallFilter(): Buffer {
  return seccompFilter(machineArch() === 'arm64' ? 'arm64' : 'x64', false)
}

/** Writable folders of a sandbox, and the MiB that each holds. */
export function writableFolders(projects: boolean): [path: string, mebibytes: number][] {
  return [
    ['/dev/shm', 64],
    ['/tmp', 64],
    ['/workspace', 128],
    ...(projects ? [['/projects', 64] as [string, number]] : []),
  ]
}

/**
 * Arguments of bwrap up to the command. The filter comes on descriptor 3 when `seccomp` is set. With `forks` they are for a process that makes the
 * sandboxes (python/sandbox_fork_server.py): it can make namespaces, and has places where each sandbox gets its own /proc and writable folders.
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

/** The command that becomes an unprivileged user, empty when this process is one; a reason when it cannot be done. */
async function becomeUnprivileged(): Promise<string[] | string> {
  if (process.getuid?.() !== 0) return []
  // In a user namespace made by root, "nobody" is still root to the files of this machine.
  const [setpriv] = findPrograms('setpriv')
  if (setpriv === undefined)
    return 'bubblewrap must not run as root, and setpriv, which changes the user, is not installed'
  return [setpriv, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs', '--']
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [, a = '0', b = '0'] = /^(\d+)\.(\d+)/.exec(version) ?? []
  return Number(a) > major || (Number(a) === major && Number(b) >= minor)
}

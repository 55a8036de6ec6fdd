// Finds out whether bubblewrap can make sandboxes here, by making one, and puts the answer in words.
import { arch as machineArch, release } from 'node:os'
import { findPrograms } from '../../process/find-program.ts'
import { runCommand } from '../../process/run-command.ts'
import type { MountedFolder } from '../mounted-folder.ts'
import { findHostPythons } from './host-python.ts'
import type { HostPython } from './host-python.ts'

export interface Bubblewrap {
  /** What is started: bwrap, or setpriv that becomes an unprivileged user first. */
  command: string
  /** Arguments before those of bwrap. */
  before: string[]
  python: HostPython
}

export interface BubblewrapProbe {
  /** Missing when bubblewrap cannot be used. */
  bubblewrap?: Bubblewrap
  /** One sentence: what was found, or what is wrong and what to do. */
  verdict: string
}

const NOBODY = '65534'

const ISOLATION = [
  '--unshare-all --unshare-user --disable-userns --die-with-parent --new-session --as-pid-1 --cap-drop ALL',
  `--hostname sandbox --uid ${NOBODY} --gid ${NOBODY} --ro-bind /usr /usr`,
].flatMap((words) => words.split(' '))
/**
 * /proc/sys as engines mount it: some kernels let the owner of a namespace write settings in it. Of /dev no more than is needed: terminals are
 * memory of the kernel that nobody counts, and so is /dev/zero, mapped to be shared.
 */
const SYSTEM = [
  '--proc /proc --ro-bind /proc/sys /proc/sys --perms 0755 --size 65536 --tmpfs /dev',
  ...['null', 'full', 'random', 'urandom'].map((name) => `--dev-bind /dev/${name} /dev/${name}`),
  ...[' ', '/0 ', '/1 ', '/2 '].map(
    (fd, at) => `--symlink /proc/self/fd${fd}/dev/${['fd', 'stdin', 'stdout', 'stderr'][at]}`,
  ),
].flatMap((words) => words.split(' '))
const SEALED = '--remount-ro /dev --remount-ro / --chdir /workspace'.split(' ')

/** Probe bubblewrap. Starts a few processes that end at once; changes nothing. */
export async function probeBubblewrap(): Promise<BubblewrapProbe> {
  if (process.platform !== 'linux') return { verdict: 'bubblewrap runs on Linux only' }
  if (machineArch() !== 'x64' && machineArch() !== 'arm64') {
    return { verdict: `bubblewrap is not supported on ${machineArch()}: it has no system call filter` }
  }
  // Before it, RLIMIT_NPROC counted all processes of the user, outside the sandbox as well.
  if (!isAtLeast(release(), 5, 14))
    return { verdict: `bubblewrap needs Linux 5.14 for its process limit; this is ${release()}` }
  const [bwrap] = await findPrograms('bwrap')
  if (bwrap === undefined) return { verdict: 'bubblewrap is not installed' }
  const asUser = await becomeUnprivileged()
  if (typeof asUser === 'string') return { verdict: asUser }
  const { pythons, reasons } = await findHostPythons(asUser)
  if (pythons.length === 0) return { verdict: `bubblewrap has no usable Python: ${reasons.join('; ')}` }
  const [command = bwrap, ...before] = asUser.length === 0 ? [] : [...asUser, bwrap]
  const failures: string[] = []
  for (const python of pythons) {
    const bubblewrap = { command, before, python }
    const program = ['--', python.executable, '-I', '-c', 'print("through")']
    const args = [...before, ...bubblewrapArguments(bubblewrap, {}), ...program]
    const { stdout, stderr } = await runCommand(command, args, { timeoutMs: 10_000 })
    const user = asUser.length > 0 ? `as uid ${NOBODY}` : 'as this user'
    if (stdout === 'through') return { bubblewrap, verdict: `bubblewrap with ${python.executable}, ${user}` }
    failures.push(`${python.executable}: ${stderr || 'no output'}`)
  }
  return { verdict: `bubblewrap does not work here: ${failures.join('; ')}` }
}

/** Arguments of bwrap up to the command. The filter comes on descriptor 3 when `seccomp` is set. */
export function bubblewrapArguments(
  { python }: Pick<Bubblewrap, 'python'>,
  {
    environment = {},
    seccomp = false,
    folders = [],
    projects = false,
  }: {
    environment?: Record<string, string>
    seccomp?: boolean
    folders?: readonly MountedFolder[]
    projects?: boolean
  },
): string[] {
  return [
    ...ISOLATION,
    // Links into /usr on merged systems, folders of their own on others.
    ...['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap((folder) => bindIfThere(folder)),
    ...python.folders.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...python.links.flatMap(([link, target]) => ['--symlink', target, link]),
    // Which of several installed libraries is meant, and where they are. Nothing else of /etc.
    ...['/etc/alternatives', '/etc/ld.so.cache', '/etc/localtime'].flatMap((file) => bindIfThere(file)),
    ...SYSTEM,
    ...tmpfs('/dev/shm', 64),
    ...tmpfs('/tmp', 64),
    ...tmpfs('/workspace', 128),
    ...(projects ? tmpfs('/projects', 64) : []),
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

function bindIfThere(path: string): string[] {
  return ['--ro-bind-try', path, path]
}

/** The command that becomes an unprivileged user, empty when this process is one; a reason when it cannot be done. */
async function becomeUnprivileged(): Promise<string[] | string> {
  if (process.getuid?.() !== 0) return []
  // In a user namespace made by root, "nobody" is still root to the files of this machine.
  const [setpriv] = await findPrograms('setpriv')
  if (setpriv === undefined)
    return 'bubblewrap must not run as root, and setpriv, which changes the user, is not installed'
  return [setpriv, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs', '--']
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [, a = '0', b = '0'] = /^(\d+)\.(\d+)/.exec(version) ?? []
  return Number(a) > major || (Number(a) === major && Number(b) >= minor)
}

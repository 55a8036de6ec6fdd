// A jail made with bubblewrap: its own namespaces, a read-only root, and otherwise only what the view shows.
// Started by root, the server becomes an unprivileged user inside: root needs no user namespace for mounts.
import { arch } from 'node:os'
import path from 'node:path'
import { type BubblewrapPrograms, findBubblewrapPrograms } from '@sandbridge/native/find-bubblewrap.ts'
import { refusingFilter } from '@sandbridge/native/seccomp/seccomp-filter.ts'
import { runCommand } from '@sandbridge/core/util/process'
import { rootFolders } from '../places/host-root.ts'
import { REFUSED_SYSCALLS, RULED_SERVER_SYSCALLS } from './server-syscalls.ts'
import { HIDDEN_ROOTS, type Mount } from '../places/view.ts'

/** The user id of servers started by root. */
export const UNPRIVILEGED_UID = 65_534

export interface BubblewrapJail {
  bwrap: string
  /** Command prefix that becomes an unprivileged user inside; empty when this process is unprivileged. */
  become: string[]
}

export interface JailMounts {
  home: { source: string; target: string }
  proxySocket: string | undefined
  /** Mounts beside the root, in order. */
  mounts: readonly Mount[]
}

/** The path of the proxy's socket inside the jail. */
export const INNER_SOCKET = '/run/sandbridge/proxy.sock'
/** Exceptions in hidden folders: files that DNS and package managers of some systems need, without secrets. */
export const SHOWN_AGAIN = ['/var/lib/ca-certificates', '/run/current-system', '/run/systemd/resolve/stub-resolv.conf']

let found: Promise<BubblewrapJail | string> | undefined

/** The jail-maker of this machine, or why there is none; probed once. Starts a short-lived process. */
export function findBubblewrapJail(): Promise<BubblewrapJail | string> {
  return (found ??= probe())
}

async function probe(): Promise<BubblewrapJail | string> {
  const programs = findBubblewrapPrograms()
  if (typeof programs === 'string') return programs
  const failures: string[] = []
  for (const one of programs) {
    const jail = await tryOut(one)
    if (typeof jail !== 'string') return jail
    failures.push(jail)
  }
  return failures[0]!
}

async function tryOut({ bwrap, become }: BubblewrapPrograms): Promise<BubblewrapJail | string> {
  const isRoot = become.length > 0
  const jail = { bwrap, become: isRoot ? [...become, '--inh-caps=-all', '--bounding-set=-all', '--'] : [] }
  const home = { source: '/usr', target: '/home/nobody' }
  const args = await bubblewrapArguments(
    jail,
    { home, proxySocket: undefined, mounts: [] },
    { network: false, cwd: '/' },
  )
  const { stdout, stderr } = await runCommand(bwrap, [...args, '--', ...jail.become, '/bin/sh', '-c', 'echo through'])
  return stdout === 'through' ? jail : `bubblewrap does not work here: ${stderr || 'it said nothing'}`
}

/** Arguments of bwrap up to the command. With `filtered`, the system call filter is passed on descriptor 3. */
export async function bubblewrapArguments(
  { become }: BubblewrapJail,
  { home, proxySocket, mounts }: JailMounts,
  { network, cwd, filtered = false }: { network: boolean; cwd: string; filtered?: boolean },
): Promise<string[]> {
  const isRoot = become.length > 0
  const made = new Set<string>()
  // bwrap creates parent folders of a mount that other users cannot enter, and a server of root is another user.
  const wayTo = (target: string): string[] => (isRoot ? ancestorsOf(target, made) : [])
  const hides = mounts.filter(({ kind }) => kind === 'hide-folder').map(({ target }) => target)
  return [
    ...'--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --die-with-parent'.split(' '),
    ...(isRoot ? [] : ['--unshare-user', '--disable-userns']),
    ...(network ? [] : ['--unshare-net']),
    ...(await rootArguments()),
    ...'--proc /proc --ro-bind /proc/sys /proc/sys --dev /dev'.split(' '),
    ...['/tmp', '/var', '/run'].flatMap((folder) => ['--perms', '1777', '--tmpfs', folder]),
    ...'--perms 1777 --dir /var/tmp'.split(' '),
    ...SHOWN_AGAIN.flatMap((place) => ['--ro-bind-try', place, place]),
    ...wayTo(home.target),
    '--bind',
    home.source,
    home.target,
    ...mounts.flatMap((mount) => [...wayTo(mount.target), ...argumentsOf(mount)]),
    ...(proxySocket === undefined ? [] : [...wayTo(INNER_SOCKET), '--ro-bind', proxySocket, INNER_SOCKET]),
    ...['/', '/run', ...hides].flatMap((folder) => ['--remount-ro', folder]),
    '--chdir',
    cwd,
    ...(filtered ? ['--seccomp', '3'] : []),
  ]
}

/** The filter program for `--seccomp`. */
export function serverFilter(): Buffer {
  const rules = { refused: REFUSED_SYSCALLS, ruled: RULED_SERVER_SYSCALLS }
  return refusingFilter(arch() === 'arm64' ? 'arm64' : 'x64', rules)
}

/** All root folders except the hidden ones: links as they are, the others read-only. */
async function rootArguments(): Promise<string[]> {
  const { folders, links } = await rootFolders()
  return [
    ...links.flatMap(([file, target]) => ['--symlink', target, file]),
    ...folders.flatMap((folder) => ['--ro-bind', folder, folder]),
  ]
}

/** The parent folders of a target that bwrap must create, each once. */
function ancestorsOf(target: string, made: Set<string>): string[] {
  const [, first = '', ...rest] = target.split('/')
  if (!HIDDEN_ROOTS.has(first)) return []
  const folders = rest.map((_, index) => path.join('/', first, ...rest.slice(0, index))).filter((one) => !made.has(one))
  for (const one of folders) made.add(one)
  return folders.flatMap((folder) => ['--perms', '0755', '--dir', folder])
}

function argumentsOf({ kind, source, target }: Mount): string[] {
  if (kind === 'hide-folder') return ['--perms', '0555', '--tmpfs', target]
  if (kind === 'hide-file') return ['--ro-bind', '/dev/null', target]
  return [kind === 'write' ? '--bind' : '--ro-bind', source, target]
}

// Selects the read-only files of a sandbox's system: what its Python needs of this machine's, or those of an image.
import type { Dirent } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import type { HostPython } from './host-python.ts'

export interface SystemFiles {
  /** Identifies its Python. */
  id: string
  /** Arguments of bwrap that mount the files. */
  binds: readonly string[]
  /** The Python to start, by its name inside. */
  python: string
  environment: Readonly<Record<string, string>>
}

/**
 * Returns the part of this machine's system that this Python needs.
 * @param hostPackages whether cells see the packages that are installed for it, and what those do at Python's start
 */
export function hostFiles({ executable, folders, packages, links }: HostPython, hostPackages: boolean): SystemFiles {
  const binds = [
    '--ro-bind',
    '/usr',
    '/usr',
    // Links into /usr on merged systems, separate folders on others.
    ...['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap((folder) => bindIfThere(folder)),
    ...folders.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...links.flatMap(([link, target]) => ['--symlink', target, link]),
    ...(hostPackages ? [] : packages.flatMap((place) => ['--size', '4096', '--tmpfs', place, '--remount-ro', place])),
    // Which of several installed libraries to use, where they and the fonts are. Nothing else of /etc.
    ...['/etc/alternatives', '/etc/ld.so.cache', '/etc/localtime', '/etc/fonts'].flatMap((file) => bindIfThere(file)),
  ]
  return { id: executable, binds, python: executable, environment: { PATH: '/usr/local/bin:/usr/bin:/bin' } }
}

/** Folders that the sandbox provides itself, whatever an image contains there. */
const OWN_PLACES = ['/proc', '/dev', '/sys', '/run', '/tmp', '/workspace', '/projects']
/** PATH that engines set if the image sets none. */
const IMAGE_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Returns the system of an image.
 * @param targets mount points of this machine's folders; they replace what the image has there
 */
export async function imageFiles(
  image: { id: string; folder: string; environment: readonly string[] },
  targets: readonly string[],
): Promise<SystemFiles> {
  const binds = await bindsOf(image.folder, '', [...OWN_PLACES, ...targets])
  const entries = image.environment.flatMap((line): [string, string][] => {
    const [, name, value] = /^([A-Za-z_]\w*)=([^\0]*)$/s.exec(line) ?? []
    return name === undefined ? [] : [[name, value!]]
  })
  return { id: image.id, binds, python: 'python3', environment: { PATH: IMAGE_PATH, ...Object.fromEntries(entries) } }
}

/**
 * Mounts entry by entry: the root itself belongs to the sandbox, which creates mount points in it. bwrap would follow a
 * link to a file of this machine, so links are created anew to resolve inside the sandbox. No link is created on the
 * path to a mount point of ours.
 */
async function bindsOf(root: string, folder: string, own: readonly string[]): Promise<string[]> {
  const entries = await readdir(`${root}${folder}`, { withFileTypes: true })
  const parts = await Promise.all(entries.map((entry) => bindsOfEntry(root, folder, entry, own)))
  return parts.flat()
}

async function bindsOfEntry(root: string, folder: string, entry: Dirent, own: readonly string[]): Promise<string[]> {
  const place = `${folder}/${entry.name}`
  const isAboveOurs = own.some((one) => one.startsWith(`${place}/`))
  if (own.includes(place)) return []
  if (entry.isDirectory()) return isAboveOurs ? bindsOf(root, place, own) : ['--ro-bind', `${root}${place}`, place]
  if (entry.isFile()) return isAboveOurs ? [] : ['--ro-bind', `${root}${place}`, place]
  if (entry.isSymbolicLink() && !isAboveOurs) return ['--symlink', await readlink(`${root}${place}`), place]
  return []
}

function bindIfThere(path: string): string[] {
  return ['--ro-bind-try', path, path]
}

// What a sandbox has for a system: the files of this machine that its Python needs, or those of an image. Both read-only.
import type { Dirent } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import type { HostPython } from './host-python.ts'

export interface SystemFiles {
  /** Tells its Python from every other one. */
  id: string
  /** Arguments of bwrap that put the files into the sandbox. */
  binds: readonly string[]
  /** The Python to start, as it is called inside. */
  python: string
  environment: Readonly<Record<string, string>>
}

/** The system of this machine, as little of it as this Python needs. */
export function hostFiles({ executable, folders, links }: HostPython): SystemFiles {
  const binds = [
    '--ro-bind',
    '/usr',
    '/usr',
    // Links into /usr on merged systems, folders of their own on others.
    ...['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap((folder) => bindIfThere(folder)),
    ...folders.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...links.flatMap(([link, target]) => ['--symlink', target, link]),
    // Which of several installed libraries is meant, and where they are. Nothing else of /etc.
    ...['/etc/alternatives', '/etc/ld.so.cache', '/etc/localtime'].flatMap((file) => bindIfThere(file)),
  ]
  return { id: executable, binds, python: executable, environment: { PATH: '/usr/local/bin:/usr/bin:/bin' } }
}

/** What the sandbox has of its own, whatever an image has there. */
const OWN_PLACES = ['/proc', '/dev', '/sys', '/run', '/tmp', '/workspace', '/projects']
/** What engines set when the image does not. */
const IMAGE_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * The system of an image.
 * @param targets where folders of this machine are mounted: the place of each is made beside what the image has
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
 * Entry by entry: the root itself belongs to the sandbox, which makes places in it. bwrap follows links in what it binds, to files of this machine, so
 * a link is made anew, to lead where it leads inside; and none is made on the way to what is ours.
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

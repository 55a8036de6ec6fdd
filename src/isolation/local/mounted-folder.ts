// Decides whether cells may get a folder of this machine, and chooses its path in the sandbox.
import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '../../errors.ts'

/** A folder of this machine, and its path in the sandbox. */
export interface MountedFolder {
  source: string
  target: string
  mode: 'ro' | 'rw'
}

/**
 * @param own the bridge's own folders: write access there decides which programs the bridge starts, and read access
 * reveals credentials
 * @throws BridgeError CONFIG_INVALID if it is not a folder, contains a folder of the bridge, or is inside one
 */
export async function resolveMount(
  mount: { path: string; mode: 'ro' | 'rw' },
  own: readonly string[],
): Promise<MountedFolder> {
  const source = await realpath(mount.path).catch(() => mount.path)
  if (!(await stat(source).catch(() => undefined))?.isDirectory()) throw refused(`${mount.path} is not a folder`)
  for (const folder of own) {
    const real = await realpath(folder).catch(() => path.resolve(folder))
    if (isInside(source, real) || isInside(real, source))
      throw refused(`${mount.path} would expose the bridge's own files in ${folder}`)
  }
  const name = path.basename(source)
  // Engines separate the parts of a mount with commas. Models must be able to type the name.
  if (!/^[\w.\- ]+$/.test(name) || /[,"\n]/.test(source))
    throw refused(`${mount.path} has a character that cannot be mounted`)
  return { source, target: `/mnt/${name}`, mode: mount.mode }
}

function isInside(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner)
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
}

function refused(reason: string): BridgeError {
  return new BridgeError('CONFIG_INVALID', `MCP_BRIDGE_MOUNT: ${reason}`, {
    hint: 'Use a folder that holds only files for cells.',
  })
}

// Decides whether cells may get a folder of this machine, and chooses its path in the sandbox.
import { realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { MountedFolder } from '@sandbridge/core/isolation'
import { isInside } from '@sandbridge/core/util/files'

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
  // The name that the user wrote, as in docs and the tool's description: the folder behind a link may have another.
  const name = path.basename(path.resolve(mount.path))
  if (name === '') throw refused(`${mount.path} has no name, which the sandbox needs`, 'Use a folder in it.')
  // Models must be able to type the name.
  const odd = /[^\p{L}\p{M}\p{N}_.\- ]/u.exec(name)?.[0]
  if (odd !== undefined)
    throw refused(
      `the name of ${mount.path} contains ${JSON.stringify(odd)}`,
      `${ALLOWED}. Mount a symbolic link with such a name to it.`,
    )
  // Engines separate the parts of a mount with commas.
  const apart = /[,"\n]/.exec(source)?.[0]
  if (apart !== undefined)
    throw refused(
      `the path of ${source} contains ${JSON.stringify(apart)}, which cannot be mounted`,
      'Rename the folder, or use another.',
    )
  return { source, target: `/mnt/${name}`, mode: mount.mode }
}

const ALLOWED = 'A name may contain letters, digits, spaces and . _ -'

function refused(reason: string, hint = 'Use a folder that holds only files for cells.'): BridgeError {
  return new BridgeError('CONFIG_INVALID', `MCP_BRIDGE_MOUNT: ${reason}`, { hint })
}

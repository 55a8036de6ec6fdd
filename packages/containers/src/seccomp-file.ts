// Writes the files from which engines read our seccomp profiles, in a folder that only this user can change. Removed
// when the bridge ends; the next bridge removes what a killed one left.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { noTemporaryFiles } from '@sandbridge/core/isolation'
import type { EngineName } from '@sandbridge/core/parts'
import { findPrograms, realpathOr } from '@sandbridge/core/util/process'
import { isLeftover, newContainerName } from './owner.ts'
import { seccompProfile } from './seccomp-profile.ts'

const files = new Map<string, string>()

/**
 * Returns the path of the profile for engines that count a container's memory, or for those that do not. Writes the
 * file if it is missing, also after a cleanup tool removed it.
 * @throws BridgeError CONFIG_INVALID if there is no temporary folder
 */
export function seccompProfileFile(countedMemory: boolean, command: EngineName = 'podman'): string {
  const name = countedMemory ? 'seccomp.json' : 'seccomp-uncounted.json'
  return profileFile(name, () => seccompProfile(countedMemory), command)
}

/** Where an engine reads what the bridge writes for it. */
export const folderFor = (command: EngineName): string => visibleFolder(findPrograms(command)[0])

/**
 * A folder that the engine's program sees, with all links resolved: one of snap has a /tmp of its own, and so has the
 * virtual machine of an engine on macOS, which sees the home folder.
 * @param program its path
 */
export function visibleFolder(program = '', home = homedir(), platform = process.platform): string {
  const common = path.join(home, 'snap', path.basename(program), 'common')
  if (program.startsWith('/snap/') && existsSync(common)) return common
  if (platform !== 'darwin') return realpathOr(tmpdir())
  const caches = path.join(home, 'Library', 'Caches', 'sandbridge')
  try {
    mkdirSync(caches, { recursive: true })
    return realpathOr(caches)
  } catch {
    return realpathOr(tmpdir())
  }
}

/** The same for another profile, by its file name. @throws BridgeError CONFIG_INVALID */
export function profileFile(name: string, profile: () => string, command: EngineName): string {
  const parent = folderFor(command)
  const key = path.join(parent, name)
  const known = files.get(key)
  if (known !== undefined && existsSync(known)) return known
  try {
    removeLeftoverFolders(parent)
    const file = path.join(makeFolder(parent), name)
    writeFileSync(file, profile())
    // Podman may run as another user.
    chmodSync(file, 0o444)
    files.set(key, file)
    return file
  } catch (error) {
    throw noTemporaryFiles(error)
  }
}

function makeFolder(parent: string): string {
  const folder = path.join(parent, newContainerName())
  // Fails if the folder exists: another user may have created it.
  mkdirSync(folder, { mode: 0o700 })
  chmodSync(folder, 0o755)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function removeLeftoverFolders(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!isLeftover(name)) continue
    try {
      rmSync(path.join(parent, name), { recursive: true, force: true })
    } catch {
      // Belongs to another user.
    }
  }
}

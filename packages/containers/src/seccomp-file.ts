// Writes the files from which engines read our seccomp profiles, in a folder that only this user can change. Removed
// when the bridge ends; the next bridge removes what a killed one left.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { noTemporaryFiles } from '@sandbridge/core/isolation/local/temporary-folder.ts'
import { isLeftover, newContainerName } from './owner.ts'
import { seccompProfile } from './seccomp-profile.ts'

const files = new Map<string, string>()

/**
 * Returns the path of the profile for engines that count a container's memory, or for those that do not. Writes the
 * file if it is missing, also after a cleanup tool removed it.
 * @throws BridgeError CONFIG_INVALID if there is no temporary folder
 */
export function seccompProfileFile(countedMemory: boolean): string {
  return profileFile(countedMemory ? 'seccomp.json' : 'seccomp-uncounted.json', () => seccompProfile(countedMemory))
}

/** The same for another profile, by its file name. @throws BridgeError CONFIG_INVALID */
export function profileFile(name: string, profile: () => string): string {
  const known = files.get(name)
  if (known !== undefined && existsSync(known)) return known
  try {
    removeLeftoverFolders()
    const file = path.join(makeFolder(), name)
    writeFileSync(file, profile())
    // Podman may run as another user.
    chmodSync(file, 0o444)
    files.set(name, file)
    return file
  } catch (error) {
    throw noTemporaryFiles(error)
  }
}

function makeFolder(): string {
  const folder = path.join(tmpdir(), newContainerName())
  // Fails if the folder exists: another user may have created it.
  mkdirSync(folder, { mode: 0o700 })
  chmodSync(folder, 0o755)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function removeLeftoverFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!isLeftover(name)) continue
    try {
      rmSync(path.join(tmpdir(), name), { recursive: true, force: true })
    } catch {
      // Belongs to another user.
    }
  }
}

// The files in which engines read our seccomp profile: each in a folder that only this user can change. It goes when the bridge
// ends; what a killed bridge has left is removed by the next one.
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { noTemporaryFiles } from '../temporary-folder.ts'
import { isLeftover, newContainerName } from './owner.ts'
import { seccompProfile } from './seccomp-profile.ts'

const files = new Map<string, string>()

/**
 * The path of the file for engines that count a container's memory, or do not. It is written when it is not there, which is also so when something
 * that tidies up has removed it.
 * @throws BridgeError CONFIG_INVALID when there is no folder for temporary files
 */
export function seccompProfileFile(countedMemory: boolean): string {
  return profileFile(countedMemory ? 'seccomp.json' : 'seccomp-uncounted.json', () => seccompProfile(countedMemory))
}

/** The same for another profile, by the name of its file. @throws BridgeError CONFIG_INVALID */
export function profileFile(name: string, profile: () => string): string {
  const known = files.get(name)
  if (known !== undefined && existsSync(known)) return known
  try {
    removeLeftoverFolders()
    const file = path.join(makeFolder(), name)
    writeFileSync(file, profile())
    // Podman may run as another user than the bridge.
    chmodSync(file, 0o444)
    files.set(name, file)
    return file
  } catch (error) {
    throw noTemporaryFiles(error)
  }
}

function makeFolder(): string {
  const folder = path.join(tmpdir(), newContainerName())
  // Fails for a folder that exists: another user may have made it.
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
      // Another user's.
    }
  }
}

// Makes a folder that only its owner can look into. The folders above it, where they have to be made, are the usual ones: a cache also holds what
// sandboxes of another user must be able to reach.
import { mkdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'

/** @throws what node:fs throws */
export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true, mode: 0o755 })
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

/** The same, at once. @throws what node:fs throws */
export function makePrivateFolderSync(folder: string): void {
  mkdirSync(path.dirname(folder), { recursive: true, mode: 0o755 })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}

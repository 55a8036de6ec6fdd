// Replaces a file atomically: writes a temporary file beside it and renames that. Readers and crashes see the old
// content or the new.
import { randomUUID } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { chmod, rename, rm, writeFile } from 'node:fs/promises'

/**
 * Private to its owner unless `mode` says otherwise. The folder must exist.
 * @throws what node:fs throws; the file is then unchanged
 */
export async function replaceFile(file: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    await writeFile(temporary, content, { mode: 0o600 })
    if (mode !== 0o600) await chmod(temporary, mode)
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}

/** Synchronous version of `replaceFile`. @throws what node:fs throws */
export function replaceFileSync(file: string, content: string | Uint8Array): void {
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, file)
  } catch (error) {
    try {
      rmSync(temporary, { force: true })
    } catch {
      // The temporary file was never created, since its parent is not a folder. Throw the earlier error.
    }
    throw error
  }
}

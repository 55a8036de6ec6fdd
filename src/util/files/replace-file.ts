// Replaces a file atomically: writes a temporary file beside it and renames that. Readers and crashes see the old
// content or the new.
import { promises, renameSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Private to its owner unless `mode` says otherwise. The folder must exist.
 * @throws what node:fs throws; the file is then unchanged
 */
export async function replaceFile(file: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const temporary = `${file}.${crypto.randomUUID()}.tmp`
  try {
    await promises.writeFile(temporary, content, { mode: 0o600 })
    if (mode !== 0o600) await promises.chmod(temporary, mode)
    await promises.rename(temporary, file)
  } catch (error) {
    await promises.rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}

/** Synchronous version of `replaceFile`. @throws what node:fs throws */
export function replaceFileSync(file: string, content: string | Uint8Array): void {
  const temporary = `${file}.${crypto.randomUUID()}.tmp`
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

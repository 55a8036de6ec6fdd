// Writes a file so that a reader, or a crash, meets the old content or the new one and nothing between: beside it, and renamed over it.
import { randomUUID } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { chmod, rename, rm, writeFile } from 'node:fs/promises'

/** For its owner's eyes only, unless `mode` says otherwise. Its folder must exist. @throws what node:fs throws; the old content is then as it was */
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

/** The same, at once. @throws what node:fs throws */
export function replaceFileSync(file: string, content: string | Uint8Array): void {
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, file)
  } catch (error) {
    try {
      rmSync(temporary, { force: true })
    } catch {
      // The temporary file was never made, since its folder is not a folder. The earlier error is thrown.
    }
    throw error
  }
}

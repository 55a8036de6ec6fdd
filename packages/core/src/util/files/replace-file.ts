// Replaces a file atomically, by renaming a temporary one: readers see the old content or the new.
import { promises, renameSync, rmSync, writeFileSync } from 'node:fs'
import { orUndefined } from '../or-undefined.ts'

/** Windows refuses to replace a file while another process reads it, such as another bridge or a virus scanner. */
const READ_MS = 1_000
const RETRY_MS = 10

/** Private unless `mode` says otherwise; the folder must exist. @throws what node:fs throws; nothing is changed then */
export async function replaceFile(file: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const temporary = `${file}.${crypto.randomUUID()}.tmp`
  try {
    await promises.writeFile(temporary, content, { mode: 0o600 })
    if (mode !== 0o600) await promises.chmod(temporary, mode)
    await renameFile(temporary, file)
  } catch (error) {
    await promises.rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}

/** Of a file or a folder: waits for those who read in it. @throws what node:fs throws */
export async function renameFile(from: string, to: string): Promise<void> {
  for (const end = performance.now() + READ_MS; ; await new Promise((resolve) => setTimeout(resolve, RETRY_MS))) {
    const problem = await promises.rename(from, to).catch((error: unknown) => error)
    if (problem === undefined) return
    if (!isRead(problem) || performance.now() > end) throw problem
  }
}

/** Synchronous version of `replaceFile`. @throws what node:fs throws */
export function replaceFileSync(file: string, content: string | Uint8Array): void {
  const temporary = `${file}.${crypto.randomUUID()}.tmp`
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' })
    for (const end = performance.now() + READ_MS; ; pause()) {
      try {
        return renameSync(temporary, file)
      } catch (error) {
        if (!isRead(error) || performance.now() > end) throw error
      }
    }
  } catch (error) {
    // It may never have been created, since its parent is not a folder.
    orUndefined(() => rmSync(temporary, { force: true }))
    throw error
  }
}

function isRead(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes(code ?? '')
}

const pause = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)

// Finds programs the way a shell does, with their full path: what is started must not depend on the folder the bridge happens to be in.
import { access, constants } from 'node:fs/promises'

const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin']

/** Full paths of all programs of this name, in the order of PATH and then in the usual folders. POSIX only. */
export async function findPrograms(name: string): Promise<string[]> {
  const folders = new Set([...(process.env['PATH'] ?? '').split(':'), ...USUAL_FOLDERS])
  const found: string[] = []
  for (const folder of folders) {
    if (!folder.startsWith('/')) continue
    const file = `${folder}/${name}`
    const usable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (usable) found.push(file)
  }
  return found
}

// Finds programs the way a shell does, with their full path: what is started must not depend on the folder the bridge happens to be in.
import { access, constants, realpath } from 'node:fs/promises'

const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin']

/** Full paths of all programs of this name, in the order of PATH and then in the usual folders. POSIX only. */
export async function findPrograms(name: string): Promise<string[]> {
  const found = new Map<string, string>()
  for (const folder of [...(process.env['PATH'] ?? '').split(':'), ...USUAL_FOLDERS]) {
    if (!folder.startsWith('/')) continue
    const file = `${folder}/${name}`
    const usable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    // /bin is /usr/bin on most machines.
    const place = usable && (await realpath(folder).catch(() => folder))
    if (place !== false && !found.has(place)) found.set(place, file)
  }
  return [...found.values()]
}

// What is mounted over hidden files and folders in a container: an engine can only mount existing files.
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Creates an empty folder and a file without permissions in a folder of the jail. */
export async function makeNothing(inside: string): Promise<{ folder: string; file: string }> {
  const nothing = { folder: path.join(inside, 'no-folder'), file: path.join(inside, 'no-file') }
  await mkdir(nothing.folder)
  await writeFile(nothing.file, '')
  await chmod(nothing.folder, 0o555)
  await chmod(nothing.file, 0)
  return nothing
}

// A document in a file, changed under a lock and replaced as a whole.
import { mkdir, readlink, realpath } from 'node:fs/promises'
import path from 'node:path'
import { withFileLock } from '../../files/file-lock.ts'
import { readOrdinary, readOrdinaryText } from '../../files/read-ordinary.ts'
import { replaceFile } from '../../files/replace-file.ts'
import type { Document } from '../store.ts'

export function fileDocument(file: string): Document {
  const read = () => readOrdinary(file).then(String).catch(noneIfMissing)
  return {
    place: file,
    read,
    readNow: () => {
      try {
        return readOrdinaryText(file)
      } catch (error) {
        return noneIfMissing(error)
      }
    },
    update: async (change) => {
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      await withFileLock(`${file}.lock`, async () => replaceFile(await placeOf(file), await change(read)))
    },
  }
}

function noneIfMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

/** Where the text is: the file may be a symbolic link to a place that is synced, and stays one. */
async function placeOf(file: string): Promise<string> {
  const target = await readlink(file).catch(() => undefined)
  if (target === undefined) return file
  const text = await readOrdinary(file).then(String, noneIfMissing).catch(String)
  // A link to what is no document is replaced, and not the file of somebody else that it leads to.
  if (!/^\uFEFF?\s*(?:[{[]|$)/.test(text ?? '')) return file
  return realpath(file).catch(() => path.resolve(path.dirname(file), target))
}

// A document in a file. Changed under a lock and replaced as a whole, so that neither a crash nor another bridge leaves
// a partial one.
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { withFileLock } from '../../util/files/file-lock.ts'
import { readOrdinary } from '../../util/files/read-ordinary.ts'
import { replaceFile } from '../../util/files/replace-file.ts'
import type { Document } from '../store.ts'

export class FileDocument implements Document {
  readonly place: string

  constructor(file: string) {
    this.place = file
  }

  async read(): Promise<string | undefined> {
    try {
      return (await readOrdinary(this.place)).toString()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  async update(change: (read: () => Promise<string | undefined>) => Promise<string>): Promise<void> {
    await mkdir(path.dirname(this.place), { recursive: true, mode: 0o700 })
    await withFileLock(`${this.place}.lock`, async () => replaceFile(this.place, await change(() => this.read())))
  }
}

// The lines of one file of the record.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** None for a file that is gone: an old one may be pruned while it is looked for. @throws what node:fs throws otherwise */
export async function* linesOf(file: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(file), crlfDelay: Infinity })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}

// Reads a file at a place where something else may stand, such as a named pipe, whose other end may never come.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Opens a named pipe without waiting for its other end. */
export const READ_AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** @throws what node:fs throws, or an Error whose `code` says that it is not an ordinary file */
export async function readOrdinary(file: string): Promise<Buffer> {
  const handle = await open(file, READ_AT_ONCE)
  try {
    if ((await handle.stat()).isFile()) return await handle.readFile()
    throw Object.assign(new Error(`${file} is not an ordinary file`), { code: 'not an ordinary file' })
  } finally {
    await handle.close()
  }
}

// Reads a part of a file.
import { open } from 'node:fs/promises'
import { READ_AT_ONCE } from './read-ordinary.ts'

/** @param piece chooses by the size of the file, whose end cuts it off @throws what node:fs throws */
export async function readPiece(
  file: string,
  piece: (size: number) => { offset: number; length: number },
  flags = READ_AT_ONCE,
): Promise<{ data: Buffer; size: number }> {
  const handle = await open(file, flags)
  try {
    const { size } = await handle.stat()
    const { offset, length } = piece(size)
    const data = Buffer.alloc(Math.max(0, Math.min(length, size - offset)))
    const { bytesRead } = await handle.read(data, 0, data.length, offset)
    return { data: data.subarray(0, bytesRead), size }
  } finally {
    await handle.close()
  }
}

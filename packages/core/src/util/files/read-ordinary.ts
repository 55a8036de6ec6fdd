// Reads a file at a place where something else may stand, such as a named pipe, whose other end may never come.
import { constants } from 'node:buffer'
import { closeSync, constants as flags, fstatSync, openSync, promises, readFileSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

/** A folder, a named pipe, a socket or a device stands in place of the file. */
export class NotOrdinary extends Error {
  override readonly name = 'NotOrdinary'
  readonly code = 'not an ordinary file'
  readonly isFolder: boolean

  constructor(isFolder = false) {
    super(isFolder ? 'is a folder, not a file' : 'is not an ordinary file')
    this.isFolder = isFolder
  }
}

/** Opens a named pipe without waiting for its other end. */
export const READ_AT_ONCE = flags.O_RDONLY | (flags.O_NONBLOCK ?? 0)

/** @param accept is told the size first, and may throw @throws what node:fs throws, or NotOrdinary */
export async function readOrdinary(file: string, accept?: (sizeBytes: number) => void): Promise<Buffer> {
  const handle = await promises.open(file, READ_AT_ONCE).catch(refuse)
  try {
    const found = await handle.stat()
    check(found)
    accept?.(found.size)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** Synchronous version of `readOrdinary`. @throws the same */
export function readOrdinarySync(file: string, accept?: (sizeBytes: number) => void): Buffer {
  return withOrdinary(file, (descriptor, { size }) => {
    accept?.(size)
    return readFileSync(descriptor)
  })
}

/** Text in UTF-8, in a sixth of the time that a process takes for the first of `readOrdinarySync`. @throws the same */
export function readOrdinaryText(file: string): string {
  return withOrdinary(file, (descriptor, { size }) => {
    // Node would read all of it first, which takes minutes.
    if (size > constants.MAX_STRING_LENGTH) throw new RangeError('is too large for a text')
    return readFileSync(descriptor, 'utf8')
  })
}

function withOrdinary<T>(file: string, read: (descriptor: number, found: Stats) => T): T {
  const descriptor = opened(file)
  try {
    const found = fstatSync(descriptor)
    check(found)
    return read(descriptor, found)
  } finally {
    closeSync(descriptor)
  }
}

function opened(file: string): number {
  try {
    return openSync(file, READ_AT_ONCE)
  } catch (error) {
    return refuse(error as NodeJS.ErrnoException)
  }
}

function check(found: Stats): void {
  if (!found.isFile()) throw new NotOrdinary(found.isDirectory())
}

/** No socket can be opened. */
function refuse(error: NodeJS.ErrnoException): never {
  throw error.code === 'ENXIO' ? new NotOrdinary() : error
}

/** @param piece chooses by the size of the file, whose end cuts it off @throws what node:fs throws */
export async function readPiece(
  file: string,
  piece: (size: number) => { offset: number; length: number },
  how = READ_AT_ONCE,
): Promise<{ data: Buffer; size: number }> {
  const handle = await open(file, how)
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

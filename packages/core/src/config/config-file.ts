// Reads the text of one config file, whatever is at its path; an unreadable one gives a reason, never an exception.
import { existsSync, lstatSync, readdirSync, type Stats } from 'node:fs'
import path from 'node:path'
import { NotOrdinary, readOrdinarySync } from '../util/files/read-ordinary.ts'
import { decodeText, encodingOf } from '../util/bytes/decode-text.ts'
import { orUndefined } from '../util/or-undefined.ts'

/** The file system functions that configuration needs. Paths are absolute. Both throw what node:fs throws. */
export interface ConfigFileSystem {
  /** @throws an Error with `code` ENOENT, EACCES, … or FileRefused when it is not a regular file or too large. */
  readFile(file: string): Promise<Uint8Array>
  /** The names of a folder's entries. */
  readdir(folder: string): Promise<string[]>
}

/** `reason` says why the file could not be read; `absent` means that it does not exist. */
export type FileText = { text: string } | { reason: string; isOrdinary?: false; isFolder?: true } | { absent: true }

export const MAX_CONFIG_FILE_BYTES = 5 * 2 ** 20

/** The file is not read. The message may be shown to the file's owner. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused'
}

/** Reads at once: each step of an asynchronous read waits for a thread, which takes longer than all of it does here. */
export const nodeFileSystem: ConfigFileSystem = {
  readFile: async (file) => readOrdinarySync(file, refuseBig),
  readdir: async (folder) => readdirSync(folder),
}

/** Reads a file as UTF-8, or as UTF-16, which some Windows tools write. */
export async function readFileText(fileSystem: ConfigFileSystem, file: string): Promise<FileText> {
  try {
    const bytes = await fileSystem.readFile(file)
    refuseBig(bytes.length)
    return { text: decode(bytes) }
  } catch (error) {
    return whyNot(error)
  }
}

/**
 * As `readFileText`, but a broken symbolic link, also of a folder above, gives a reason: what it led to, such as an
 * unmounted disk, may hold rules or be overwritten.
 */
export async function readFileOrLink(fileSystem: ConfigFileSystem, file: string): Promise<FileText> {
  const read = await readFileText(fileSystem, file)
  const link = 'absent' in read ? brokenLinkOf(file) : undefined
  if (link === undefined) return read
  return {
    reason: link === file ? 'is a broken symbolic link' : `cannot be reached: ${link} is a broken symbolic link`,
  }
}

/** The broken link on the way to a file that is absent. */
function brokenLinkOf(file: string): string | undefined {
  let place = file
  let found = entryAt(place)
  while (!found && path.dirname(place) !== place) {
    place = path.dirname(place)
    found = entryAt(place)
  }
  return found?.isSymbolicLink() && !existsSync(place) ? place : undefined
}

function entryAt(place: string): Stats | undefined {
  return orUndefined(() => lstatSync(place, { throwIfNoEntry: false }))
}

/** The files of a folder, sorted by name, without hidden ones. */
export async function listFiles(
  fileSystem: ConfigFileSystem,
  folder: string,
  wanted = /\.json$/i,
): Promise<{ names: string[] } | { reason: string } | { absent: true }> {
  try {
    const names = await fileSystem.readdir(folder)
    return { names: names.filter((name) => !name.startsWith('.') && wanted.test(name)).toSorted() }
  } catch (error) {
    return whyNot(error)
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return decodeText(bytes)
  } catch (error) {
    throw new FileRefused(`is not ${encodingOf(bytes).toUpperCase()} text; save it as UTF-8`, { cause: error })
  }
}

function refuseBig(sizeBytes: number): void {
  if (sizeBytes > MAX_CONFIG_FILE_BYTES)
    throw new FileRefused(`is too large: ${sizeBytes} bytes; the limit is ${MAX_CONFIG_FILE_BYTES}`)
}

const REASONS: Record<string, string> = {
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  EISDIR: 'is a folder, not a file',
  ELOOP: 'is a symbolic link that leads back to itself',
  ENAMETOOLONG: 'has a path that is too long',
}

function whyNot(error: unknown): Exclude<FileText, { text: string }> {
  if (error instanceof NotOrdinary)
    return { reason: error.message, isOrdinary: false, ...(error.isFolder && { isFolder: true }) }
  if (error instanceof FileRefused) return { reason: error.message }
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error'
  if (code === 'ENOENT' || code === 'ENOTDIR') return { absent: true }
  return { reason: REASONS[code] ?? `cannot be read: ${code}` }
}

// Unpacks a wheel: checks every file against the wheel's RECORD, and decides where it goes. Runs no code.
// (Binary distribution format: https://packaging.python.org/specifications/binary-distribution-format/)
import { hash } from 'node:crypto'
import type { PackageFile } from '@sandbridge/core/parts'
import { isSafeName, zipEntries, type ZipEntry } from '@sandbridge/shared/unpack/zip-archive.ts'

const MAX_UNPACKED_BYTES = 512 * 2 ** 20
const MAX_FILES = 20_000

/** True if a file name is that of a wheel for any Python 3. */
export function isPureWheel(fileName: string): boolean {
  return /^[^-]+-[^-]+(-\d[^-]*)?-[\w.]*py3[\w.]*-none-any\.whl$/.test(fileName)
}

/** @throws Error that says what is wrong with the wheel */
export async function unpackWheel(archive: Buffer): Promise<PackageFile[]> {
  const entries: ZipEntry[] = []
  for await (const entry of zipEntries(archive, MAX_UNPACKED_BYTES)) {
    if (entries.push(entry) > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`)
  }
  const record = entries.find((entry) => /^[^/]+\.dist-info\/RECORD$/.test(entry.name))
  if (!record) throw new Error('it has no RECORD file')
  const hashes = parseRecord(record.data.toString())
  const files: PackageFile[] = []
  for (const { name, data } of entries) {
    if (!isSafeName(name)) throw new Error(`it has a file outside its folder: ${JSON.stringify(name)}`)
    // The record cannot contain its own hash, or those of signatures made after it.
    if (
      !/^[^/]+\.dist-info\/RECORD(\.jws|\.p7s)?$/.test(name) &&
      hashes.get(name) !== hash('sha256', data, 'base64url')
    ) {
      throw new Error(`${name} does not match its RECORD`)
    }
    const path = installedPath(name)
    if (path !== undefined) files.push({ path, data })
  }
  return files
}

/**
 * Refuses a wheel that needs a package by its address: pip would run the code of what is there on this machine.
 * (Dependency specifiers: https://packaging.python.org/specifications/dependency-specifiers/)
 * @throws Error that names the wheel's line
 */
export async function refuseAddresses(archive: Buffer): Promise<void> {
  for await (const { name, data } of zipEntries(archive, MAX_UNPACKED_BYTES)) {
    if (!/^[^/]+\.dist-info\/METADATA$/.test(name)) continue
    const [line] = /^Requires-Dist:(?:[^;@\r\n]|(?:\r\n?|\n)[ \t])*@.*/im.exec(data.toString()) ?? []
    if (line !== undefined) throw new Error(`it needs a package by its address (${line.slice(0, 200)})`)
  }
}

/** Returns where a file goes. Drops scripts, headers and data files, which sandboxes do not need. */
function installedPath(name: string): string | undefined {
  const [, kind, path] = /^[^/]+\.data\/([^/]+)\/(.+)$/.exec(name) ?? []
  if (kind === undefined) return name
  return kind === 'purelib' || kind === 'platlib' ? path : undefined
}

/**
 * Returns path → SHA-256 in URL-safe base64, from lines such as `pkg/a.py,sha256=…,12`. A path with a comma is quoted.
 */
function parseRecord(text: string): Map<string, string> {
  const lines = text.matchAll(/^(?:"((?:[^"]|"")*)"|([^,\r\n]*)),sha256=([\w-]+)=*,/gm)
  return new Map([...lines].map(([, quoted, plain, digest]) => [quoted?.replaceAll('""', '"') ?? plain!, digest!]))
}

// Versions on disk: <folder>/<name>/<version>/, each written beside the others, then renamed.
import { randomUUID } from 'node:crypto'
import { open, readdir, rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '../../../errors.ts'
import { readOrdinary, readPiece } from '../../files/read-ordinary.ts'
import { renameFile } from '../../files/replace-file.ts'
import { writeFailure } from '../../files/file-failure.ts'
import { mapFew } from '../../async/map-few.ts'
import { makeFolder } from '../../files/private-folder.ts'
import { checkStoredName, isStoredName, refuseOtherCase } from '../stored-name.ts'
import type { Piece, VersionFile, Versions } from '../store.ts'

export class VersionedFolders implements Versions {
  readonly #folder: string
  readonly #what: string

  /** @param what noun for one item in messages: `an artifact` */
  constructor(folder: string, what: string) {
    this.#folder = folder
    this.#what = what
  }

  async all(): Promise<Map<string, number[]>> {
    const names = (await readdir(this.#folder).catch(() => [])).filter((name) => isStoredName(name)).toSorted()
    const versions = await Promise.all(names.map((name) => versionsIn(path.join(this.#folder, name))))
    return new Map(names.map((name, index) => [name, versions[index]!] as const).filter(([, some]) => some.length > 0))
  }

  async versions(name: string): Promise<number[]> {
    return versionsIn(this.#path(name))
  }

  async add(name: string, files: Record<string, Uint8Array | string>): Promise<number> {
    const folder = this.#path(name)
    refuseOtherCase(path.basename(folder), (await this.all()).keys())
    const unfinished = path.join(folder, `.new-${randomUUID()}`)
    try {
      makeFolder(unfinished, 0o700)
      for (const [file, data] of Object.entries(files)) await writeWhole(path.join(unfinished, file), data)
      return await this.#install(unfinished, name)
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true }).catch(() => {})
      // Removes the folder only if it is empty: a name without versions.
      await rmdir(folder).catch(() => {})
      throw unwritable(error, this.#what)
    }
  }

  async read(name: string, version: number, file: string, piece?: Piece): Promise<Buffer> {
    const whole = path.join(this.#path(name), String(version), file)
    try {
      return piece ? (await readPiece(whole, () => piece)).data : await readOrdinary(whole)
    } catch (cause) {
      throw new BridgeError('STATE_NOT_FOUND', `Version ${version} of '${name}' cannot be read`, { cause })
    }
  }

  async readEach(file: string, name?: string): Promise<VersionFile[]> {
    const found: VersionFile[] = []
    const all = name === undefined ? await this.all() : new Map([[name, await this.versions(name)]])
    for (const [one, numbers] of all) {
      const versions = await mapFew(numbers, async (version): Promise<VersionFile[]> => {
        const data = await this.read(one, version, file).catch(() => undefined)
        return data ? [{ name: one, version, data }] : []
      })
      found.push(...versions.flat())
    }
    return found
  }

  async remove(name: string): Promise<boolean> {
    const had = (await this.versions(name)).length > 0
    await rm(this.#path(name), { recursive: true, force: true })
    return had
  }

  #path(name: string): string {
    return path.join(this.#folder, checkStoredName(name, this.#what))
  }

  /** Renaming onto a non-empty folder fails, so if two bridges want the same number, the second takes the next. */
  async #install(unfinished: string, name: string): Promise<number> {
    let version = ((await this.versions(name)).at(-1) ?? 0) + 1
    for (let attempt = 0; ; attempt += 1) {
      try {
        await renameFile(unfinished, path.join(this.#path(name), String(version)))
        return version
      } catch (error) {
        if (attempt === 100 || !(await this.versions(name)).includes(version)) throw error
        version += 1
      }
    }
  }
}

async function versionsIn(folder: string): Promise<number[]> {
  const entries = await readdir(folder).catch(() => [])
  return entries
    .filter((entry) => /^[1-9]\d{0,8}$/.test(entry))
    .map(Number)
    .toSorted((a, b) => a - b)
}

async function writeWhole(file: string, data: Uint8Array | string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(data)
    // The data must reach the disk before the rename that follows.
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Converts a file system error for a cell. Omits the path on this machine; the cause keeps it for the log. */
export function unwritable(cause: unknown, what: string): BridgeError {
  if (BridgeError.isInstance(cause)) return cause
  const reason = writeFailure(cause, (code) => `the state folder cannot be written${code && ` (${code})`}`)
  const subject = `${what[0]!.toUpperCase()}${what.slice(1)}`
  return new BridgeError(
    'STATE_UNWRITABLE',
    `${subject} could not be saved: ${reason}. Data that was saved before has not changed`,
    { cause },
  )
}

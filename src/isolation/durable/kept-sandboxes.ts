// The sandboxes that outlive bridges, on disk: a folder each, with a record of the owner that only the user can read,
// and a lock of the bridge that has it. Stores hashes, no secrets. The lock is stale once its process has ended.
import { chown, mkdir, readFile, readdir, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { randomBytes } from 'node:crypto'
import { tryFileLock } from '../../util/files/file-lock.ts'
import { makePrivateFolder } from '../../util/files/private-folder.ts'
import { replaceFile } from '../../util/files/replace-file.ts'
import { isRecord, parseJson } from '../../util/json/json.ts'
import type { KeptSession, ProviderName } from '../provider.ts'
import { makeTemporaryFolder } from '../temporary-folder.ts'
import { fitsSocket } from './door.ts'

const RECORD = 'record.json'
const LOCK = 'bridge.lock'
const ID_BYTES = 6
const ID = /^[0-9a-f]{12}$/

export interface KeptRecord extends KeptSession {
  id: string
  provider: ProviderName
  /** Describes the options it was made with; one made with other options is not used any more. */
  made: string
  /** Hash of the key with which the sandbox returns. */
  keyHash: string
  /** Folder of its socket. */
  door: string
  createdAt: string
  /** When a cell last began. */
  usedAt: string
}

/** A sandbox that this bridge has. */
export interface HeldSandbox {
  id: string
  door: string
  /** Lets other bridges take it. */
  release: () => Promise<void>
}

export class KeptSandboxes {
  readonly #folder: string

  constructor(stateDir: string) {
    this.#folder = path.join(stateDir, 'sandboxes')
  }

  /**
   * Create the folder of a new sandbox.
   * @param engineUid the engine's user, if it is another one
   * @throws what node:fs throws
   */
  async make(engineUid?: number): Promise<HeldSandbox> {
    const id = randomBytes(ID_BYTES).toString('hex')
    const folder = this.#folderOf(id)
    await makePrivateFolder(this.#folder)
    const release = await tryFileLock(path.join(folder, LOCK))
    // Another bridge's `tidy` took the new folder for a leftover.
    if (!release) return this.make(engineUid)
    const own = path.join(folder, 'door')
    // Another user cannot enter this folder, and a long path does not fit into a socket's address.
    const isElsewhere = engineUid !== undefined || !fitsSocket(own)
    const base = isElsewhere ? await makeTemporaryFolder() : folder
    const door = path.join(base, 'door')
    await mkdir(door, { mode: 0o755 })
    if (engineUid !== undefined) await chown(base, engineUid, -1)
    return { id, door, release }
  }

  async write(record: Omit<KeptRecord, 'createdAt' | 'usedAt'>): Promise<void> {
    const text = `${JSON.stringify({ ...record, createdAt: new Date().toISOString() }, undefined, 2)}\n`
    await replaceFile(path.join(this.#folderOf(record.id), RECORD), text)
  }

  /** Returns all kept sandboxes, the most recently used first. Skips damaged records. */
  async list(): Promise<KeptRecord[]> {
    const ids = await readdir(this.#folder).catch(() => [])
    const records = await Promise.all(ids.filter((id) => ID.test(id)).map((id) => this.#read(id)))
    return records
      .flatMap((record) => record ?? [])
      .toSorted((a, b) => b.usedAt.localeCompare(a.usedAt) || b.id.localeCompare(a.id))
  }

  /** Take a sandbox for this process. Undefined if another bridge has it. */
  async take({ id, door }: Pick<KeptRecord, 'id' | 'door'>): Promise<HeldSandbox | undefined> {
    const release = await tryFileLock(path.join(this.#folderOf(id), LOCK))
    return release && { id, door, release }
  }

  /** Returns the process id of the bridge that has it; undefined if none has. */
  async holder(id: string): Promise<number | undefined> {
    const lock = path.join(this.#folderOf(id), LOCK)
    const release = await tryFileLock(lock)
    if (release) {
      await release()
      return undefined
    }
    const [, pid] = (await readFile(lock, 'utf8').catch(() => '')).split(' ')
    return Number(pid)
  }

  touch(id: string): void {
    const now = new Date()
    void utimes(path.join(this.#folderOf(id), RECORD), now, now).catch(() => {})
  }

  /** Delete everything stored about it, and release it. */
  async forget({ id, door, release }: HeldSandbox): Promise<void> {
    const folder = this.#folderOf(id)
    if (!door.startsWith(folder)) await rm(path.dirname(door), { recursive: true, force: true }).catch(() => {})
    await rm(folder, { recursive: true, force: true }).catch(() => {})
    await release()
  }

  /** Remove folders of bridges that ended before their sandboxes were kept. */
  async tidy(): Promise<void> {
    const ids = await readdir(this.#folder).catch(() => [])
    for (const id of ids.filter((one) => ID.test(one))) {
      const isWritten = await stat(path.join(this.#folderOf(id), RECORD)).catch(() => undefined)
      if (isWritten) continue
      const place = await this.take({ id, door: path.join(this.#folderOf(id), 'door') }).catch(() => undefined)
      if (place) await this.forget(place)
    }
  }

  #folderOf(id: string): string {
    return path.join(this.#folder, id)
  }

  async #read(id: string): Promise<KeptRecord | undefined> {
    const file = path.join(this.#folderOf(id), RECORD)
    try {
      const [text, { mtime }] = await Promise.all([readFile(file, 'utf8'), stat(file)])
      const json = parseJson(text)
      if (!isRecord(json)) return undefined
      const { provider, owner, made, keyHash, door, createdAt, client, folder } = json
      const needed = [owner, made, keyHash, door, createdAt].every((one) => typeof one === 'string')
      if (!needed || (provider !== 'docker' && provider !== 'podman')) return undefined
      return {
        id,
        provider,
        owner: String(owner),
        made: String(made),
        keyHash: String(keyHash),
        door: String(door),
        createdAt: String(createdAt),
        usedAt: mtime.toISOString(),
        ...(typeof client === 'string' && { client }),
        ...(typeof folder === 'string' && { folder }),
      }
    } catch {
      return undefined
    }
  }
}

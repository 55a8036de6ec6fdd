// The images that were unpacked, in a folder of the cache: each is made once, beside its place, and then given its name. Bridges take turns.
// An image is in use as long as its time is fresh. Unused images are removed, and so is what a killed bridge left behind.
import { createHash, randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { withFileLock } from '../../storage/file-lock.ts'
import { makeFolder } from '../../storage/private-folder.ts'
import { isRecord, parseJson } from '../../text/json.ts'
import { letOthersThrough } from '../let-others-through.ts'

/** Where the files of a system are, and the environment that its programs expect. */
export interface RootFileSystem {
  /** Tells its Python from every other one. */
  id: string
  folder: string
  /** `NAME=value`. */
  environment: string[]
}

const ABOUT = 'image.json'
const ROOT = 'root'
const UNFINISHED = '.tmp'
const HOUR_MS = 3_600_000
const KEPT_UNUSED_MS = 30 * 24 * HOUR_MS
/** One whose name stands for another image since. */
const KEPT_REPLACED_MS = 24 * HOUR_MS

/** What is known of an unpacked image. */
interface About {
  /** How the user names it. */
  source: string
  id: string
  environment: string[]
}

export class UnpackedImages {
  readonly #folder: string

  constructor(cacheDir: string) {
    this.#folder = path.join(cacheDir, 'images')
  }

  /** The image that was last used under this name. */
  async lastOf(source: string): Promise<RootFileSystem | undefined> {
    const [newest] = (await this.#list())
      .filter(({ about }) => about?.source === source)
      .toSorted((a, b) => b.usedAt - a.usedAt)
    return newest?.about && this.#use(newest.name, newest.about)
  }

  /**
   * The image of this name and id, unpacked if need be.
   * @param unpack fills an empty folder, and tells the environment
   */
  async ensure(
    { source, id }: { source: string; id: string },
    unpack: (folder: string) => Promise<string[]>,
  ): Promise<RootFileSystem> {
    const name = createHash('sha256').update(`${source}\n${id}`).digest('hex').slice(0, 24)
    const known = await this.#read(name)
    if (known) return this.#use(name, known)
    // Other users may pass, to what they know the name of.
    await makeFolder(this.#folder, 0o711)
    await letOthersThrough([path.dirname(this.#folder), this.#folder])
    return withFileLock(path.join(this.#folder, '.lock'), async () => {
      // Another bridge may have been first.
      const about = (await this.#read(name)) ?? (await this.#make(name, { source, id }, unpack))
      const found = await this.#use(name, about)
      await this.#removeUnused(name, source)
      return found
    })
  }

  async #make(
    name: string,
    { source, id }: { source: string; id: string },
    unpack: (folder: string) => Promise<string[]>,
  ): Promise<About> {
    // Left by bridges that were killed: this one holds the lock, so no other is unpacking.
    for (const left of await readdir(this.#folder)) {
      if (left.endsWith(UNFINISHED)) await rm(path.join(this.#folder, left), { recursive: true, force: true })
    }
    const unfinished = path.join(this.#folder, `${randomUUID()}${UNFINISHED}`)
    try {
      // Whatever the umask: a sandbox, and podman, may run as another user. What an image keeps from others is kept from them here too.
      for (const folder of [unfinished, path.join(unfinished, ROOT)]) {
        await mkdir(folder)
        await chmod(folder, 0o755)
      }
      const about = { source, id, environment: await unpack(path.join(unfinished, ROOT)) }
      await writeFile(path.join(unfinished, ABOUT), JSON.stringify(about))
      await chmod(path.join(unfinished, ROOT), 0o755)
      await rename(unfinished, path.join(this.#folder, name))
      return about
    } finally {
      await rm(unfinished, { recursive: true, force: true }).catch(() => {})
    }
  }

  async #read(name: string): Promise<About | undefined> {
    const text = await readFile(path.join(this.#folder, name, ABOUT), 'utf8').catch(() => '')
    const about = parseJson(text)
    if (!isRecord(about) || !Array.isArray(about['environment'])) return undefined
    const { source, id } = about
    return typeof source === 'string' && typeof id === 'string'
      ? { source, id, environment: about['environment'].map(String) }
      : undefined
  }

  async #use(name: string, { id, environment }: About): Promise<RootFileSystem> {
    const folder = path.join(this.#folder, name)
    const touch = () => utimes(path.join(folder, ABOUT), new Date(), new Date()).catch(() => {})
    await touch()
    await letOthersThrough([path.dirname(this.#folder), this.#folder])
    setInterval(() => void touch(), HOUR_MS).unref()
    return { id, folder: path.join(folder, ROOT), environment }
  }

  async #removeUnused(used: string, source: string): Promise<void> {
    for (const { name, about, usedAt } of await this.#list()) {
      const keptMs = about?.source === source ? KEPT_REPLACED_MS : KEPT_UNUSED_MS
      if (name === used || Date.now() - usedAt < keptMs) continue
      // First out of sight, so that one that is only half removed is never taken for whole.
      const aside = path.join(this.#folder, `${randomUUID()}${UNFINISHED}`)
      await rename(path.join(this.#folder, name), aside).catch(() => {})
      await rm(aside, { recursive: true, force: true }).catch(() => {})
    }
  }

  async #list(): Promise<{ name: string; about: About | undefined; usedAt: number }[]> {
    const names = (await readdir(this.#folder).catch(() => [])).filter((name) => /^[0-9a-f]{24}$/.test(name))
    return Promise.all(
      names.map(async (name) => ({
        name,
        about: await this.#read(name),
        usedAt: await stat(path.join(this.#folder, name, ABOUT)).then(
          ({ mtimeMs }) => mtimeMs,
          () => Infinity,
        ),
      })),
    )
  }
}

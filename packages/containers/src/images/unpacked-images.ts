// Unpacked images in a cache folder: each is made beside its final place, then renamed. A lock serialises bridges.
// An image is in use while its time is recent. Unused images are removed, and so is what killed bridges left behind.
import { hash, randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeFolder, readOrdinary, withFileLock } from '@sandbridge/core/util/files'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import type { RootFileSystem } from '@sandbridge/native/choose/images-part.ts'
import { letOthersThrough } from '@sandbridge/core/isolation'

const ABOUT = 'image.json'
const ROOT = 'root'
const UNFINISHED = '.tmp'
const HOUR_MS = 3_600_000
const KEPT_UNUSED_MS = 30 * 24 * HOUR_MS
/** For an image whose name now refers to another one. */
const KEPT_REPLACED_MS = 24 * HOUR_MS

/** Metadata of an unpacked image. */
interface About {
  /** The image as the user names it. */
  source: string
  id: string
  environment: string[]
}

export class UnpackedImages {
  readonly #folder: string

  constructor(cacheDir: string) {
    this.#folder = path.join(cacheDir, 'images')
  }

  /** Returns the image last used under this name. */
  async lastOf(source: string): Promise<RootFileSystem | undefined> {
    const [newest] = (await this.#list())
      .filter(({ about }) => about?.source === source)
      .toSorted((a, b) => b.usedAt - a.usedAt)
    return newest?.about && this.#use(newest.name, newest.about)
  }

  /**
   * Returns the image of this name and id, unpacked if needed.
   * @param unpack fills an empty folder, and returns the environment
   */
  async ensure(
    { source, id }: { source: string; id: string },
    unpack: (folder: string) => Promise<string[]>,
  ): Promise<RootFileSystem> {
    const name = hash('sha256', `${source}\n${id}`).slice(0, 24)
    const known = await this.#read(name)
    if (known) return this.#use(name, known)
    // Other users may pass through, but not list it.
    makeFolder(this.#folder, 0o711)
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
    // Left by killed bridges: this process holds the lock, so no other is unpacking.
    for (const left of await readdir(this.#folder)) {
      if (left.endsWith(UNFINISHED)) await rm(path.join(this.#folder, left), { recursive: true, force: true })
    }
    const unfinished = path.join(this.#folder, `${randomUUID()}${UNFINISHED}`)
    try {
      // Whatever the umask: sandboxes and podman may have other users. Files that an image hides stay hidden.
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
    const text = await readOrdinary(path.join(this.#folder, name, ABOUT)).then(String, () => '')
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
      // Renamed first, so that a partly removed image is never taken for a complete one.
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

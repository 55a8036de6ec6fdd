// What bridges on several machines know of servers. Each has its own files, which are quick to read and may be deleted. A bridge that starts brings them
// up to date from what is shared, and shares what it writes into them afterwards.
import path from 'node:path'
import type { ServerDefinition } from '../config/server-definition.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Document, Store } from '../storage/store.ts'
import {
  type CachedServer,
  definitionKey,
  DiskCache,
  entryText,
  parseEntry,
  toolFingerprint,
  withLearned,
} from './disk-cache.ts'

/** Where the files are. */
export function catalogFolder(cacheDir: string): string {
  return path.join(cacheDir, 'catalog')
}

export class SharedCatalog {
  readonly #store: Store
  readonly #log: Log
  /** Of each key, what is to be shared; kept until it is. */
  readonly #waiting = new Map<string, CachedServer>()
  #sharing: Promise<void> = Promise.resolve()
  #isFailing = false

  constructor(store: Store, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** Brings the files of these servers up to date. Where that fails, they stay as they are. */
  async pull(definitions: readonly ServerDefinition[], folder: string): Promise<void> {
    const files = new DiskCache(folder, this.#log)
    const keys = [...new Set(definitions.map(definitionKey))]
    const pulled = keys.map(async (key) => {
      const theirs = parsed(await this.#document(key).read())
      if (!theirs) return
      const ours = files.read(key)
      if ((theirs.fetchedAt ?? 0) > (ours?.fetchedAt ?? -1)) files.write(key, theirs)
    })
    await Promise.all(pulled).catch((error: unknown) => this.#fail(error))
  }

  /** Share what was written. Returns at once. */
  push(key: string, entry: CachedServer): void {
    this.#waiting.set(key, entry)
    this.#sharing = this.#sharing.then(() => this.#share())
  }

  /** Resolves when all is shared, or cannot be. */
  async settled(): Promise<void> {
    await this.#sharing
    if (this.#waiting.size > 0) await this.#share()
  }

  async #share(): Promise<void> {
    for (const [key, entry] of this.#waiting) {
      try {
        await this.#document(key).update(async (read) => entryText(newer(parsed(await read()), entry)))
        if (this.#waiting.get(key) === entry) this.#waiting.delete(key)
        this.#isFailing = false
      } catch (error) {
        return this.#fail(error)
      }
    }
  }

  /** Logged once, until it works again. */
  #fail(error: unknown): void {
    if (!this.#isFailing)
      this.#log.warning('What is known of servers cannot be shared with other bridges', { error: messageOf(error) })
    this.#isFailing = true
  }

  #document(key: string): Document {
    return this.#store.document(`catalog/${key}.json`)
  }
}

/** What was read from the server last, with what both have learned of the tools that it has. */
function newer(theirs: CachedServer | undefined, ours: CachedServer): CachedServer {
  if (!theirs) return ours
  const [later, earlier] = (theirs.fetchedAt ?? 0) > (ours.fetchedAt ?? 0) ? [theirs, ours] : [ours, theirs]
  const { learned = {}, ...merged } = withLearned({ ...later, learned: later.learned ?? {} }, earlier.learned)
  const prints = new Map(later.tools?.map((tool) => [tool.name, toolFingerprint(tool)]))
  const current = Object.entries(learned).filter(([name, { of }]) => prints.get(name) === of)
  return { ...merged, learned: Object.fromEntries(current) }
}

/** Undefined for what an older or newer version has written. */
function parsed(text: string | undefined): CachedServer | undefined {
  try {
    return text === undefined ? undefined : parseEntry(text)
  } catch {
    return undefined
  }
}

// Shares the catalog between bridges on several machines. Each bridge has its own files, which are fast to read and may
// be deleted. A starting bridge updates them from the shared store, and then shares what it writes to them.
import path from 'node:path'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../util/log.ts'
import type { Document, Store } from '../../keep/store.ts'
import {
  type CachedServer,
  definitionKey,
  DiskCache,
  entryText,
  parseEntry,
  toolFingerprint,
  withLearned,
} from './disk-cache.ts'

/** The folder of the files. */
export function catalogFolder(cacheDir: string): string {
  return path.join(cacheDir, 'catalog')
}

export class SharedCatalog {
  readonly #store: Store
  readonly #log: Log
  /** Entries to share, by key; each is kept until it is shared. */
  readonly #waiting = new Map<string, CachedServer>()
  #sharing: Promise<void> = Promise.resolve()
  #isFailing = false

  constructor(store: Store, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** Updates the files of these servers. On failure they stay as they are. */
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

  /** Shares an entry in the background. */
  push(key: string, entry: CachedServer): void {
    this.#waiting.set(key, entry)
    this.#sharing = this.#sharing.then(() => this.#share())
  }

  /** Resolves when everything is shared or sharing has failed. */
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

  /** Logs the first failure only, until sharing works again. */
  #fail(error: unknown): void {
    if (!this.#isFailing)
      this.#log.warning('What is known of servers cannot be shared with other bridges', { error: messageOf(error) })
    this.#isFailing = true
  }

  #document(key: string): Document {
    return this.#store.document(`catalog/${key}.json`)
  }
}

/** The entry with the later listing, plus the result types that both learned of its tools. */
function newer(theirs: CachedServer | undefined, ours: CachedServer): CachedServer {
  if (!theirs) return ours
  const [later, earlier] = (theirs.fetchedAt ?? 0) > (ours.fetchedAt ?? 0) ? [theirs, ours] : [ours, theirs]
  const { learned = {}, ...merged } = withLearned({ ...later, learned: later.learned ?? {} }, earlier.learned)
  const prints = new Map(later.tools?.map((tool) => [tool.name, toolFingerprint(tool)]))
  const current = Object.entries(learned).filter(([name, { of }]) => prints.get(name) === of)
  return { ...merged, learned: Object.fromEntries(current) }
}

/** Undefined for an entry of an older or newer version. */
function parsed(text: string | undefined): CachedServer | undefined {
  try {
    return text === undefined ? undefined : parseEntry(text)
  } catch {
    return undefined
  }
}

// What the result of a cell tells beside it, once: changed config files and settings, and a record that cannot be
// written.
import type { Session } from '../cell/session/session.ts'
import { FileNews } from '../config/notes/file-news.ts'
import type { BridgeError } from '../errors.ts'
import type { ServerSet } from './server-set.ts'

export class CellNews {
  readonly #stateDir: string
  /** Changed settings that take effect later, by their number. */
  readonly #settings = new Map<string, number>()
  #settingsCount = 0
  /** What was told of files, and up to which number of settings. Clients of a resident bridge are each told. */
  readonly #told = new WeakMap<ServerSet, { files: FileNews; settings: number }>()

  constructor(stateDir: string) {
    this.#stateDir = stateDir
  }

  /** @param notes say which changes of settings take effect later */
  settingsChanged(notes: readonly string[]): void {
    for (const note of notes) this.#settings.set(note, (this.#settingsCount += 1))
  }

  /** What the owner of these servers was not told yet. */
  async next(set: ServerSet): Promise<string[]> {
    const told = this.#told.get(set) ?? { files: new FileNews(this.#stateDir), settings: 0 }
    this.#told.set(set, told)
    const settings = [...this.#settings].flatMap(([note, number]) => (number > told.settings ? [note] : []))
    told.settings = this.#settingsCount
    return [...(await told.files.next(set.configured.discovered)), ...settings]
  }

  /** Once per session, until the record can be written again. */
  ofRecord({ told }: Session, failure: BridgeError | undefined): string[] {
    if (failure === undefined) told.delete('record')
    if (failure === undefined || told.has('record')) return []
    told.add('record')
    return [`${failure.message}. Tell the user: ${failure.hint}`]
  }
}

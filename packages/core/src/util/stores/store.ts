// One user's state: a folder of this machine, or shared PostgreSQL; not what belongs to one machine.

/** A text that is replaced as a whole, such as `memories.json`. */
export interface Document {
  /** Its location, for messages. */
  readonly place: string
  /** Undefined if it does not exist yet. @throws what node:fs throws, or BridgeError */
  read(): Promise<string | undefined>
  /** `read` for callers that cannot wait. Missing where it takes a request. @throws as `read` does */
  readNow?(): string | undefined
  /**
   * Replaces the text, with no other process in between. @param change may be called again after a lost connection
   * @throws what `change` throws, and as `read` does; the text is then unchanged
   */
  update(change: (read: () => Promise<string | undefined>) => Promise<string>): Promise<void>
}

export interface Piece {
  offset: number
  length: number
}

export interface VersionFile {
  name: string
  version: number
  data: Buffer
}

/**
 * Named items in versions, each with a few files. A version appears whole or not at all and never changes; any number
 * of bridges may write at once. Does not interpret the files.
 */
export interface Versions {
  /** All names with their versions: names sorted, versions oldest first. */
  all(): Promise<Map<string, number[]>>
  /** The versions of a name, oldest first; none of an unknown one. @throws BridgeError STATE_REFUSED if invalid */
  versions(name: string): Promise<number[]>
  /**
   * Adds the next version.
   * @returns its number
   * @throws BridgeError STATE_REFUSED for a name that is invalid or differs from another only in case, STATE_UNWRITABLE
   */
  add(name: string, files: Record<string, Uint8Array | string>): Promise<number>
  /** @throws BridgeError STATE_NOT_FOUND if it does not exist or cannot be read */
  read(name: string, version: number, file: string, piece?: Piece): Promise<Buffer>
  /** One file of every version, by name, oldest first, without unreadable ones. @param name only of this name */
  readEach(file: string, name?: string): Promise<VersionFile[]>
  /** Deletes a name with all its versions. @returns whether it existed */
  remove(name: string): Promise<boolean>
}

export interface LogInfo {
  name: string
  bytes: number
  /** Time of the last added line, in milliseconds since 1970, by the clock of its writer or its disk. */
  changedAt: number
  /** Position after its last line. */
  end: number
}

/** Adds lines to a log. Each log has one writer. */
export interface LogWriter {
  /**
   * Adds all lines or none.
   * @returns the size of the log in bytes; undefined if the log was removed meanwhile, and nothing was added
   * @throws what node:fs throws, or BridgeError
   */
  append(lines: readonly string[]): Promise<number | undefined>
  close(): Promise<void>
}

/** Logs of one kind. Each has a single writer, and its lines never change. */
export interface Logs {
  /** In no particular order. */
  list(): Promise<LogInfo[]>
  /** Returns every line; none if the log is gone. */
  lines(name: string): AsyncIterable<string>
  /** Returns complete lines after a position, possibly not all of them, and the position after these. */
  linesAfter(name: string, place: number): Promise<{ lines: string[]; place: number }>
  /** Returns the last complete line; undefined if there is none. */
  lastLine(name: string): Promise<string | undefined>
  /** True if the last line is incomplete, because its writer was killed while writing. */
  isTorn(name: string): Promise<boolean>
  /** @param isSynced sync each line to disk before `append` resolves @throws if the log exists */
  create(name: string, isSynced: boolean): Promise<LogWriter>
  remove(name: string): Promise<void>
}

export interface Store {
  document(name: string): Document
  /** @param what noun for one item in messages: `an artifact` */
  versions(kind: string, what: string): Versions
  /** @param kind for example `audit` */
  logs(kind: string): Logs
  /** Runs work while no other process that uses this store runs work under the same name. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>
}

export interface Stores {
  /** Returns a user's store; without a name, that of the owner of the bridge. */
  of(user: string | undefined): Store
  /** True if other machines may use it, too. */
  readonly isShared: boolean
  close(): Promise<void>
}

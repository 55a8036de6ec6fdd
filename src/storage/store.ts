// What the bridge keeps for one user, whichever way it is stored: in a folder of this machine, or in PostgreSQL where several bridges share it.
// Kernels, sockets, locks and caches of one machine are not kept here.

/** A text that is replaced as a whole: `memories.json`. */
export interface Document {
  /** Where it is, for messages. */
  readonly place: string
  /** Undefined when there is none yet. @throws what node:fs throws, or BridgeError */
  read(): Promise<string | undefined>
  /**
   * Replaces it. No other process changes it in between.
   * @param change may be called again when the database was lost on the way
   * @throws what `change` throws, and as `read` does; the text is then as it was
   */
  update(change: (read: () => Promise<string | undefined>) => Promise<string>): Promise<void>
}

/** Some bytes of a file. */
export interface Piece {
  offset: number
  length: number
}

/** One file of one version. */
export interface VersionFile {
  name: string
  version: number
  data: Buffer
}

/**
 * Named things in versions, each with a few files. A version appears whole or not at all, is never changed afterwards, and any number of bridges
 * may write at once. What the files mean is the caller's business.
 */
export interface Versions {
  /** Every name that has a version, sorted, with its versions, oldest first. */
  all(): Promise<Map<string, number[]>>
  /** The versions of a name, oldest first; empty for an unknown name. @throws BridgeError STATE_REFUSED for an invalid name */
  versions(name: string): Promise<number[]>
  /**
   * Adds a version after those there are.
   * @returns its number
   * @throws BridgeError STATE_REFUSED for a name that is invalid or differs from another one in case only, STATE_UNWRITABLE
   */
  add(name: string, files: Record<string, Uint8Array | string>): Promise<number>
  /** @throws BridgeError STATE_NOT_FOUND when it is not there, or not readable */
  read(name: string, version: number, file: string, piece?: Piece): Promise<Buffer>
  /** One file of every version, by name, oldest first; what cannot be read is left out. @param name only the versions of this one */
  readEach(file: string, name?: string): Promise<VersionFile[]>
  /** Deletes a name with all its versions. @returns whether there was one */
  remove(name: string): Promise<boolean>
}

/** What is known of a log without reading it. */
export interface LogInfo {
  name: string
  bytes: number
  /** When a line was added last, in milliseconds since 1970, by the clock of its writer or of its disk. */
  changedAt: number
  /** The place after its last line. */
  end: number
}

/** Adds lines to a log that nobody else adds to. */
export interface LogWriter {
  /** All of them or none. @returns the size of the log in bytes @throws what node:fs throws, or BridgeError */
  append(lines: readonly string[]): Promise<number>
  close(): Promise<void>
}

/** Logs of one kind: lines that are added by one writer each, and never changed. */
export interface Logs {
  /** In no order. */
  list(): Promise<LogInfo[]>
  /** Every line; none of a log that is gone. */
  lines(name: string): AsyncIterable<string>
  /** Lines after a place, those that are whole and some of them when they are many, and the place after these. */
  linesAfter(name: string, place: number): Promise<{ lines: string[]; place: number }>
  /** The last whole line; undefined when there is none. */
  lastLine(name: string): Promise<string | undefined>
  /** Does the last line have no end, because its writer was killed while it wrote? */
  isTorn(name: string): Promise<boolean>
  /** @param isSynced have each line reach the disk before `append` resolves @throws when there is one of that name */
  create(name: string, isSynced: boolean): Promise<LogWriter>
  remove(name: string): Promise<void>
}

/** What is kept for one user. */
export interface Store {
  document(name: string): Document
  /** @param what what one of them is called in messages: `an artifact` */
  versions(kind: string, what: string): Versions
  /** @param kind such as `audit` */
  logs(kind: string): Logs
  /** Runs work that no other process that uses this store does at the same time under this name. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>
}

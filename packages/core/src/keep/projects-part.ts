// `/projects`: one user's files, shared by all sessions, as far as the core knows them.
import { Part } from '../util/part.ts'

/** Without it, cells have no `/projects`. */
export const projects = new Part<ProjectsPart>('/projects')

export interface ProjectsPart {
  /** @param stateFolder parent of their folder */
  openProjects: (stateFolder: string) => Projects
}

export interface Projects {
  readonly folder: string
  /** A text that changes with the files: at once by a bridge, within two seconds by the user, as checks take long. */
  revision(): string
  /** Files and folders, parents first, up to the limits. Synchronous: it runs before every cell and is short. */
  list(): ProjectEntry[]
  /** Reads a piece of a file. @throws BridgeError STATE_REFUSED for a bad path, STATE_NOT_FOUND */
  read(wanted: string, piece: { offset: number; length: number }): Promise<{ data: Buffer; sizeBytes: number }>
  /** Delete a file, or a folder and its content. @throws BridgeError STATE_NOT_FOUND, STATE_REFUSED for a bad path */
  remove(wanted: string): Promise<void>
}

/** A file or folder. `path` is relative to `/projects`, with `/` on every system. */
export interface ProjectEntry {
  path: string
  isFolder: boolean
  sizeBytes: number
  /** Changes with the content. */
  stamp: string
  modifiedAt: Date
}

// State of one user: what the user's cells save, separate from that of all others, as far as the core knows it.
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/server'
import type { Kernel } from '../cell/kernel/kernel.ts'
import type { Mask } from '../cell/masking-part.ts'
import type { ShownResult } from '../cell/render/render-result.ts'
import type { KeptOrigins } from '../util/stores/kept-origins.ts'
import type { Store } from '../util/stores/store.ts'
import type { Log } from '../util/log.ts'
import { Part } from '../util/part.ts'
import type { ToolDoc } from './catalog/arguments/tool-doc.ts'
import type { SearchOptions } from './catalog/catalog-options.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { Wordings } from './catalog/search-part.ts'
import type { SessionFlow } from './flow-part.ts'

export interface UserState {
  store: Store
  /** Where the content of what is saved came from. */
  origins: KeptOrigins
  /** Undefined if cells have no `/projects`. */
  projects: Projects | undefined
  /** Undefined in a build that lacks it. */
  saved: Saved | undefined
}

/** Artifacts and saved tools. */
export const saved = new Part<SavedPart>('artifacts and saved tools')

export interface SavedPart {
  openSaved: (options: SavedOptions) => Saved
}

export interface SavedOptions {
  store: Store
  cacheFolder: string
  /** Everything about the sandboxes that affects imports. */
  environment: unknown
  /** Gives a fresh kernel, for tools that are tried. */
  takeKernel: () => Promise<Kernel>
  log: Log
}

export interface Saved {
  /** Searches servers' tools and saved tools, in one ranking. Notes tell of broken ones. */
  search(
    query: Wordings,
    options: SearchOptions,
    reader: {
      catalog: Catalog
      flow: SessionFlow | undefined
      session: { tellOnce(note: string): void }
      signal: AbortSignal
    },
  ): Promise<ToolDoc[]>
  /** A line about each saved tool. */
  lines(flow?: SessionFlow): Promise<string[]>
  /** The same result with artifacts in place of its media. Never rejects: a note says what could not be saved. */
  linkPictures(result: ShownResult): Promise<ShownResult>
  /** Newest first, with the names unmasked. @throws BridgeError MASK_UNAVAILABLE */
  listResources(masker: ReadMasker | undefined): Promise<{ resources: Resource[]; names: string[] }>
  /** The content of an artifact; undefined for another URI. @throws BridgeError STATE_NOT_FOUND, MASK_UNAVAILABLE */
  readResource(
    uri: string,
    masker: ReadMasker | undefined,
  ): Promise<{ read: ReadResourceResult; data: Buffer; sha256: string } | undefined>
}

/** Replaces personal data with tokens in what the model reads, and turns tokens in names back into the names. */
export interface ReadMasker {
  /** @throws BridgeError MASK_UNAVAILABLE */
  masked<T>(work: (mask: Mask) => T): Promise<T>
  /** What a text with tokens can mean: one text, or several when tokens may be those of several sessions. */
  meanings(text: string): readonly string[]
}

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

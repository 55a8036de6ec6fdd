// What a catalog is made with, and what it is asked.
import type { ToolAccess } from '../../config/rules/policy.ts'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import type { Store } from '../../util/stores/store.ts'
import type { SkippedTool, ToolChanges, UpstreamTool } from '../../upstream/upstream.ts'
import type { Log } from '../../util/log.ts'
import type { FindOptions } from './search-part.ts'
import type { Offerings } from './model/catalog-offering.ts'
import type { CatalogTool } from './model/catalog-tool.ts'
import type { ServerRecord } from './server-record.ts'
import type { DocOptions } from './tool-docs.ts'

export interface SearchOptions extends FindOptions, DocOptions {
  /** True names of the servers to search; missing means all. */
  servers?: readonly string[]
}

/** What others may ask of a record: the catalog alone changes it. */
export type KnownFacts = Readonly<
  Omit<ServerRecord, 'update' | 'updateOfferings' | 'accept' | 'fail' | 'erred' | 'learn' | 'flush'>
>

export interface ListedTools {
  tools: readonly UpstreamTool[]
  instructions?: string | undefined
  skipped?: readonly SkippedTool[]
}

export interface CatalogOptions {
  definitions: readonly ServerDefinition[]
  /** Lists a server's tools, starting it if necessary. @param again asks it, whatever it has said before */
  listTools: (server: string, signal: AbortSignal, again: boolean) => Promise<ListedTools>
  /** Lists resources and prompts of a server that was just listed. Failures are not reported to the caller. */
  listOfferings?: (server: string, signal: AbortSignal) => Promise<Offerings>
  /** State of a server, for `servers()`. */
  state?: (server: string) => string
  store: Store
  /** What the start of a server depends on, see start-inputs.ts. Missing: its definition alone. */
  startInputs?: (definition: ServerDefinition) => string
  /** The user's home folder, for arguments of servers that begin with `~`. */
  home?: string
  /** What the rules say about a tool: denied tools are hidden, and tools that ask are marked. */
  accessOf?: (tool: CatalogTool) => ToolAccess
  toolChanges?: (server: string) => ToolChanges
  /** What the clients can be asked now. Missing: nothing. */
  abilities?: () => string
  /** How long a search waits for servers that were never listed, in milliseconds. */
  firstIndexingWaitMs?: number
  log: Log
  /** Milliseconds since 1970. */
  now?: () => number
}

export interface KnownServer {
  name: string
  alias: string
  /** One line: from the configuration, otherwise from the server. */
  description: string
  state: string
  /** Number of tools; missing when it was never listed. */
  toolCount?: number
  problem?: string
}

/** A server whose tools are unknown. */
export interface Unsearched {
  name: string
  reason: string
  /** Its last listing failed; otherwise it may be listed at any moment. */
  isBroken: boolean
}

// What the catalog knows about one server without starting it.
import type { Failure, ServerError } from './toolbook.ts'
import type { SkippedTool } from '../../upstream/upstream.ts'
import type { CatalogTool } from './model/catalog-tool.ts'

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

export interface ServerDetails extends KnownServer {
  /** The description without the number of tools. */
  about: string
  tools: CatalogTool[]
  /** Entries of its list that no cell can call. */
  skipped: readonly SkippedTool[]
  instructions: string | undefined
  /** When the tools were read, in milliseconds since 1970. */
  fetchedAt: number | undefined
  failure: Failure | undefined
  /** Why it last exited or failed to start, whether or not it works now. */
  lastError: ServerError | undefined
}

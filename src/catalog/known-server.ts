// What the catalog says of one server, without starting it.
import type { Failure, ServerError } from './disk-cache.ts'
import type { CatalogTool } from './model/catalog-tool.ts'

export interface KnownServer {
  name: string
  alias: string
  /** One line: the config's words, else the server's own. */
  description: string
  state: string
  /** How many tools it has; missing when it was never asked. */
  toolCount?: number
  /** Why it could not be indexed the last time. */
  problem?: string
}

/** A server whose tools are not known. */
export interface Unsearched {
  name: string
  reason: string
  /** It has failed; otherwise it may answer any moment. */
  isBroken: boolean
}

export interface ServerDetails extends KnownServer {
  tools: CatalogTool[]
  instructions: string | undefined
  /** When the tools were read, in milliseconds since 1970. */
  fetchedAt: number | undefined
  failure: Failure | undefined
  /** Why it last ended or could not be started, whether or not it works now. */
  lastError: ServerError | undefined
}

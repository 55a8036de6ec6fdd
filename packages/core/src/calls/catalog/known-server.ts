// What the catalog knows about one server without starting it.

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

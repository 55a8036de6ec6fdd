// The lines of a client, over stdio or through its relay. Loads no MCP package, because a relay has none.

/** Of one message. A longer one ends the connection. */
export const MAX_LINE_BYTES = 32 * 2 ** 20

// All sources of server definitions, in order of precedence: the first one to define a name keeps it.
import { CLIENTS, clients } from './clients-part.ts'
import { configMcp, mcpServers, mcps, serversConfig } from './own-places.ts'
import type { Reader } from './reader.ts'

const BEFORE = [mcps, serversConfig, configMcp]
const AFTER = [mcpServers]

/** The names that MCP_BRIDGE_SOURCES accepts. */
export const SOURCE_NAMES: readonly string[] = [
  ...BEFORE.map(({ client }) => client),
  ...CLIENTS,
  ...AFTER.map(({ client }) => client),
]

/**
 * Selects readers by a list of names: the named ones, or all with `all` or with only `-name`s, without every `-name`.
 * @throws BridgeError CONFIG_INVALID if it names a client, and this build reads no files of clients
 */
export async function chosenReaders(sources: readonly string[]): Promise<Reader[]> {
  const named = sources.filter((source) => !source.startsWith('-'))
  const all = named.length === 0 || named.includes('all')
  const isNamed = CLIENTS.some((client) => named.includes(client))
  const found = isNamed || (all && clients.isHere) ? (await clients.for('MCP_BRIDGE_SOURCES')).CLIENT_READERS : []
  return [...BEFORE, ...found, ...AFTER].filter(
    ({ client }) => (all || named.includes(client)) && !sources.includes(`-${client}`),
  )
}

// What a person is told about servers in more than one command.
import type { Bridge } from '../bridge.ts'
import { count } from '../text/count.ts'

/** What to do where nothing is configured. */
export const NO_SERVERS =
  'No MCP server is configured. Put some under "mcpServers" in a file in ~/MCPs, for example ~/MCPs/servers.json:\n' +
  '  { "mcpServers": { "time": { "command": "uvx", "args": ["mcp-server-time"] } } }'

/** A sentence on the servers of this project that may not be started; none where there are none. */
export function untrustedNote({ discovered: { untrusted } }: Pick<Bridge, 'discovered'>): string[] {
  if (untrusted.length === 0) return []
  const names = untrusted.map(({ name }) => name).join(', ')
  return [
    `${count(untrusted.length, 'server')} of this project may not be started yet: ${names}. Allow: sandbridge trust`,
  ]
}

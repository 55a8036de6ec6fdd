// What a person is told about servers in more than one command.
import type { Bridge } from '../bridge.ts'
import { count } from '../text/count.ts'

/** What to do where nothing is configured. */
export const NO_SERVERS =
  'No MCP server is configured. Add entries under "mcpServers" in a file in ~/MCPs, for example ~/MCPs/servers.json:\n' +
  '  { "mcpServers": { "time": { "command": "uvx", "args": ["mcp-server-time"] } } }'

/** A sentence on the servers of this project that may not be started; none where there are none. */
export function untrustedNote({ discovered: { untrusted } }: Pick<Bridge, 'discovered'>): string[] {
  if (untrusted.length === 0) return []
  const names = untrusted.map(({ name }) => name).join(', ')
  return [
    `${count(untrusted.length, 'server')} of this project not trusted yet: ${names}. Allow with: sandbridge trust`,
  ]
}

/** What a search did not look into, and how that is mended; no lines where it looked everywhere. */
export function unsearchedLines(unsearched: readonly { name: string; reason: string; isBroken: boolean }[]): string[] {
  if (unsearched.length === 0) return []
  const lines = unsearched.map(({ name, reason }) => `Not searched: ${name}: ${shortReason(name, reason)}`)
  const isAnyNew = unsearched.some(({ isBroken }) => !isBroken)
  const names = unsearched.map(({ name }) => name).join(' ')
  return [
    ...lines,
    isAnyNew ? 'Ask them now: sandbridge index' : `Once it is fixed, ask again: sandbridge index ${names}`,
  ]
}

/** Why a server failed, where its name stands beside it. */
export function shortReason(name: string, reason: string): string {
  const start = [`Server '${name}' could not be started: `, `Server '${name}' `, `${name}: `].find((text) =>
    reason.startsWith(text),
  )
  return reason.slice(start?.length ?? 0)
}

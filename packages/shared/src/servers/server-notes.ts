// Notes about servers that several commands print.
import type { OpenTenant } from '@sandbridge/core/bridge'
import { shellWord } from '@sandbridge/core/config/secrets'
import { unreadFiles } from '@sandbridge/core/config'
import { count } from '@sandbridge/core/util/text'

/** What to do when no server is configured. A file that cannot be read may define some: `openBridge` has said so. */
export function noServers({ discovered: { skipped } }: Pick<OpenTenant, 'discovered'>): string {
  return unreadFiles(skipped).length > 0 ? 'The files that can be read define no MCP server.' : NO_SERVERS
}

const NO_SERVERS =
  'No MCP server is configured. Add entries under "mcpServers" in a file in ~/MCPs, for example ~/MCPs/servers.json:\n' +
  '  { "mcpServers": { "time": { "command": "uvx", "args": ["mcp-server-time"] } } }'

/** A sentence about the servers of this project that are not trusted; empty when there are none. */
export function untrustedNote({ discovered: { untrusted } }: Pick<OpenTenant, 'discovered'>): string[] {
  if (untrusted.length === 0) return []
  const names = untrusted.map(({ name }) => name).join(', ')
  return [
    `${count(untrusted.length, 'server')} of this project not trusted yet: ${names}. Allow with: sandbridge trust`,
  ]
}

/** Servers that a search did not cover, and how to fix that; empty when it covered all. */
export function unsearchedLines(unsearched: readonly { name: string; reason: string; isBroken: boolean }[]): string[] {
  if (unsearched.length === 0) return []
  const lines = unsearched.map(({ name, reason }) => `Not searched: ${name}: ${shortReason(name, reason)}`)
  const isAnyNew = unsearched.some(({ isBroken }) => !isBroken)
  const names = unsearched.map(({ name }) => shellWord(name)).join(' ')
  return [
    ...lines,
    isAnyNew ? 'Ask them now: sandbridge index' : `Once it is fixed, ask again: sandbridge index ${names}`,
  ]
}

/** Why a server failed, without its name, for output that shows the name separately. */
export function shortReason(name: string, reason: string): string {
  const start = [`Server '${name}' could not be started: `, `Server '${name}' `, `${name}: `].find((text) =>
    reason.startsWith(text),
  )
  return reason.slice(start?.length ?? 0)
}

// Tells which servers come from files of other MCP clients, which the user did not add here, and of unreadable files:
// else their servers would seem not to be configured.
import { firstOf } from '../../util/text/count.ts'
import { visibleInline } from '../../util/text/visible.ts'
import { OWN_SOURCES } from '../readers/own-places.ts'
import type { ServerDefinition, SkippedEntry } from '../entries/server-definition.ts'

const MAX_NAMES = 5

/** A file of another client, and its servers that cells can call. */
export interface ClientFile {
  client: string
  file: string
  names: string[]
}

/** The files of a project are left out: their user has trusted each. */
export function otherClientFiles(servers: readonly ServerDefinition[]): ClientFile[] {
  const files = new Map<string, ClientFile>()
  for (const { name, isProjects, source } of servers) {
    if (isProjects || OWN_SOURCES.has(source.client)) continue
    const known = files.get(source.file)
    if (known) known.names.push(name)
    else files.set(source.file, { ...source, names: [name] })
  }
  return [...files.values()]
}

/** Names the files and their servers, and how to leave a client out. Empty without such files. */
export function otherClientsNote(files: readonly ClientFile[]): string[] {
  const [first] = files
  if (first === undefined) return []
  return [
    `Cells can also call the servers in files of other MCP clients: ${files.map(clientFileText).join('; ')}. ` +
      `To leave a client out, set MCP_BRIDGE_SOURCES, such as MCP_BRIDGE_SOURCES=-${first.client}, for the bridge.`,
  ]
}

/** `cursor (/home/ann/.cursor/mcp.json): github, jira` */
export function clientFileText({ client, file, names }: ClientFile): string {
  return `${client} (${visibleInline(file)}): ${firstOf(names, MAX_NAMES)}`
}

/** Two sentences for each file: its path, the line and column where they are known, the cause, and what to do. */
export function unreadFiles(skipped: readonly SkippedEntry[]): string[] {
  return skipped
    .filter(({ kind }) => kind === 'unread')
    .map(({ file, reason }) => `${visibleInline(file)} ${reason}. Its servers are left out until it is corrected.`)
}

// Claude Code: ~/.claude.json with its user scope (mcpServers) and local scope (projects[folder].mcpServers), of which
// the user has switched some off in a folder (projects[folder].disabledMcpServers), a project's .mcp.json, and the
// locations of older versions.
import { type ConfigObject } from '@sandbridge/core/config/formats'
import { comparable } from '@sandbridge/core/util/files'
import { isRecord, valueAt } from '@sandbridge/core/util/json/json.ts'
import type { ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, inHome, inProject } from '@sandbridge/core/config'
import { inFolderOf, withCallback } from './places.ts'
import type { HostPaths, Reader } from '@sandbridge/core/config'

const SYNTAX = { braces: true }

export const claudeCode: Reader = {
  client: 'claude-code',
  format: 'jsonc',
  closed: { home: ['.claude', '.claude.json'], project: ['.claude', '.mcp.json'] },
  locations: (place) => [
    inFolderOf(place, 'CLAUDE_CONFIG_DIR', '.claude.json', inHome(place, '.claude.json')),
    inHome(place, '.claude', 'claude_code_config.json'),
    ...(place.platform === 'darwin'
      ? ['Claude Code', 'Claude'].map((folder) =>
          inHome(place, 'Library', 'Application Support', folder, 'claude_code_config.json'),
        )
      : []),
    inProject(place, '.mcp.json'),
    inProject(place, '.claude', 'claude_code_config.json'),
    inProject(place, 'claude_code_config.json'),
  ],
  entries(document, place) {
    // The narrower scope comes first and so keeps its names, as in Claude Code itself.
    const project = projectOf(document, place)
    const off = valueAt(project, 'disabledMcpServers')
    const map = (raw: ConfigObject, name: string): ServerEntry => ({
      ...raw,
      oauth: withCallback(raw['oauth'], (port) => port && `http://localhost:${port}/callback`),
      ...(Array.isArray(off) && off.includes(name) && { disabled: true }),
    })
    const local = entriesOf(valueAt(project, 'mcpServers'), SYNTAX, map)
    const user = entriesOf(valueAt(document, 'mcpServers'), SYNTAX, map)
    return local === undefined && user === undefined ? undefined : [...(local ?? []), ...(user ?? [])]
  },
}

/** What holds for the current directory only. On Windows, its key may use the other slash. */
function projectOf(document: ConfigObject, place: HostPaths): unknown {
  const projects = valueAt(document, 'projects')
  const key = isRecord(projects) ? Object.keys(projects).find((folder) => sameFolder(folder, place)) : undefined
  return key === undefined ? undefined : valueAt(projects, key)
}

function sameFolder(key: string, { cwd }: HostPaths): boolean {
  const plain = (folder: string): string => comparable(folder).replace(/(?<=.)\/$/, '')
  return plain(key) === plain(cwd)
}

// OpenCode: `mcp` of opencode.json(c): {mcp: {name: …, enabled}} or {mcp: {servers: {name: …, disabled}}}.
import path from 'node:path'
import { type ConfigObject } from '@sandbridge/core/config/formats'
import { isRecord, valueAt } from '@sandbridge/core/util/json/json.ts'
import type { ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, inHome, inProject } from '@sandbridge/core/config'
import { inXdgConfig, withCallback } from './places.ts'
import { plainServer, restricted, type Rules } from './tool-rules.ts'
import type { ConfigLocation, Reader } from '@sandbridge/core/config'

const NAMES = ['opencode.json', 'opencode.jsonc']

export const opencode: Reader = {
  client: 'opencode',
  format: 'jsonc',
  closed: { home: ['.config/opencode', '.opencode.json'], project: ['.opencode'] },
  locations: (place) => {
    const named = place.env['OPENCODE_CONFIG']
    const user: ConfigLocation[] = named ? [{ path: named, scope: 'user' }] : []
    return [
      ...user,
      ...NAMES.map((name) => inXdgConfig(place, 'opencode', name)),
      inHome(place, '.opencode.json'),
      ...NAMES.map((name) => inProject(place, name)),
      ...NAMES.map((name) => inProject(place, '.opencode', name)),
    ]
  },
  entries(document, place, file) {
    // A path counts from the folder of the file.
    const ofPlatform = place.platform === 'win32' ? path.win32 : path.posix
    const inFolder = (name: string): string =>
      file === undefined || name.startsWith('~/') ? name : ofPlatform.resolve(ofPlatform.dirname(file), name)
    const rules = rulesOf(document)
    return entriesOf(serverTable(document), { curly: true, resolve: inFolder }, (raw, name) => ({
      ...toEntry(raw),
      // A tool has the name of its server and `_` in front.
      ...restricted(raw, [`${plainServer(name)}_`], rules),
    }))
  },
}

function serverTable(document: ConfigObject): unknown {
  // `~/.opencode.json` is older than both forms and has `mcpServers`.
  if (document['mcp'] === undefined) return valueAt(document, 'mcpServers')
  const servers = valueAt(document, 'mcp', 'servers')
  // In the older form, a server may be called "servers".
  const isNewShape = isRecord(servers) && typeof servers['type'] !== 'string'
  return isNewShape ? servers : valueAt(document, 'mcp')
}

/** Whether tools with such names are on: `tools`, and `permission`, which is its newer form. */
function rulesOf(document: ConfigObject): Rules {
  const { tools, permission } = document
  const rules = typeof permission === 'string' ? { '*': permission } : permission
  return [tools, rules].flatMap((table) =>
    Object.entries(isRecord(table) ? table : {}).flatMap(([pattern, value]): [string, boolean][] =>
      typeof value === 'boolean' || typeof value === 'string' ? [[pattern, value !== false && value !== 'deny']] : [],
    ),
  )
}

function toEntry(raw: ConfigObject): ServerEntry {
  return {
    ...raw,
    startTimeoutMs: raw['timeout'],
    oauth: withCallback(raw['oauth'], (port = '19876') => `http://127.0.0.1:${port}/mcp/oauth/callback`),
  }
}

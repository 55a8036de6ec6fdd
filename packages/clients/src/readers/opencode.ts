// OpenCode: `mcp` of opencode.json(c): {mcp: {name: …, enabled}} or {mcp: {servers: {name: …, disabled}}}.
import path from 'node:path'
import { type ConfigObject } from '@sandbridge/core/config/formats'
import { isRecord, valueAt } from '@sandbridge/core/util/json/json.ts'
import type { ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, inHome, inProject } from '@sandbridge/core/config'
import { inXdgConfig, withCallback } from './places.ts'
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
      ...restricted(raw, name, rules),
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

type Rules = [pattern: string, isOn: boolean][]
type Restrictions = Pick<ServerEntry, 'includeTools' | 'excludeTools'>
const MAX_RULES = 1_000

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

/** A tool has the name of its server and `_` in front. Of the rules about it, the last one counts. */
function restricted({ includeTools, excludeTools }: ServerEntry, server: string, rules: Rules): Restrictions {
  const prefix = `${server.replaceAll(/[^\w-]/g, '_')}_`
  // More are from no person: all is off.
  let included: Set<string> | undefined = rules.length > MAX_RULES ? new Set() : undefined
  let excluded = new Set<string>()
  for (const [pattern, isOn] of rules.slice(0, MAX_RULES)) {
    const star = pattern.indexOf('*')
    const isOfServer = pattern.startsWith(prefix)
    if (!isOfServer && (star === -1 || !prefix.startsWith(pattern.slice(0, star)))) continue
    const rest = pattern.slice(isOfServer ? prefix.length : star)
    if (rest === '*' || rest === '*_*') {
      included = isOn ? undefined : new Set()
      excluded = new Set()
    }
    for (const name of rest === '*' ? [] : rest.startsWith('*_') ? [rest, rest.slice(2)] : [rest]) {
      ;(isOn ? included : excluded)?.add(name)
      ;(isOn ? excluded : included)?.delete(name)
    }
  }
  const own = Array.isArray(includeTools) ? includeTools.map(String) : undefined
  return {
    ...(included && { includeTools: own?.filter((one) => included.has(one)) ?? [...included] }),
    ...(excluded.size > 0 && { excludeTools: [excludeTools ?? [], ...excluded].flat() }),
  }
}

function toEntry(raw: ConfigObject): ServerEntry {
  return {
    ...raw,
    startTimeoutMs: raw['timeout'],
    oauth: withCallback(raw['oauth'], (port = '19876') => `http://127.0.0.1:${port}/mcp/oauth/callback`),
  }
}

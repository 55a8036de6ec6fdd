// Continue: `mcpServers` of config.yaml, which is a list of servers with names, and a folder of the user and of a
// project with such files, and with files that were copied from other clients.
import { type ConfigObject } from '@sandbridge/core/config/formats'
import { isRecord, valueAt } from '@sandbridge/core/util/json/json.ts'
import type { ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, inHome, inProject, type Reader } from '@sandbridge/core/config'

/** `${{ secrets.NAME }}`: kept by Continue. */
const SECRET = /\{\{\s*secrets\./

const BLOCKS = /\.(json|ya?ml)$/i

export const continueDev: Reader = {
  client: 'continue',
  format: 'yaml',
  closed: { home: ['.continue'], project: ['.continue'] },
  locations: (place) => [
    inHome(place, '.continue', 'config.yaml'),
    { ...inHome(place, '.continue', 'mcpServers'), kind: 'folder', names: BLOCKS },
    { ...inProject(place, '.continue', 'mcpServers'), kind: 'folder', names: BLOCKS },
  ],
  entries: (document) => entriesOf(byName(valueAt(document, 'mcpServers')), {}, toEntry),
}

/** The first of a name counts. */
function byName(servers: unknown): unknown {
  if (!Array.isArray(servers)) return servers
  const named = new Map<string, unknown>()
  for (const [index, one] of servers.entries()) {
    const name = nameOf(one) ?? `server ${index + 1}`
    if (!named.has(name)) named.set(name, one)
  }
  return Object.fromEntries(named)
}

function nameOf(server: unknown): string | undefined {
  const name = isRecord(server) ? server['name'] : undefined
  return typeof name === 'string' ? name : undefined
}

function toEntry(raw: ConfigObject): ServerEntry {
  if (SECRET.test(JSON.stringify(raw))) return { unusable: 'has a secret in it that only Continue knows' }
  return { ...raw, headers: raw['headers'] ?? valueAt(raw['requestOptions'], 'headers') }
}

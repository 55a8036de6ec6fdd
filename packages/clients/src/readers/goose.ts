// Goose: `extensions` of config.yaml. Those built into Goose are no MCP servers that others could start.
import type { ConfigObject } from '@sandbridge/core/config/formats'
import { isRecord, mapTexts } from '@sandbridge/core/util/json/json.ts'
import type { ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, type Reader } from '@sandbridge/core/config'
import { inAppData, inXdgConfig, secondsToMs } from './places.ts'

const STARTABLE = new Set(['stdio', 'sse', 'streamable_http'])

export const goose: Reader = {
  client: 'goose',
  format: 'yaml',
  closed: { home: ['.config/goose'], project: [] },
  locations: (place) => [
    place.platform === 'win32'
      ? inAppData(place, 'Block', 'goose', 'config', 'config.yaml')
      : inXdgConfig(place, 'goose', 'config.yaml'),
  ],
  entries(document) {
    const { extensions } = document
    const table = isRecord(extensions)
      ? Object.fromEntries(Object.entries(extensions).map(([name, one]) => [name, withHeaders(one)]))
      : extensions
    return entriesOf(table, { braces: true }, toEntry)
  },
}

/** Its texts in `headers`, where Goose fills in variables of its own form, from `envs` and those of `env_keys`. */
function withHeaders(extension: unknown): unknown {
  if (!isRecord(extension) || !isRecord(extension['headers'])) return extension
  const { envs, env_keys: keys } = extension
  const fill = (text: string): string =>
    text.replace(/\$\{\s*(\w+)\s*\}|\$(\w+)/g, (whole, braced?: string, bare?: string) => {
      const name = braced ?? bare ?? ''
      const own = isRecord(envs) && Object.hasOwn(envs, name) ? envs[name] : undefined
      if (typeof own === 'string') return own
      return Array.isArray(keys) && keys.includes(name) ? `\${${name}}` : whole
    })
  return { ...extension, headers: mapTexts(extension['headers'], fill) }
}

function toEntry(raw: ConfigObject & ServerEntry): ServerEntry {
  if (typeof raw['type'] === 'string' && !STARTABLE.has(raw['type'])) return { unusable: 'is built into Goose' }
  return {
    ...raw,
    // An empty list is that of an extension whose tools were never chosen.
    includeTools:
      Array.isArray(raw['available_tools']) && raw['available_tools'].length === 0 ? null : raw.includeTools,
    callTimeoutMs: secondsToMs(raw['timeout']),
  }
}

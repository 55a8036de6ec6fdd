// LibreChat: `mcpServers` of librechat.yaml in the folder of an installation. What stands for the user who is signed in
// there has no meaning here.
import { type ConfigObject, valueAt } from '@sandbridge/core/config/formats'
import type { ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, inProject, type Reader } from '@sandbridge/core/config'

const OF_USER = /\{\{\w+\}\}/

export const librechat: Reader = {
  client: 'librechat',
  format: 'yaml',
  closed: { home: [], project: [] },
  locations: (place) => [inProject(place, 'librechat.yaml')],
  entries: (document) => entriesOf(valueAt(document, 'mcpServers'), { braces: true }, toEntry),
}

function toEntry(raw: ConfigObject): ServerEntry {
  if (OF_USER.test(JSON.stringify(raw)))
    return { unusable: 'has a value in it that each user of LibreChat enters there' }
  return {
    ...raw,
    // As there: a URL without a type is an old SSE one.
    type: raw['type'] ?? (raw['url'] === undefined ? undefined : 'sse'),
    startTimeoutMs: raw['initTimeout'],
    callTimeoutMs: raw['timeout'],
  }
}

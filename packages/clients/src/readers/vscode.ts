// VS Code: `servers` and `inputs` of mcp.json in the user's profile and in .vscode/, and `mcp.servers` of the
// settings.json of early versions. An input is a value that VS Code asks its user for. The bridge uses the environment,
// then asks in the terminal (see expand.ts); it knows the default.
import { type ConfigObject } from '@sandbridge/core/config/formats'
import { isRecord, valueAt } from '@sandbridge/core/util/json/json.ts'
import { type ServerEntry, translate } from '@sandbridge/core/config/entries'
import { entriesOf, inProject, type Reader } from '@sandbridge/core/config'
import { inAppData } from './places.ts'

export const vscode: Reader = {
  client: 'vscode',
  format: 'jsonc',
  closed: { home: ['.config/Code', '.config/Code - Insiders'], project: ['.vscode'] },
  locations: (place) => [
    ...['Code', 'Code - Insiders'].flatMap((product) => [
      inAppData(place, product, 'User', 'mcp.json'),
      inAppData(place, product, 'User', 'settings.json'),
    ]),
    inProject(place, '.vscode', 'mcp.json'),
    inProject(place, '.vscode', 'settings.json'),
  ],
  entries(document) {
    const home = isRecord(document['mcp']) ? document['mcp'] : document
    const inputs = inputDefaults(home)
    return entriesOf(valueAt(home, 'servers'), { env: true, folders: true, inputs }, (raw) => ({
      ...raw,
      inputs: home['inputs'],
      ...sandboxOf(raw, home['sandbox']),
    }))
  },
}

/** Applies only with `sandboxEnabled`. Settings that a server lacks come from those shared by all, beside `servers`. */
function sandboxOf(raw: ConfigObject, shared: unknown): Pick<ServerEntry, 'sandbox' | 'sandboxEnabled'> {
  if (raw['sandboxEnabled'] === undefined) return { sandbox: undefined }
  const own = raw['sandbox']
  const common = translate(shared, { env: true, folders: true })
  return { sandbox: isRecord(own) && isRecord(common) ? { ...common, ...own } : (own ?? common) }
}

function inputDefaults(home: ConfigObject): Record<string, string> {
  const inputs = home['inputs']
  if (!Array.isArray(inputs)) return {}
  return Object.fromEntries(
    inputs.flatMap((input): [string, string][] => {
      const id = valueAt(input, 'id')
      const standard = valueAt(input, 'default')
      return typeof id === 'string' && typeof standard === 'string' ? [[id, standard]] : []
    }),
  )
}

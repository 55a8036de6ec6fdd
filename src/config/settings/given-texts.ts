// The texts of settings from environment variables and settings.json, before they are parsed. Several settings may
// share a variable: `MCP_BRIDGE_POOL="1 max=8"` has the text `1` for one and `8` for the other.
import { nearestName } from '../../util/text/did-you-mean.ts'
import { idOf, type NamedSetting } from './setting-kinds.ts'

/** What settings.json says. */
export interface FileSettings {
  /** Each value as its variable would hold it, and its place: file, line and name. By `idOf` the setting. */
  texts: ReadonlyMap<string, { text: string; place: string }>
  /** Each makes the file invalid. */
  problems: readonly string[]
  warnings: readonly string[]
}

/** By `idOf` the setting. `place` is the variable, or file, line and name. */
export interface Given {
  texts: Map<string, { text: string; place: string }>
  problems: string[]
  remarks: string[]
}

const EMBEDDINGS = 'The search ranks by meaning without an endpoint.'
/** Variables that ended without a successor, and what holds instead. */
const ENDED: Readonly<Record<string, string>> = {
  MCP_BRIDGE_DURABLE_SANDBOXES:
    'Sandboxes of docker and podman end with their bridge; the resident bridge keeps sessions.',
  MCP_BRIDGE_LIVE:
    'No other program can watch a bridge any more: `sandbridge top` and the page are in the bridge that they show.',
  MCP_BRIDGE_CHECKPOINT: 'Write MCP_BRIDGE_SESSION=checkpoint.',
  MCP_BRIDGE_CLIENT_METADATA_URL: 'Write the address as "oauth": {"clientId": …} into the definitions of its servers.',
  MCP_BRIDGE_DURABLE_TIMEOUT:
    'A durable pod waits an hour for the next bridge. `sandbridge sandboxes` ends pods sooner.',
  MCP_BRIDGE_KEYCHAIN: 'MCP_BRIDGE_SIGN_IN_KEY=none turns the keychain off.',
  MCP_BRIDGE_LEARN_TYPES: 'Calls always teach names, types and words; values are never kept.',
  MCP_BRIDGE_OPEN: 'The log has a link to the page with questions, and `sandbridge approve` shows them in a terminal.',
  MCP_BRIDGE_OUTPUT_MEMORY: 'Output of over 128 MiB moves to the cache folder.',
  MCP_BRIDGE_EMBEDDINGS_URL: EMBEDDINGS,
  MCP_BRIDGE_EMBEDDINGS_MODEL: EMBEDDINGS,
  MCP_BRIDGE_EMBEDDINGS_KEY: EMBEDDINGS,
}

/** Whether a variable is told of as one that has ended. */
export function hasEnded(variable: string): boolean {
  return Object.hasOwn(ENDED, variable)
}

type Variables = Readonly<Record<string, string | undefined>>

/** A variable wins over settings.json; a blank one counts as missing. */
export function givenTexts(all: readonly NamedSetting[], variables: Variables, file: FileSettings): Given {
  const given: Given = { texts: new Map(file.texts), problems: [], remarks: [...file.warnings] }
  for (const [variable, instead] of Object.entries(ENDED))
    if (variables[variable]?.trim()) given.remarks.push(`${variable} has ended and is ignored. ${instead}`)
  for (const { name, setting } of all) {
    const { variable, member, formerly } = setting
    const old = formerly === undefined ? undefined : variables[formerly]?.trim()
    if (!old) continue
    given.texts.set(idOf(setting), { text: old, place: formerly! })
    given.remarks.push(
      `${formerly} has become a part of ${variable}. Write ${variable}=${member}=…, or ${name} in settings.json.`,
    )
  }
  for (const variable of new Set(all.map(({ setting }) => setting.variable))) {
    const text = variables[variable]?.trim()
    if (text) readVariable(variable, text, all, given)
  }
  return given
}

function readVariable(variable: string, text: string, all: readonly NamedSetting[], { texts, problems }: Given): void {
  const settings = all.filter(({ setting }) => setting.variable === variable).map(({ setting }) => setting)
  const members = settings.flatMap(({ member }) => member ?? [])
  if (members.length === 0) return void texts.set(variable, { text, place: variable })
  const main: string[] = []
  for (const word of text.split(/\s+/)) {
    const member = members.find((one) => word.startsWith(`${one}=`))
    if (member === undefined) main.push(word)
    else {
      const id = idOf({ variable, member })
      texts.set(id, { text: word.slice(member.length + 1), place: id })
    }
  }
  if (main.length === 0) return
  const wrong = main.find((word) => word.includes('='))
  if (wrong === undefined && settings.some(({ member }) => member === undefined))
    return void texts.set(variable, { text: main.join(' '), place: variable })
  // What follows a misspelt name may be a secret, and so may a word alone.
  const name = wrong?.split('=', 1)[0]
  const near = name === undefined ? undefined : nearestName(name, members)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  const what = name === undefined ? 'a word without a name' : JSON.stringify(name.slice(0, 80))
  problems.push(`${variable}: ${what} is not allowed.${hint} Allowed: name=value, with ${members.join(', ')}.`)
}

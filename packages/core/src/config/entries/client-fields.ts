// The names that MCP clients have for the fields of an entry, since people copy entries between files. What differs in
// meaning, such as `timeout`, is left to each reader. Pure.
import { isRecord } from '../../util/json/json.ts'
import { nearestName } from '../../util/text/did-you-mean.ts'
import type { ServerEntry } from './entry-schema.ts'

type Fields = Record<string, unknown>

/** Names are compared without case, `_`, `-` and `.`. With an `_` in front, people comment a field out. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/(?<=.)[_.-]/g, '')
}

/** By our name. The first that an entry has counts, ours last. */
const NAMES = {
  command: ['cmd'],
  cwd: ['workingdirectory', 'workdir'],
  url: ['serverurl', 'httpurl', 'uri', 'baseurl'],
  type: ['transporttype', 'transport'],
  inheritEnv: ['envvars', 'envkeys'],
  envFile: [],
} satisfies Partial<Record<keyof ServerEntry, string[]>>

/** Tables, which are merged: ours wins. */
const TABLES = {
  env: ['envs', 'environment', 'environmentvariables'],
  headers: ['httpheaders', 'requestheaders'],
}

/** Inside `oauth`, which Cursor calls `auth`, and some of them beside it. */
const OAUTH = {
  clientId: ['oauthclientid'],
  clientSecret: ['oauthclientsecret'],
  scopes: ['oauthscopes'],
  redirectUri: ['callbackurl', 'redirecturl'],
  resource: ['oauthresource'],
  authorizationUrl: ['authurl', 'authorizationendpoint'],
  tokenUrl: ['tokenendpoint'],
}

/** Each of them restricts the server, so all that an entry has count. The words stand alone in a table `tools`. */
const listsOf = (words: string): string[] =>
  words.split(' ').flatMap((word) => [`${word}tools`, `tools${word}`, `tool${word}`])
const INCLUDED = 'include included enabled available allowed allow permitted selected active exposed only'
const EXCLUDED = 'exclude excluded disabled denied deny disallowed blocked block forbidden inactive hidden'
const INCLUDE = [...listsOf(INCLUDED), 'tools', 'toolnames']
const EXCLUDE = listsOf(EXCLUDED)
const TOOL_TABLES = ['toolpermissions', 'toolsettings', 'toolconfigs']
const ON = 'enabled isactive active isenabled enable on'.split(' ')
const OFF = 'disabled isdisabled disable off inactive paused ispaused deactivated suspended archived deleted'.split(' ')
/** Fields that say it in a word. */
const STATES = ['status', 'state', 'mode']
const OFF_WORD = /^\s*(?:disabled?|off|inactive|paused|den(?:y|ied)|block(?:ed)?|forbid(?:den)?|false)\s*$/i

/** Names that begin like a restriction, and are none: they decide what a client asks its user about. */
const NO_RESTRICTIONS = ['disabledautoapprovetools', 'disabledreason', 'allowsampling']
const LIKE_RESTRICTION = new RegExp(
  [
    '^(?:disabl|disallow|deny|denied|exclud|allow|only|block|restrict|forbid|prohibit|quarantin|paused|readonly)',
    '^(?:permit.*|(?:bann|reject|suppress|mut|expos|includ)(?:e|ed)?|omit|skip(?:ped)?|ignored?|except|filters?|enabled?(?:for|in|on|when))$',
    '(?:white|black|allow|deny|block)list',
  ].join('|'),
)
/** What else fields about tools are about. */
const NO_LIST =
  /timeout|approv|trust|always|auto|confirm|prefix|count|max|hash|cach|discover|meta|descri|title|call|search|defer|choice|format/

const KNOWN = new Set([
  ...Object.values(NAMES).flat(),
  ...Object.values(TABLES).flat(),
  ...[INCLUDE, EXCLUDE, TOOL_TABLES, ON, OFF, NO_RESTRICTIONS].flat(),
  'envfile',
])

/** Whether some client has a field of this name. */
export function isKnownField(name: string): boolean {
  return KNOWN.has(plain(name))
}

/** Whether a field of this name, when it is true, switches the server on; undefined for a field that is no switch. */
export function switchesOn(name: string): boolean | undefined {
  return ON.includes(plain(name)) ? true : OFF.includes(plain(name)) ? false : undefined
}

/** Whether a field says in a word that the server is off. Clients also keep there what state it was in. */
export function saysOff(name: string, value: unknown): boolean {
  return STATES.includes(plain(name)) && typeof value === 'string' && OFF_WORD.test(value)
}

/** The known name that a field may have meant which begins like a restriction; undefined for any other field. */
export function meantRestriction(name: string, value?: unknown): string | undefined {
  const word = plain(name)
  const isAboutTools = word.includes('tool') && !NO_LIST.test(word) && !['boolean', 'number'].includes(typeof value)
  if (name.startsWith('_') || isKnownField(name) || !(isAboutTools || LIKE_RESTRICTION.test(word))) return undefined
  return (
    nearestName(name, ['includeTools', 'excludeTools', 'disabledTools', 'enabledTools', 'disabled']) ?? 'excludeTools'
  )
}

/** An entry with the fields of all clients under our names. Its own fields stay. @param raw with translated texts */
export function withOwnNames(raw: Fields): ServerEntry & Fields {
  const entry: Fields = { ...raw }
  const valuesOf = (names: readonly string[]): unknown[] => valuesIn(raw, names)
  for (const [own, names] of Object.entries(NAMES)) {
    const [given] = valuesOf([...names, plain(own)])
    if (given !== undefined && !(own === 'inheritEnv' && isRecord(given))) entry[own] = given
  }
  // opencode has one list of both.
  if (Array.isArray(entry['command'])) {
    const [command, ...words] = entry['command'] as unknown[]
    Object.assign(entry, { command, args: [...words, ...(Array.isArray(raw['args']) ? raw['args'] : [])] })
  }
  for (const [own, names] of Object.entries(TABLES)) {
    const tables = [...valuesOf(own === 'env' ? ['envvars'] : []).filter(isRecord), ...valuesOf([...names, own])].map(
      asTable,
    )
    if (tables.length > 0)
      entry[own] =
        tables.find((one) => !isRecord(one)) ??
        Object.fromEntries(tables.flatMap((one) => Object.entries(one as Fields)))
  }
  const derived = headersOf(raw)
  if (derived)
    entry['headers'] = isRecord(entry['headers'] ?? {})
      ? { ...derived, ...(entry['headers'] as Fields) }
      : entry['headers']
  const unusable = whyForeign(raw)
  if (unusable !== undefined) entry['unusable'] = unusable
  if (isRecord(raw['oauth'] ?? {})) Object.assign(entry, oauthIn(raw))
  if (raw['httpUrl'] !== undefined && raw['type'] === undefined) entry['type'] ??= 'http'
  if (Array.isArray(entry['inheritEnv']))
    entry['inheritEnv'] = entry['inheritEnv'].map((one) => (isRecord(one) ? (one['name'] ?? one) : one))
  return { ...entry, ...restrictionsOf(valuesOf) }
}

/** What has one of these names, in their order. */
function valuesIn(raw: Fields, names: readonly string[]): unknown[] {
  return names
    .flatMap((name) => Object.keys(raw).filter((key) => plain(key) === name && isGiven(raw[key])))
    .map((key) => raw[key])
}

/** A list of `NAME=value`, as opencode and Docker have it, or of `{name, value}`, as a table. */
function asTable(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  const pairs = value.map((pair: unknown) => {
    if (isRecord(pair)) return [pair['name'] ?? pair['key'], pair['value']]
    return /^([^=]+)=(.*)$/s.exec(String(pair))?.slice(1) ?? []
  })
  return pairs.every(([name]) => typeof name === 'string') ? Object.fromEntries(pairs as [string, unknown][]) : value
}

/** Codex names variables that hold headers. */
function headersOf(raw: Fields): Fields | undefined {
  const token = raw['bearer_token_env_var']
  const named = raw['env_http_headers']
  if (typeof token !== 'string' && !isRecord(named)) return undefined
  return {
    ...(typeof token === 'string' && { Authorization: `Bearer \${env:${token}}` }),
    ...(isRecord(named) &&
      Object.fromEntries(Object.entries(named).map(([header, name]) => [header, `\${env:${String(name)}}`]))),
  }
}

function oauthIn(raw: Fields): { oauth?: Fields } {
  const { auth, oauth } = raw
  const given: Fields = {
    ...(isRecord(auth) && valuesIn(auth, ['clientid']).length > 0 && auth),
    ...(isRecord(oauth) && oauth),
  }
  for (const [own, names] of Object.entries(OAUTH))
    given[own] ??= [...valuesIn(given, [plain(own), ...names]), ...valuesIn(raw, names)][0]
  return Object.values(given).some(isGiven) ? { oauth: given } : {}
}

/** Ways to authorize that only their own client has: without them, another access would be used than was meant. */
function whyForeign(raw: Fields): string | undefined {
  const has = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))
  const { authProviderType: provider, oauth } = raw
  const inner = isRecord(oauth) ? ['audiences', 'tokenParamName'].find((name) => has(oauth[name])) : undefined
  const isOther = has(provider) && provider !== 'dynamic_discovery'
  const field = [
    isOther && 'authProviderType',
    inner !== undefined && `oauth.${inner}`,
    raw['oauthPublicClient'] === false && 'oauthPublicClient false',
    raw['oauthGrantType'] === 'client_credentials' && 'oauthGrantType client_credentials',
  ].find((one) => one !== false)
  return field === undefined ? undefined : `has ${field}, which only its own client supports`
}

function restrictionsOf(
  valuesOf: (names: readonly string[]) => unknown[],
): Pick<ServerEntry, 'includeTools' | 'excludeTools'> {
  // Anthropic's API has a table with settings of its tools, and beside it what counts for the others.
  const tables = [
    ...valuesOf(['tools', 'configs', ...TOOL_TABLES]).filter(isRecord),
    ...valuesOf(['defaultconfig', 'defaulttoolsenabled']).map((all) => ({ '*': all })),
  ]
  const inTables = Object.entries(Object.assign({}, ...tables) as Fields)
  const isList =
    (words: string) =>
    ([name, value]: [string, unknown]) =>
      words.split(' ').includes(plain(name)) && Array.isArray(value)
  const listed = (words: string): unknown[] => inTables.filter(isList(words)).map(([, list]) => list)
  const on = inTables.filter(([, value]) => !isSwitchedOff(value)).map(([tool]) => tool)
  const off = inTables.filter(([, value]) => isSwitchedOff(value)).map(([tool]) => tool)
  const isAllOff = off.includes('*')
  const included = [
    ...valuesOf(INCLUDE).filter((value) => !tables.includes(value as Fields)),
    ...listed(INCLUDED),
    ...(isAllOff ? [on] : []),
  ]
  const excluded = [...valuesOf(EXCLUDE), ...listed(EXCLUDED), ...(off.length > 0 && !isAllOff ? [off] : [])]
  const unlisted = excluded.find((list) => !Array.isArray(list))
  return {
    ...(included.length > 0 && { includeTools: inAll(included) }),
    ...(excluded.length > 0 && { excludeTools: unlisted ?? excluded.flat().flatMap(withoutPrefix) }),
  }
}

/** With the name that a tool has where clients put the server's in front of it, it is still the tool. */
function withoutPrefix(tool: unknown): unknown[] {
  const name = typeof tool === 'string' ? /^mcp__.+?__(.+)$/.exec(tool)?.[1] : undefined
  return name === undefined ? [tool] : [tool, name]
}

/** Tools that each of several lists has. A value that is no list is refused later. */
function inAll(lists: readonly unknown[]): unknown {
  const [first, ...others] = lists.filter((list) => !(Array.isArray(list) && list.includes('*')))
  if (lists.some((list) => !Array.isArray(list))) return lists.find((list) => !Array.isArray(list))
  if (first === undefined) return lists[0]
  return (first as unknown[]).filter((tool) => others.every((list) => (list as unknown[]).includes(tool)))
}

/** A table switches tools off by a value of their own, or by a field or a word in it. */
function isSwitchedOff(value: unknown): boolean {
  if (!isRecord(value)) return value === false || value === 0 || (typeof value === 'string' && OFF_WORD.test(value))
  return Object.entries(value).some(([name, inner]) => {
    const isOn = name === 'allowed' ? true : switchesOn(name)
    if (isOn === undefined) return [...STATES, 'permission', 'policy'].includes(plain(name)) && isSwitchedOff(inner)
    return isSwitchedOff(inner) === isOn
  })
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

// The names that MCP clients have for the fields of an entry: one table for the files of all of them, since people copy
// entries from one into another. What means different things in different clients, such as `timeout`, is left to the
// reader of each. Pure.
import { isRecord } from '../../util/json/json.ts'
import { nearestName } from '../../util/text/did-you-mean.ts'

/**
 * The fields of an entry under this project's names, to which readers map their clients' names. Values are unchecked.
 */
export interface ServerEntry {
  /** Why only the client itself could start it. */
  unusable?: string
  type?: unknown
  command?: unknown
  args?: unknown
  env?: unknown
  cwd?: unknown
  envFile?: unknown
  inheritEnv?: unknown
  url?: unknown
  headers?: unknown
  headersHelper?: unknown
  oauth?: unknown
  description?: unknown
  trusted?: unknown
  disabled?: unknown
  enabled?: unknown
  includeTools?: unknown
  excludeTools?: unknown
  permissions?: unknown
  inputs?: unknown
  sandbox?: unknown
  sandboxEnabled?: unknown
  shared?: unknown
  startTimeoutMs?: unknown
  callTimeoutMs?: unknown
}

type Fields = Record<string, unknown>

/** By our name. The first that an entry has counts, ours last. */
const NAMES = {
  command: ['cmd'],
  cwd: ['working_directory', 'workingDirectory', 'workdir'],
  url: ['serverUrl', 'httpUrl', 'uri', 'baseUrl'],
  type: ['transportType', 'transport'],
  inheritEnv: ['env_vars', 'env_keys'],
  envFile: ['env_file'],
} satisfies Partial<Record<keyof ServerEntry, string[]>>

/** Tables, which are merged: ours wins. */
const TABLES = { env: ['envs', 'environment'], headers: ['http_headers', 'httpHeaders', 'requestHeaders'] }

/** Each of them restricts the server, so all that an entry has count. */
const RESTRICTIONS = {
  includeTools:
    'include_tools includedTools enabledTools enabled_tools availableTools available_tools allowedTools allowed_tools tools onlyTools',
  excludeTools:
    'exclude_tools excludedTools disabledTools disabled_tools deniedTools denied_tools disallowedTools disallowed_tools blockedTools blocked_tools',
  enabled: 'isActive is_active active isEnabled is_enabled enable',
  disabled: 'isDisabled is_disabled disable',
}
const INCLUDE = RESTRICTIONS.includeTools.split(' ')
const EXCLUDE = RESTRICTIONS.excludeTools.split(' ')
/** Switches, by whether they switch the server on. */
export const SWITCHES: readonly (readonly [names: readonly string[], isOn: boolean])[] = [
  [['enabled', ...RESTRICTIONS.enabled.split(' ')], true],
  [['disabled', ...RESTRICTIONS.disabled.split(' ')], false],
]

/** Names that begin like a restriction, and are none: they decide what a client asks its user about. */
const NO_RESTRICTIONS = new Set(['disabledAutoApproveTools', 'disabledReason', 'allowSampling', 'allow_sampling'])
const LIKE_RESTRICTION = /^_*(?:disabl|disallow|deny|denied|exclud|allow|only|block|restrict|forbid|prohibit)/i

const KNOWN = new Set([
  ...Object.values(NAMES).flat(),
  ...Object.values(TABLES).flat(),
  ...INCLUDE,
  ...EXCLUDE,
  ...SWITCHES.flatMap(([names]) => names),
  ...NO_RESTRICTIONS,
])

/** Whether some client has a field of this name. */
export function isKnownField(name: string): boolean {
  return KNOWN.has(name)
}

/** The known name that a field may have meant which begins like a restriction; undefined for any other field. */
export function meantRestriction(name: string): string | undefined {
  if (isKnownField(name) || !LIKE_RESTRICTION.test(name) || name.startsWith('_')) return undefined
  return nearestName(name, [...INCLUDE, ...EXCLUDE, 'includeTools', 'disabled']) ?? 'excludeTools'
}

/** An entry with the fields of all clients under our names. Its own fields stay. @param raw with translated texts */
export function withOwnNames(raw: Fields): ServerEntry & Fields {
  const entry: Fields = { ...raw }
  for (const [own, names] of Object.entries(NAMES)) {
    const given = names.find((name) => isGiven(raw[name]))
    if (given !== undefined) entry[own] = raw[given]
  }
  for (const [own, names] of Object.entries(TABLES)) {
    const tables = [...names, own].map((name) => asTable(raw[name])).filter(isGiven)
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
  if (raw['httpUrl'] !== undefined && raw['type'] === undefined) entry['type'] ??= 'http'
  if (Array.isArray(entry['inheritEnv']))
    entry['inheritEnv'] = entry['inheritEnv'].map((one) => (isRecord(one) ? (one['name'] ?? one) : one))
  return { ...entry, ...restrictionsOf(raw) }
}

/** A list of `NAME=value`, as opencode and Docker have it, as a table. */
function asTable(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  const pairs = value.map((pair) => /^([^=]+)=(.*)$/s.exec(String(pair)))
  return pairs.every((pair) => pair !== null) ? Object.fromEntries(pairs.map(([, name, text]) => [name!, text])) : value
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

function restrictionsOf(raw: Fields): Pick<ServerEntry, 'includeTools' | 'excludeTools'> {
  const [tools, switchedOff] = toolsOf(raw['tools'])
  const included = ['includeTools', ...INCLUDE].map((name) => (name === 'tools' ? tools : raw[name])).filter(isGiven)
  const excluded = [...['excludeTools', ...EXCLUDE].map((name) => raw[name]).filter(isGiven), ...switchedOff]
  const unlisted = excluded.find((list) => !Array.isArray(list))
  return {
    ...(included.length > 0 && { includeTools: inAll(included) }),
    ...(excluded.length > 0 && { excludeTools: unlisted ?? excluded.flat() }),
  }
}

/** Tools that each of several lists has. A value that is no list is refused later. */
function inAll(lists: readonly unknown[]): unknown {
  const [first, ...others] = lists.filter((list) => !(Array.isArray(list) && list.includes('*')))
  if (lists.some((list) => !Array.isArray(list))) return lists.find((list) => !Array.isArray(list))
  if (first === undefined) return lists[0]
  return (first as unknown[]).filter((tool) => others.every((list) => (list as unknown[]).includes(tool)))
}

/** `tools` is a list of those to include, or a table that switches some off. */
function toolsOf(value: unknown): [included: unknown, excluded: string[][]] {
  if (!isRecord(value)) return [value, []]
  const off = Object.entries(value).filter(
    ([, on]) => on === false || (isRecord(on) && (on['enabled'] === false || on['disabled'] === true)),
  )
  return [undefined, off.length > 0 ? [off.map(([tool]) => tool)] : []]
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

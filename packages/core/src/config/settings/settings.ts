// All settings of the bridge: the table, read from environment variables and settings.json into one typed, frozen
// object. Other code reads MCP_BRIDGE_* variables only before they are loaded, as the relay does. A test compares the
// table with docs/configuration.md.
import { BridgeError } from '../../errors.ts'
import { NO_HOME } from '../../util/files/own-home.ts'
import { nearestName } from '../../util/text/did-you-mean.ts'
import { processContext } from './client-context.ts'
import { readKeptPackages } from './kept-packages.ts'
import { DEFAULT_MEMORY_BYTES } from '../../util/process/tight-memory.ts'
import { isLoopback } from '../../util/net/loopback.ts'
import { CELL_SETTINGS, OUTPUT_SETTINGS } from './cells.ts'
import { type FileSettings, givenValues, type Values, variableOf } from './given-texts.ts'
import { FOLDER_SETTINGS, OBSERVABILITY_SETTINGS, USER_SETTINGS } from './folders-and-record.ts'
import { SANDBOX_SETTINGS } from './sandbox.ts'
import { PERMISSION_SETTINGS, SERVER_SETTINGS, SIGN_IN_SETTINGS } from './servers.ts'
import { parse, type Setting, type SettingContext } from './setting-kinds.ts'

export type { OtherLanguage } from './cells.ts'

/** By their headings in docs/configuration.md. */
export const SETTING_GROUPS = {
  Sandbox: SANDBOX_SETTINGS,
  'Cells and sessions': CELL_SETTINGS,
  Output: OUTPUT_SETTINGS,
  'Servers and search': SERVER_SETTINGS,
  Permissions: PERMISSION_SETTINGS,
  'Sign-in': SIGN_IN_SETTINGS,
  Observability: OBSERVABILITY_SETTINGS,
  Folders: FOLDER_SETTINGS,
  HTTP: USER_SETTINGS,
} as const

export type SettingTable = Readonly<Record<string, Setting<unknown>>>

/** Settings of features, by their heading. */
const ofFeatures = new Map<string, SettingTable>()

/** Called before settings are read. */
export function addSettings(heading: string, table: SettingTable): void {
  ofFeatures.set(heading, table)
}

/** A setting with its heading in the documentation, and its name in `Settings`. */
export interface NamedSetting extends Setting<unknown> {
  heading: string
  property: string
}

/** All settings, those of features last. */
export function namedSettings(): NamedSetting[] {
  return [...Object.entries<SettingTable>(SETTING_GROUPS), ...ofFeatures].flatMap(([heading, table]) =>
    Object.entries(table).map(([property, one]) => ({ heading, property, ...one })),
  )
}

export function settingsOf<T extends SettingTable>(settings: Settings, _table: T): ParsedIn<T> {
  // These were read with the bridge's.
  return settings as unknown as ParsedIn<T>
}

type ParsedIn<Table> = { readonly [K in keyof Table]: Table[K] extends Setting<infer T> ? T : never }
type Merged<Tables> = (Tables extends unknown ? (each: Tables) => void : never) extends (all: infer All) => void
  ? All
  : never

/** The settings of one bridge. Durations are in milliseconds (`…Ms`), sizes in bytes (`…Bytes`), paths absolute. */
export type Settings = ParsedIn<Merged<(typeof SETTING_GROUPS)[keyof typeof SETTING_GROUPS]>> & {
  /** Messages for the user that do not stop the bridge, such as a variable that looks misspelt. */
  readonly warnings: readonly string[]
  /** Where each setting that is not the default was set: its variable, or file, line and name. By its variable. */
  readonly setBy: Readonly<Record<string, string>>
  /** What holds in place of a default, or of what was set, because of another setting. By its variable. */
  readonly implied: Readonly<Record<string, string>>
}

const NO_FILE: FileSettings = { values: new Map(), problems: [], warnings: [] }

/** The user's home and system; what is missing is found out. */
export type Machine = Partial<Pick<SettingContext, 'home' | 'platform' | 'isRoot'>>

export function settingContext(env: Record<string, string | undefined>, machine: Machine = {}): SettingContext {
  return {
    env,
    home: machine.home ?? processContext().home,
    platform: machine.platform ?? process.platform,
    isRoot: machine.isRoot ?? process.getuid?.() === 0,
  }
}

/**
 * Reads all settings. A variable wins over settings.json; a blank one counts as missing. MCP_BRIDGE_TIMEOUT never
 * exceeds MCP_BRIDGE_MAX_TIMEOUT.
 * @throws BridgeError CONFIG_INVALID that names every setting with an invalid value, the value, and what is allowed.
 */
export function readSettings(
  variables: Record<string, string | undefined>,
  machine: Machine = {},
  file: FileSettings = NO_FILE,
): Settings {
  const remarks = [...file.warnings]
  const context = { ...settingContext(variables, machine), remark: (sentence: string) => void remarks.push(sentence) }
  const all = namedSettings()
  const given = givenValues(all, variables, file)
  const problems = [...file.problems, ...given.problems]
  const read = Object.fromEntries(all.map((one) => [one.property, readOne(one, given.values, context, problems)]))
  // It has every name of the table, which the type follows from.
  const values = read as Settings
  problems.push(...contradictions(values, given.values))
  if ([values.stateDir, values.cacheDir].some((folder) => folder.startsWith(`${NO_HOME}/`))) remarks.push(HOMELESS)
  if (problems.length > 0) {
    throw new BridgeError('CONFIG_INVALID', problems.join('\n'), { hint: 'docs/configuration.md lists every setting.' })
  }
  const { implied, ...others } = impliedBy(values, given.values, remarks)
  return Object.freeze({
    ...values,
    ...others,
    implied,
    warnings: [...remarks, ...unknownNames(variables, all)],
    setBy: Object.fromEntries(Array.from(given.values, ([variable, { place }]) => [variable, place])),
  })
}

const HOMELESS =
  'HOME is not set, and this user has no entry in the list of users, so there are no servers, and nothing is kept. Set ' +
  'HOME to a folder of this user, or MCP_BRIDGE_STATE_DIR and MCP_BRIDGE_CACHE_DIR.'

/** Settings that do not go together. */
function contradictions(values: Settings, given: Values): string[] {
  const found: string[] = []
  const { metrics, metricsToken, runtime, session } = values
  if (metrics && !isLoopback(metrics.host) && metricsToken === undefined) {
    const reached = `MCP_BRIDGE_METRICS: other machines can reach ${metrics.host}`
    found.push(`${reached}. Set MCP_BRIDGE_METRICS_TOKEN, which Prometheus sends, or use 127.0.0.1.`)
  }
  if (values.auditRequired && values.audit === 'off') {
    const place = given.get('MCP_BRIDGE_AUDIT=required')?.place ?? 'MCP_BRIDGE_AUDIT'
    const wanted = place === 'MCP_BRIDGE_AUDIT=required' ? `${place}=1` : place
    found.push(`${wanted} needs a record, and MCP_BRIDGE_AUDIT is off. Unset one of them.`)
  }
  if (values.upstreams === 'pods' && runtime !== 'kubernetes')
    found.push(`MCP_BRIDGE_KUBERNETES=servers=pods needs MCP_BRIDGE_RUNTIME=kubernetes, and it is ${runtime}.`)
  if (session === 'durable' && runtime !== 'kubernetes') found.push(ONLY_PODS)
  return found
}

const ONLY_PODS =
  'MCP_BRIDGE_SESSION=durable needs MCP_BRIDGE_RUNTIME=kubernetes. On one machine, unset it: the resident bridge keeps ' +
  'a session as long as its client is connected, and stays for ten minutes after the last client.'

/** A pod costs more than a process. */
const IDLE_PODS_MS = 600_000

/** The values that follow from other settings. */
function impliedBy(values: Settings, given: Values, remarks: string[]) {
  const implied: Record<string, string> = {}
  let { packages, memoryBytes, load, upstreamIdleMs, timeoutMs } = values
  if (!given.has('MCP_BRIDGE_PACKAGES')) {
    const kept = readKeptPackages(values.stateDir)
    packages = kept.packages
    if (kept.problem !== undefined) remarks.push(kept.problem)
    if (packages.length > 0) implied['MCP_BRIDGE_PACKAGES'] = `${packages.join(' ')} (sandbridge packages)`
  }
  if (packages.length > 0 && !given.has('MCP_BRIDGE_MEMORY')) {
    memoryBytes = DEFAULT_MEMORY_BYTES.withPackages
    implied['MCP_BRIDGE_MEMORY'] = '1g (cells have packages)'
  }
  // As in the original, a cell then reaches only the servers that its call names.
  if (values.compat && !given.has('MCP_BRIDGE_LOAD')) {
    load = 'explicit'
    implied['MCP_BRIDGE_LOAD'] = 'explicit (MCP_BRIDGE_COMPAT)'
  }
  if (!given.has('MCP_BRIDGE_UPSTREAM_IDLE')) {
    const isInPods = values.upstreams === 'pods'
    if (isInPods) upstreamIdleMs = IDLE_PODS_MS
    implied['MCP_BRIDGE_UPSTREAM_IDLE'] = isInPods ? '600 (servers run in pods)' : '0'
  }
  if (timeoutMs > values.maxTimeoutMs) {
    const [wanted, most] = [timeoutMs / 1000, values.maxTimeoutMs / 1000]
    if (given.has('MCP_BRIDGE_TIMEOUT'))
      remarks.push(`MCP_BRIDGE_TIMEOUT=${wanted} is more than MCP_BRIDGE_MAX_TIMEOUT: ${most} is used.`)
    timeoutMs = values.maxTimeoutMs
    implied['MCP_BRIDGE_TIMEOUT'] = `${most} (MCP_BRIDGE_MAX_TIMEOUT)`
  }
  return { packages, memoryBytes, load, upstreamIdleMs, timeoutMs, implied }
}

function readOne(one: Setting<unknown>, given: Values, context: SettingContext, problems: string[]): unknown {
  const found = given.get(one.variable)
  if (found === undefined) return one.whenMissing(context)
  const value = parse(one, found.value, context)
  if (value !== undefined) return value
  problems.push(`${found.place}: ${notAllowed(one, found.value)}`)
  return one.whenMissing(context)
}

/** An address may have a password in it. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/\/\/[^/\s@]*@/g, '//[redacted]@')
}

/** A value that may contain a password is not repeated; a very long one is cut. */
export function notAllowed({ secret, allowed }: Setting<unknown>, given: unknown): string {
  const plain = withoutCredentials([given].flat().map(String).join(', '))
  const text = JSON.stringify(plain.length > 80 ? `${plain.slice(0, 80)}…` : plain)
  return `${secret ? 'its value' : text} is not allowed. Allowed: ${allowed}.`
}

/** Names in a file, and of variables, may be anything. */
export function visibleName(name: string): string {
  return /^[\w.-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80))
}

function unknownNames(env: SettingContext['env'], all: readonly NamedSetting[]): string[] {
  const known = new Set(all.map(variableOf))
  return Object.keys(env)
    .filter((name) => name.startsWith('MCP_BRIDGE_') && !known.has(name))
    .map((name) => {
      const near = nearestName(name, known)
      return `${visibleName(name)} is not a setting and is ignored.${near === undefined ? '' : ` Did you mean ${near}?`}`
    })
}

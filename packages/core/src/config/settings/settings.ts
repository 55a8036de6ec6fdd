// All settings of the bridge: the table of settings, read from environment variables and settings.json into one typed,
// frozen object. Nothing else in the bridge reads MCP_BRIDGE_* variables. docs/configuration.md documents this table; a
// test compares both.
import { BridgeError } from '../../errors.ts'
import { nearestName } from '../../util/text/did-you-mean.ts'
import { processContext } from './client-context.ts'
import { readKeptPackages } from './kept-packages.ts'
import { DEFAULT_MEMORY_BYTES } from '../../util/default-memory.ts'
import { isLoopback } from '../../util/net/loopback.ts'
import { type FileSettings, type Given, givenTexts } from './given-texts.ts'
import { idOf, type NamedSetting, type Setting, type SettingContext } from './setting-kinds.ts'
import { CELL_SETTINGS } from './cells.ts'
import { HTTP_AND_FOLDER_SETTINGS } from './http-and-folders.ts'
import { OBSERVABILITY_SETTINGS } from './observability.ts'
import { OUTPUT_SETTINGS } from './output.ts'
import { PERMISSION_SETTINGS } from './permissions.ts'
import { SANDBOX_SETTINGS } from './sandbox.ts'
import { SERVER_SETTINGS } from './servers.ts'
import { SIGN_IN_SETTINGS } from './sign-in.ts'

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
  'HTTP and folders': HTTP_AND_FOLDER_SETTINGS,
} as const

/** All settings, by their name in {@link Settings}. */
export const SETTINGS = {
  ...SANDBOX_SETTINGS,
  ...CELL_SETTINGS,
  ...OUTPUT_SETTINGS,
  ...SERVER_SETTINGS,
  ...PERMISSION_SETTINGS,
  ...SIGN_IN_SETTINGS,
  ...OBSERVABILITY_SETTINGS,
  ...HTTP_AND_FOLDER_SETTINGS,
} as const

export type SettingTable = Readonly<Record<string, Setting<unknown>>>

/** Settings of features, by their heading. */
const ofFeatures = new Map<string, SettingTable>()

/** Called before settings are read. */
export function addSettings(heading: string, table: SettingTable): void {
  ofFeatures.set(heading, table)
}

const allSettings = (): SettingTable => Object.assign({}, SETTINGS, ...ofFeatures.values()) as SettingTable

/** All settings, those of features last. The group is the first word of the heading. */
export function namedSettings(): NamedSetting[] {
  return [...Object.entries<SettingTable>(SETTING_GROUPS), ...ofFeatures].flatMap(([heading, table]) => {
    const group = camelCase(heading.split(' ', 1)[0]!)
    return Object.entries(table).map(([property, setting]) => {
      const key = setting.key ?? keyOf(setting.variable, group)
      return { name: `${group}.${key}`, group, key, heading, property, setting }
    })
  })
}

/** `MCP_BRIDGE_OUTPUT_TOKENS` in the group `output` → `tokens`. */
function keyOf(variable: string, group: string): string {
  const whole = camelCase(variable.replace(/^MCP_(BRIDGE_)?/, ''))
  const rest = whole.startsWith(group) ? whole.slice(group.length) : ''
  return /^[A-Z]/.test(rest) ? rest[0]!.toLowerCase() + rest.slice(1) : whole
}

function camelCase(words: string): string {
  return words.toLowerCase().replaceAll(/[_-](\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** The values of a feature's settings. */
export function settingsOf<T extends SettingTable>(
  settings: Settings,
  _table: T,
): { readonly [K in keyof T]: Parsed<T[K]> } {
  // They were read with those of the bridge.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return settings as unknown as { readonly [K in keyof T]: Parsed<T[K]> }
}

type Parsed<S> = S extends Setting<infer T> ? T : never

/** The settings of one bridge. Durations are in milliseconds (`…Ms`), sizes in bytes (`…Bytes`), paths absolute. */
export type Settings = {
  readonly [K in keyof typeof SETTINGS]: Parsed<(typeof SETTINGS)[K]>
} & {
  /** Messages for the user that do not stop the bridge, such as a variable that looks misspelt. */
  readonly warnings: readonly string[]
  /** Where each setting that is not the default was set: its variable, or file, line and name. By `idOf` it. */
  readonly setBy: Readonly<Record<string, string>>
}

const NO_FILE: FileSettings = { texts: new Map(), problems: [], warnings: [] }

/** The user's home and system; what is missing is found out. */
export interface Machine {
  home?: string
  platform?: NodeJS.Platform
  isRoot?: boolean
}

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
  const context = settingContext(variables, machine)
  const given = givenTexts(namedSettings(), variables, file)
  const { remarks, texts } = given
  const problems = [...file.problems, ...given.problems]
  // The result has every name of the table, which the type follows from.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const values = Object.fromEntries(
    Object.entries(allSettings()).map(([name, setting]) => [name, readOne(setting, given, context, problems)]),
  ) as Settings

  let { timeoutMs } = values
  if (timeoutMs > values.maxTimeoutMs) {
    if (texts.has('MCP_BRIDGE_TIMEOUT')) {
      const wanted = `MCP_BRIDGE_TIMEOUT=${timeoutMs / 1000} is more than MCP_BRIDGE_MAX_TIMEOUT`
      remarks.push(`${wanted}: ${values.maxTimeoutMs / 1000} is used.`)
    }
    timeoutMs = values.maxTimeoutMs
  }
  if (values.metrics && !isLoopback(values.metrics.host) && values.metricsToken === undefined) {
    const reached = `MCP_BRIDGE_METRICS: other machines can reach ${values.metrics.host}`
    problems.push(`${reached}. Set MCP_BRIDGE_METRICS_TOKEN, which Prometheus sends, or use 127.0.0.1.`)
  }
  if (values.auditRequired && values.audit === 'off') {
    const place = texts.get('MCP_BRIDGE_AUDIT=required')?.place ?? 'MCP_BRIDGE_AUDIT'
    const wanted = place === 'MCP_BRIDGE_AUDIT=required' ? `${place}=1` : place
    problems.push(`${wanted} needs a record, and MCP_BRIDGE_AUDIT is off. Unset one of them.`)
  }
  if (values.upstreams === 'pods' && values.runtime !== 'kubernetes') {
    problems.push(
      `MCP_BRIDGE_KUBERNETES=servers=pods needs MCP_BRIDGE_RUNTIME=kubernetes, and it is ${values.runtime}.`,
    )
  }
  if (values.session === 'durable' && values.runtime !== 'kubernetes') problems.push(ONLY_PODS)
  if (values.session === 'durable' && values.kubernetesWarmPool !== undefined) {
    const why = 'the pods of a warm pool end with their bridge'
    problems.push(`MCP_BRIDGE_SESSION=durable does not go with MCP_BRIDGE_KUBERNETES=warmPool: ${why}. Unset one.`)
  }
  if (problems.length > 0) {
    throw new BridgeError('CONFIG_INVALID', problems.join('\n'), { hint: 'docs/configuration.md lists every setting.' })
  }
  const kept = texts.has('MCP_BRIDGE_PACKAGES') ? { packages: values.packages } : readKeptPackages(values.stateDir)
  if (kept.problem !== undefined) remarks.push(kept.problem)
  const memoryBytes =
    kept.packages.length > 0 && !texts.has('MCP_BRIDGE_MEMORY') ? DEFAULT_MEMORY_BYTES.withPackages : values.memoryBytes
  // As in the original, a cell then reaches only the servers that its call names.
  const load = values.compat && !texts.has('MCP_BRIDGE_LOAD') ? 'explicit' : values.load
  const isIdleDefault = values.upstreams === 'pods' && !texts.has('MCP_BRIDGE_UPSTREAM_IDLE')
  return Object.freeze({
    ...values,
    upstreamIdleMs: isIdleDefault ? IDLE_PODS_MS : values.upstreamIdleMs,
    packages: kept.packages,
    memoryBytes,
    load,
    timeoutMs,
    warnings: [...remarks, ...unknownNames(variables)],
    setBy: Object.fromEntries(Array.from(texts, ([id, { place }]) => [id, place])),
  })
}

/** A pod costs more than a process. */
const IDLE_PODS_MS = 600_000

const ONLY_PODS =
  'MCP_BRIDGE_SESSION=durable needs MCP_BRIDGE_RUNTIME=kubernetes. On one machine, unset it: the resident bridge keeps ' +
  'a session as long as its client is connected, and stays for ten minutes after the last client.'

function readOne(setting: Setting<unknown>, given: Given, context: SettingContext, problems: string[]): unknown {
  const found = given.texts.get(idOf(setting))
  if (found === undefined) return setting.whenMissing(context)
  const { text, place } = found
  const value = setting.parse(text, context)
  if (value === undefined) {
    problems.push(`${place}: ${notAllowed(setting, text)}`)
    return setting.whenMissing(context)
  }
  const remark = setting.remark?.(text, context)
  if (remark !== undefined) given.remarks.push(remark)
  return value
}

/** An address may have a password in it. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/\/\/[^/\s@]*@/g, '//[redacted]@')
}

/** A value that may contain a password is not repeated; a very long one is cut. */
export function notAllowed(setting: Setting<unknown>, text: string): string {
  const plain = withoutCredentials(text)
  const shown = setting.secret ? 'its value' : JSON.stringify(plain.length > 80 ? `${plain.slice(0, 80)}…` : plain)
  return `${shown} is not allowed. Allowed: ${setting.allowed}.`
}

/** Names in a file, and of variables, may be anything. */
export function visibleName(name: string): string {
  return /^[\w.-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80))
}

function unknownNames(env: SettingContext['env']): string[] {
  const known = new Set(Object.values(allSettings()).map(({ variable }) => variable))
  return Object.keys(env)
    .filter((name) => name.startsWith('MCP_BRIDGE_') && !known.has(name))
    .map((name) => {
      const near = nearestName(name, known)
      return `${visibleName(name)} is not a setting and is ignored.${near === undefined ? '' : ` Did you mean ${near}?`}`
    })
}

// The results of `initialize` and `server/discover` with harmless oddities read as what they mean: the schema of the
// MCP client package refuses the whole server for each. Part of the lenient pass. Pure.
import { isRecord } from '../../util/json/json.ts'
import { kindOf, type OnDropped } from './words.ts'

/** What a server of the legacy era speaks that names no version (specification 2025-06-18, protocol version header). */
const UNNAMED_VERSION = '2025-03-26'

type Fields = Record<string, unknown>

/** Several times the length that servers write. */
const MAX_INSTRUCTIONS_CHARS = 8192

/** Said of a server that names no revision of the protocol: it may be one of the modern era all the same. */
export const NO_VERSION = 'the missing `protocolVersion` of initialize'

export function initializeResult(given: Fields, onDropped: OnDropped): Fields {
  const say = (what: string): void => onDropped(`${what} of initialize`)
  const { protocol_version: stated, protocolVersion = stated, server_info: info, serverInfo = info, ...rest } = given
  // A server of the modern era may answer it like `server/discover`.
  const version = versionOf(protocolVersion) ?? textsOf(given['supportedVersions']).at(-1)
  if (version === undefined) onDropped(NO_VERSION)
  return {
    ...common(rest, say),
    protocolVersion: version ?? UNNAMED_VERSION,
    serverInfo: implementation(serverInfo),
  }
}

/** Revisions of the protocol are dates: a number such as "1.0" names none of them. */
function versionOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || /^v?[\d.]*$/i.test(value.trim())) return undefined
  // Dates in YAML become times.
  return value.trim().replace(/^v?(\d{4}-\d\d-\d\d)(?:[T ][\d:.]+Z?)?$/i, '$1')
}

export function discoverResult(given: Fields, onDropped: OnDropped): Fields {
  const say = (what: string): void => onDropped(`${what} of server/discover`)
  const { supported_versions: named, supportedVersions = named, resultType, ...rest } = given
  // Not a word about versions: the caller finds that the server is of another era.
  if (supportedVersions === undefined || supportedVersions === null) return given
  return {
    ...common(rest, say),
    supportedVersions: typeof supportedVersions === 'string' ? [supportedVersions] : textsOf(supportedVersions),
    resultType: typeof resultType === 'string' ? resultType : 'complete',
  }
}

function common({ capabilities, instructions, ...rest }: Fields, say: (what: string) => void): Fields {
  const text = instructionsOf(instructions)
  if (text === undefined && instructions !== undefined && instructions !== null)
    say(`\`instructions\`, which is ${kindOf(instructions)},`)
  if (text === undefined) return { ...rest, capabilities: capabilitiesOf(capabilities, say) }
  if (text.length > MAX_INSTRUCTIONS_CHARS)
    say(`\`instructions\`, but for the first ${MAX_INSTRUCTIONS_CHARS} of ${text.length} characters,`)
  // A substring keeps the whole text in memory until it is copied.
  const short = Buffer.from(text.slice(0, MAX_INSTRUCTIONS_CHARS)).toString()
  return { ...rest, capabilities: capabilitiesOf(capabilities, say), instructions: short }
}

function instructionsOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  const isLines = Array.isArray(value) && value.length > 0 && value.every((line) => typeof line === 'string')
  return isLines ? value.join('\n') : undefined
}

/** The capabilities of either side. */
export function capabilitiesOf(value: unknown, say: (what: string) => void): Fields {
  if (!isRecord(value)) {
    // PHP writes an empty object as an empty list. A list of names means an object with these keys.
    const names = Array.isArray(value) ? textsOf(value) : []
    if (value !== undefined && value !== null && names.length === 0 && !(Array.isArray(value) && value.length === 0))
      say(`\`capabilities\`, which is ${kindOf(value)},`)
    return Object.fromEntries(names.map((name) => [name, {}]))
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, given]) => {
      const capability = capabilityOf(name, given)
      return capability === undefined ? [] : [[name, capability]]
    }),
  )
}

/** Anything that is there says that the server has the capability, except what says no. */
function capabilityOf(name: string, given: unknown): Fields | undefined {
  if (given === null || given === undefined || given === false) return undefined
  if (!isRecord(given)) return {}
  if (Object.hasOwn(NESTED, name)) return objects(given, NESTED[name]!)
  return kept(given)
}

/** Capabilities whose fields are capabilities themselves, on so many levels. */
const NESTED: Record<string, number> = { experimental: 1, extensions: 1, sampling: 1, elicitation: 1, tasks: 3 }

function objects(given: Fields, levels: number): Fields {
  const entries = Object.entries(given).flatMap(([key, inner]): [string, unknown][] => {
    if (inner === null || inner === false) return []
    if (!isRecord(inner)) return [[key, {}]]
    return [[key, levels > 1 ? objects(inner, levels - 1) : kept(inner)]]
  })
  return Object.fromEntries(entries)
}

const FLAGS = new Set(['listChanged', 'subscribe', 'applyDefaults'])

function kept(given: Fields): Fields {
  const isKept = (key: string, inner: unknown): boolean =>
    inner !== null && (!FLAGS.has(key) || typeof inner === 'boolean')
  return Object.fromEntries(Object.entries(given).filter(([key, inner]) => isKept(key, inner)))
}

/** What either side says of itself. */
export function implementation(value: unknown): Fields {
  const { name, version, title, description } = isRecord(value) ? value : { name: value }
  return {
    name: typeof name === 'string' ? name : '',
    version: typeof version === 'string' || typeof version === 'number' ? String(version) : '',
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  }
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

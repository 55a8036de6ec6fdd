// The params of a request or notification, of a server or a client: null is as good as missing, and what the schemas of
// the MCP package would refuse for a detail is read as what it means. Part of the lenient pass. Pure.
import { exactJson, markBigInts, tryParseExact } from '../../util/json/parse-exact.ts'
import { isRecord } from '../../util/json/json.ts'
import { capabilitiesOf, implementation } from './handshake-results.ts'
import { kindOf, type OnDropped } from './words.ts'

type Fields = Record<string, unknown>

/** What a client speaks that names no version: the newest with a handshake. */
const NEWEST_WITH_HANDSHAKE = '2025-11-25'
/** Where null is a value. */
const ANY_VALUE = new Set(['data'])
/** Params whose own fields are optional. */
const OPTIONAL_INSIDE = new Set(['task', 'ref', 'context', 'modelPreferences'])
const CANCELLED = 'notifications/cancelled'
/** How a client of the newer era states in each request what it states elsewhere in the handshake. */
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** An empty object, as PHP writes it. */
export function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || isEmptyList(value)
}

/** The params themselves where they need no change. */
export function toParams(method: string, given: Fields, say: OnDropped): Fields {
  const params = method === 'initialize' ? initializeParams(given, say) : given
  const changes: [string, unknown][] = []
  for (const [name, value] of Object.entries(params)) {
    const read = readParam(method, name, value, say)
    if (read !== value) changes.push([name, read])
  }
  return changed(params, changes)
}

function readParam(method: string, name: string, value: unknown, say: OnDropped): unknown {
  if (value === null) return ANY_VALUE.has(name) ? null : undefined
  if (name === '_meta') return toMeta(value, say)
  if (name === 'cursor' && typeof value !== 'string') {
    if (value && typeof value === 'number') return String(value)
    if (value) say(`the cursor, which is ${kindOf(value)},`)
    return undefined
  }
  if (name === 'requestId') return markBigInts(value)
  if (method === CANCELLED && name === 'reason' && typeof value !== 'string') return exactJson(value)
  if (name === 'arguments') return method === 'prompts/get' ? toTexts(toArguments(value)) : toArguments(value)
  return OPTIONAL_INSIDE.has(name) && isRecord(value) ? withoutNulls(value) : value
}

/** Some clients encode the object of arguments twice, or make its text the name of one argument. */
export function toArguments(value: unknown): unknown {
  if (isAbsent(value) || value === '') return undefined
  const read = typeof value === 'string' ? tryParseExact(value) : undefined
  if (isRecord(read)) return read
  const [[name, only] = ['', ''], ...others] = isRecord(value) ? Object.entries(value) : []
  const named = only === null && others.length === 0 && name.startsWith('{') ? tryParseExact(name) : undefined
  return isRecord(named) ? named : value
}

/** The arguments of a prompt are texts. */
function toTexts(value: unknown): unknown {
  if (!isRecord(value) || Object.values(value).every((one) => typeof one === 'string')) return value
  const texts = Object.entries(value).map(([name, one]) => [name, typeof one === 'string' ? one : exactJson(one)])
  return Object.fromEntries(texts.filter(([, text]) => text !== 'null'))
}

function toMeta(value: unknown, say: OnDropped): Fields | undefined {
  if (!isRecord(value)) {
    if (!isAbsent(value)) say(`\`_meta\`, which is ${kindOf(value)},`)
    return undefined
  }
  const meta = withoutNulls(value)
  const { progressToken: token, [CLIENT_INFO]: info, [CLIENT_CAPABILITIES]: capabilities } = meta
  const changes: [string, unknown][] = []
  if (typeof token === 'bigint') changes.push(['progressToken', markBigInts(token)])
  else if (token !== undefined && typeof token !== 'string' && !Number.isSafeInteger(token)) {
    say(`the progress token, which is ${kindOf(token)},`)
    changes.push(['progressToken', undefined])
  }
  if (info !== undefined) changes.push([CLIENT_INFO, implementation(info)])
  if (CLIENT_CAPABILITIES in value || PROTOCOL_VERSION in value)
    changes.push([CLIENT_CAPABILITIES, capabilitiesOf(capabilities, say)])
  return changed(meta, changes)
}

function initializeParams({ protocolVersion, capabilities, clientInfo, ...rest }: Fields, say: OnDropped): Fields {
  return {
    ...rest,
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion.trim() : NEWEST_WITH_HANDSHAKE,
    capabilities: capabilitiesOf(capabilities, say),
    clientInfo: implementation(clientInfo),
  }
}

function withoutNulls(given: Fields): Fields {
  const nulls = Object.keys(given).filter((name) => given[name] === null)
  return changed(
    given,
    nulls.map((name) => [name, undefined]),
  )
}

/** A copy with other values, without those that are undefined; itself without changes. */
function changed(given: Fields, changes: [string, unknown][]): Fields {
  if (changes.length === 0) return given
  const all = Object.entries({ ...given, ...Object.fromEntries(changes) })
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

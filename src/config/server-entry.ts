// One server's entry as a client wrote it, checked field by field and made a definition. Pure.
// Reasons name fields, never what is in them.
import { EntryInvalid, isPresent, optionalText, requiredText, texts, textTable } from './entry-fields.ts'
import { inputsOf } from './inputs.ts'
import { oauthOf } from './oauth-entry.ts'
import type { RemoteServer, ServerDefinition, StdioServer } from './server-definition.ts'

/** The fields of an entry under the names we use; a reader maps its client's names to these. Nothing is known about the values. */
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
  oauth?: unknown
  description?: unknown
  disabled?: unknown
  enabled?: unknown
  includeTools?: unknown
  excludeTools?: unknown
  inputs?: unknown
  startTimeoutMs?: unknown
  callTimeoutMs?: unknown
}

/** Everything of a definition but its name and its origin. */
export type ServerBody = Omit<ServerDefinition, 'name' | 'source' | 'trusted'>

const TRANSPORTS = new Map<unknown, 'stdio' | 'http' | 'sse'>([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['remote', 'http'],
  ['streamable-http', 'http'],
  ['streamable_http', 'http'],
  ['streamablehttp', 'http'],
  ['sse', 'sse'],
])

/** An entry as a definition, or the reason why it is none. */
export function toServerBody(entry: ServerEntry): { body: ServerBody } | { reason: string } {
  if (entry.unusable !== undefined) return { reason: entry.unusable }
  if (entry.disabled === true || entry.enabled === false) return { reason: 'is disabled in this file' }
  try {
    const type = transportType(entry)
    const tools = toolFilter(entry)
    const startTimeoutMs = timeout(entry.startTimeoutMs, 'start timeout')
    const callTimeoutMs = timeout(entry.callTimeoutMs, 'timeout')
    const transport = type === 'stdio' ? stdioServer(entry) : remoteServer(entry, type)
    const inputs = inputsOf(entry.inputs, transport)
    const body: ServerBody = {
      transport,
      ...(typeof entry.description === 'string' && entry.description.trim() !== ''
        ? { description: entry.description.trim() }
        : {}),
      ...(tools === undefined ? {} : { tools }),
      ...(inputs.length === 0 ? {} : { inputs }),
      ...(startTimeoutMs === undefined ? {} : { startTimeoutMs }),
      ...(callTimeoutMs === undefined ? {} : { callTimeoutMs }),
    }
    return { body }
  } catch (error) {
    if (error instanceof EntryInvalid) return { reason: error.message }
    throw error
  }
}

function transportType(entry: ServerEntry): 'stdio' | 'http' | 'sse' {
  if (isPresent(entry.type)) {
    const type = TRANSPORTS.get(typeof entry.type === 'string' ? entry.type.toLowerCase() : undefined)
    if (type === undefined) throw new EntryInvalid('has a type other than stdio, http and sse')
    return type
  }
  if (isPresent(entry.command) && isPresent(entry.url))
    throw new EntryInvalid('has both a command and a url, and no type')
  if (isPresent(entry.command)) return 'stdio'
  if (isPresent(entry.url)) return 'http'
  throw new EntryInvalid('has neither a command nor a url')
}

function stdioServer(entry: ServerEntry): StdioServer {
  const cwd = optionalText(entry.cwd, 'cwd')
  const envFile = optionalText(entry.envFile, 'envFile')
  return {
    type: 'stdio',
    command: requiredText(entry.command, 'command'),
    args: texts(entry.args, 'args') ?? [],
    env: textTable(entry.env, 'env'),
    ...(cwd === undefined ? {} : { cwd }),
    ...(envFile === undefined ? {} : { envFile }),
    ...(isPresent(entry.inheritEnv) ? { inheritEnv: texts(entry.inheritEnv, 'env_vars') ?? [] } : {}),
  }
}

function remoteServer(entry: ServerEntry, type: 'http' | 'sse'): RemoteServer {
  const url = requiredText(entry.url, 'url')
  // A placeholder may stand for any part of the address, so only a plain one can be judged here.
  if (!url.includes('${') && !isHttpUrl(url)) throw new EntryInvalid('has a url that is not an http or https address')
  return { type, url, headers: textTable(entry.headers, 'headers'), ...oauthOf(entry.oauth) }
}

function toolFilter(entry: ServerEntry): ServerDefinition['tools'] {
  const include = texts(entry.includeTools, 'the list of tools to include')
  const exclude = texts(entry.excludeTools, 'the list of tools to exclude')
  // `*` is how some clients write "all of them".
  const some = include !== undefined && !include.includes('*')
  if (!some && (exclude === undefined || exclude.length === 0)) return undefined
  return { ...(some ? { include } : {}), ...(exclude === undefined ? {} : { exclude }) }
}

function timeout(value: unknown, field: string): number | undefined {
  if (!isPresent(value)) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) {
    throw new EntryInvalid(`has a ${field} that is not a number above 0`)
  }
  // What a timer can hold.
  return Math.min(Math.round(value), 2 ** 31 - 1)
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

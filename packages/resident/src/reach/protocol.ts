// What relay and resident say to each other beside MCP. A line that begins with the byte 0x01 is theirs; every other
// line is MCP and passes unchanged, as a whole. The relay speaks first, and does not wait for the welcome: nothing that
// follows a refused hello is looked at.
import { type EndSignal, environmentOf } from '@sandbridge/core/util/process'
import type { ClientContext } from '@sandbridge/core/config/settings'
import { lineOf } from '@sandbridge/core/serve'
import { fieldsOf, isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'

/** Changes when a relay and a resident of different versions would not understand each other. */
export const PROTOCOL = 1
const CONTROL = 0x01

/** The relay's first line. */
export interface Hello extends ClientContext {
  hello: typeof PROTOCOL
  /** The whole resident key: a file name has only its hash. */
  key: string
  pid: number
  /** A command that its user typed, and no MCP client: after the welcome it says `run`. */
  isCommand?: boolean
}

/** A command line, and the terminal or pipes that it has. */
export interface TypedCommand {
  words: string[]
  stdin: { isTTY: boolean }
  stdout: OutputSize
  stderr: OutputSize
}

export interface OutputSize {
  isTTY: boolean
  columns?: number
  rows?: number
}

/** One client of a resident, for `sandbridge status`. */
interface ClientStatus {
  /** Of its relay. */
  pid: number
  cwd: string
  connectedAt: number
  servers: ServerSharing[]
}

/** How a client uses one server. */
export interface ServerSharing {
  server: string
  state: string
  /** How many clients use this process. */
  clients: number
  /** The same for all clients of one process; missing for one that a client has alone. */
  process?: number
  /** Why clients in other folders, or any others, have a process of their own. */
  reason?: string
}

export interface ResidentStatus {
  pid: number
  version: string
  startedAt: number
  /** It stays without clients. */
  isKept: boolean
  log: string
  clients: ClientStatus[]
}

export type FromRelay =
  | Hello
  | { ping: true }
  | { status: true }
  | { stop: true }
  /** It stays without clients. */
  | { keep: true }
  /** The client has said everything. Said on Windows only: a pipe cannot be closed in one direction. */
  | { over: true }
  /** A command begins. Until then it may give up, and run without the resident. */
  | { run: TypedCommand }
  /** Standard input of a command, in base64; null at its end. */
  | { typed: string | null }
  | { signal: EndSignal }
  | { size: Pick<OutputSize, 'columns' | 'rows'> }

export type FromResident =
  | { welcome: { pid: number } }
  /** The resident ends, and has answered every call that it has begun: it has begun none of the others. */
  | { done: true }
  /** The relay serves its client itself. */
  | { refused: string }
  | { pong: true }
  | { status: ResidentStatus }
  /** The answers to the client's first requests hold while these files are as they are: see `areUnchanged`. */
  | { keep: Record<string, string> }
  /** A line of the client's log. */
  | { log: string }
  /** What a command writes. */
  | { out: string }
  | { err: string }
  /** Whether a command reads its standard input now, and whether key by key. */
  | { read: boolean }
  | { raw: boolean }
  /** A command has ended, with this code. */
  | { exit: number }

export function controlLine(message: FromRelay | FromResident): string {
  return `\u0001${JSON.stringify(message)}\n`
}

export function isControl(line: Buffer): boolean {
  return line[0] === CONTROL
}

/** The fields of a control line; empty for anything that is not an object. */
export function readControl(line: Buffer): Record<string, unknown> {
  return fieldsOf(parseJson(line.toString('utf8', 1)))
}

/** Returns undefined for a command line that is not understood. */
export function commandOf(run: unknown): TypedCommand | undefined {
  if (!isRecord(run) || !Array.isArray(run['words'])) return undefined
  const words = run['words'].filter((one): one is string => typeof one === 'string')
  const { isTTY } = isRecord(run['stdin']) ? run['stdin'] : {}
  return { words, stdin: { isTTY: isTTY === true }, stdout: sizeOf(run['stdout']), stderr: sizeOf(run['stderr']) }
}

export function sizeOf(said: unknown): OutputSize {
  const { isTTY, columns, rows } = isRecord(said) ? said : {}
  return {
    isTTY: isTTY === true,
    ...(typeof columns === 'number' && { columns }),
    ...(typeof rows === 'number' && { rows }),
  }
}

/** Returns undefined for a hello that is not understood. */
export function helloOf(said: Record<string, unknown>): Hello | undefined {
  const { hello, key, pid, env, cwd, home, ownPaths, isCommand } = said
  if (hello !== PROTOCOL || typeof key !== 'string' || typeof pid !== 'number') return undefined
  if (typeof cwd !== 'string' || typeof home !== 'string' || !isRecord(env) || !Array.isArray(ownPaths))
    return undefined
  const variables = Object.entries(env).filter((one): one is [string, string] => typeof one[1] === 'string')
  const paths = ownPaths.filter((one): one is string => typeof one === 'string')
  const context = { env: environmentOf(Object.fromEntries(variables)), cwd, home, ownPaths: paths }
  return { hello, key, pid, ...context, isCommand: isCommand === true }
}

// The resident writes each message with these members first, so that its kind shows in the first bytes.
const ID = String.raw`("(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*)`
const WITH_ID = new RegExp(String.raw`^\{"jsonrpc":"2\.0","id":${ID},"(method)?`)
const HEAD_BYTES = 512

/** How the resident writes a message. */
export function messageLine(message: { id?: unknown; method?: unknown }): string {
  const { id, method } = message
  const first = { ...(id !== undefined && { id }), ...(method !== undefined && { method }) }
  return `${lineOf({ jsonrpc: '2.0', ...first, ...message })}\n`
}

/** What a line of `messageLine` is; `id` as JSON. */
export function kindOf(line: Buffer): { kind: 'answer' | 'request'; id: string } | { kind: 'notification' } {
  const found = WITH_ID.exec(line.toString('utf8', 0, HEAD_BYTES))
  if (!found) return { kind: 'notification' }
  return { kind: found[2] === undefined ? 'answer' : 'request', id: found[1]! }
}

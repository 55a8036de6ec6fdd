// Where and how this bridge is registered in each client: the user's file, its table of servers, the form of an entry.
// Forms, and clients without a reader here, come from the library add-mcp; paths are the readers' own.
import { homedir } from 'node:os'
import { type AgentConfig, agents } from 'add-mcp'
import { type ConfigFormat, type ConfigObject } from '@sandbridge/core/config/formats'
import { isRecord, valueAt } from '@sandbridge/core/util/json/json.ts'
import { CLIENT_READERS } from '../../readers/client-readers.ts'
import { type HostPaths, join, type Reader } from '@sandbridge/core/config'

/** The name under which the bridge is registered. */
export const BRIDGE_NAME = 'sandbridge'

/** The command line that starts this bridge. */
export interface BridgeCommand {
  command: string
  args: string[]
  /** Settings of the bridge that the user has chosen. */
  env?: Record<string, string>
}

export interface Target {
  client: string
  /** Missing for a client whose servers are not read. */
  reader?: Reader
  format: ConfigFormat
  /** The first existing file is used, otherwise the first of the list. */
  files: [string, ...string[]]
  /** Keys of the table of servers. */
  table: (document: ConfigObject) => string[]
  entry: (command: BridgeCommand, table: string[]) => ConfigObject
  /** Keys of the lists of the only servers that the client starts, and of those that it never starts. */
  lists?: { allowed: string[]; excluded: string[] }
  /**
   * Shows that the client is on the machine when its file does not exist yet; undefined when other clients share the
   * folder.
   */
  folder: string | undefined
}

type Shape = Pick<Target, 'table' | 'entry'>

/** Claude Code's file is in the home folder, and Antigravity shares Gemini CLI's folder. */
const FOLDERS: Record<string, (place: HostPaths) => string | undefined> = {
  'claude-code': (place) => join(place, place.home, '.claude'),
  'gemini-cli': () => undefined,
}

/** Clients with lists of the servers that they start. */
const LISTING_CLIENTS = ['gemini-cli', 'qwen-code']
const LISTS = { allowed: ['mcp', 'allowed'], excluded: ['mcp', 'excluded'] }

/** The library's name of a client, if it differs from ours. */
const LIBRARY_NAMES: Record<string, string> = { 'copilot-cli': 'github-copilot-cli', kiro: 'kiro-cli' }

/** Clients whose entries have the common form. */
const PLAIN_CLIENTS = ['lm-studio', 'junie', 'warp', 'augment']

function plainShape(key: string): Shape {
  return { table: () => [key], entry: (command) => ({ ...command }) }
}

/** Clients that the library does not support. */
const OTHER_SHAPES: Record<string, Shape> = {
  amp: plainShape('amp.mcpServers'),
  ...Object.fromEntries(PLAIN_CLIENTS.map((client) => [client, plainShape('mcpServers')])),
  crush: { table: () => ['mcp'], entry: (command) => ({ type: 'stdio', ...command }) },
  factory: { table: () => ['mcpServers'], entry: (command) => ({ type: 'stdio', ...command }) },
  // In milliseconds.
  'amazon-q': { table: () => ['mcpServers'], entry: (command) => ({ ...command, timeout: 3_600_000 }) },
  // Otherwise its model has to search for the one tool first.
  'qwen-code': { table: () => ['mcpServers'], entry: (command) => ({ ...command, alwaysLoadTools: true }) },
}

/** The clients in which this bridge can be registered, whether or not they are on the machine. */
export function targetsOf(place: HostPaths): Target[] {
  const library = new Map<string, AgentConfig>(Object.entries(agents))
  const known = CLIENT_READERS.flatMap((reader): Target[] => {
    const { client, format } = reader
    // Cline has a list for each editor that it runs in.
    if (client === 'cline') return []
    const name = LIBRARY_NAMES[client] ?? client
    const agent = library.get(name)
    const shape = agent === undefined ? OTHER_SHAPES[client] : shapeOf(agent)
    const files = filesOf(reader, place)
    if (shape === undefined || files === undefined) return []
    library.delete(name)
    const folder = Object.hasOwn(FOLDERS, client) ? FOLDERS[client]?.(place) : join(place, files[0], '..')
    const lists = LISTING_CLIENTS.includes(client) ? { lists: LISTS } : {}
    return [{ ...shape, ...lists, client, reader, format, files, folder }]
  })
  // The library knows only the paths of this machine and its user.
  if (place.platform !== process.platform || place.home !== homedir()) return known
  return [...known, ...[...library.values()].map((agent) => unread(agent, place))]
}

/** The files that init may change: those of clients, and by name those in the state folder that take over servers. */
export function filesOfInit(place: HostPaths): { clients: string[]; moved: string[] } {
  const targets = targetsOf(place)
  return {
    clients: targets.flatMap(({ files }) => files),
    moved: targets.flatMap(({ client, reader }) => (reader === undefined ? [] : movedServersFile(client))),
  }
}

/** The name of the file in the state folder that takes over a client's servers. */
export const movedServersFile = (client: string): string => `${client}.json`

/** The user's file of a client, and alternatives that differ only in their extension, or are those of a package. */
function filesOf(reader: Reader, place: HostPaths): [string, ...string[]] | undefined {
  const [first, ...more] = reader.locations(place).flatMap(({ scope, path }) => (scope === 'user' ? [path] : []))
  if (first === undefined) return undefined
  return [first, ...more.filter((file) => isPackaged(first) || withoutExtension(file) === withoutExtension(first))]
}

/** Of an application that Windows has installed as a package. */
const isPackaged = (file: string): boolean => /\\LocalCache\\Roaming\\/.test(file)

const withoutExtension = (file: string): string => file.replace(/\.\w+$/, '')

/** A client that only the library supports. */
function unread(agent: AgentConfig, place: HostPaths): Target {
  const file = agent.resolveConfigPath?.(agent, { local: false, cwd: place.cwd }) ?? agent.configPath
  const format = agent.format === 'json' ? 'jsonc' : agent.format
  return { ...shapeOf(agent), client: agent.name, format, files: [file], folder: join(place, file, '..') }
}

function shapeOf(agent: AgentConfig): Shape {
  const table = agent.configKey.split('.')
  return {
    table: (document) => (agent.name === 'opencode' && isNewOpencode(document) ? ['mcp', 'servers'] : table),
    entry: (command, keys) => {
      const made = agent.transformConfig(BRIDGE_NAME, command, { local: false, configKey: keys.join('.') })
      // Removes keys with undefined values.
      const entry = JSON.parse(JSON.stringify(made)) as ConfigObject
      // OpenCode's own code mode would only wrap the bridge's.
      return agent.name === 'opencode' ? { ...entry, codemode: false } : entry
    },
  }
}

function isNewOpencode(document: ConfigObject): boolean {
  const servers = valueAt(document, 'mcp', 'servers')
  return isRecord(servers) && typeof servers['type'] !== 'string'
}

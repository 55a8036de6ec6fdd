// Where and how this bridge is registered in each client: the file of its user, the path of the table of servers in it, and the shape of an entry.
// The shapes are those of the library add-mcp, which registers servers in other clients' files for a living, and so are whole clients that
// we do not read. Where we do read a client, the path is the reader's, so that what is written is also read.
import { homedir } from 'node:os'
import nodePath from 'node:path'
import { type AgentConfig, agents } from 'add-mcp'
import type { ConfigFormat, ConfigObject } from '../config-document.ts'
import { valueAt } from '../config-document.ts'
import { isRecord } from '../../text/json.ts'
import { READERS } from '../readers/index.ts'
import type { HostPaths, Reader } from '../readers/reader.ts'
import { join } from '../readers/reader.ts'

/** The name under which the bridge is registered. */
export const BRIDGE_NAME = 'sandbridge'

/** The command line that starts this bridge. */
export interface BridgeCommand {
  command: string
  args: string[]
}

export interface Target {
  client: string
  /** None for a client in which we register and whose servers we do not look for. */
  reader?: Reader
  format: ConfigFormat
  /** The file is the first of these that is there, or else the first. */
  files: [string, ...string[]]
  /** The keys that lead to the table of servers. */
  table: (document: ConfigObject) => string[]
  entry: (command: BridgeCommand, table: string[]) => ConfigObject
  /** The folder that shows that the client is on the machine when its file is not there yet; none when it shares its folder. */
  folder: string | undefined
}

/**
 * The command that a client starts this bridge with. It must work from where this bridge runs: only what came through npx is there for npx.
 *
 * @param root the folder of this package
 * @param node the program that runs it: clients that are started from a desktop have no PATH to find it by
 */
export function bridgeCommand(root: string, node: string): BridgeCommand {
  const isFromNpx = root.split(/[/\\]/).includes('_npx')
  if (isFromNpx) return { command: 'npx', args: ['-y', 'sandbridge'] }
  return { command: node, args: [nodePath.join(root, 'dist/cli.js')] }
}

type Shape = Pick<Target, 'table' | 'entry'>

/** Claude Code's file lies in the home folder, and Gemini CLI's in a folder that Antigravity has too. */
const FOLDERS: Record<string, (place: HostPaths) => string | undefined> = {
  'claude-code': (place) => join(place, place.home, '.claude'),
  'gemini-cli': () => undefined,
}

/** What the library calls a client, where it is not what we call it. */
const LIBRARY_NAMES: Record<string, string> = { 'copilot-cli': 'github-copilot-cli', kiro: 'kiro-cli' }

/** Clients that the library does not know. */
const OTHER_SHAPES: Record<string, Shape> = {
  amp: { table: () => ['amp.mcpServers'], entry: ({ command, args }) => ({ command, args }) },
  'lm-studio': { table: () => ['mcpServers'], entry: ({ command, args }) => ({ command, args }) },
}

/** The clients in which this bridge can be registered, whether they are on the machine or not. */
export function targetsOf(place: HostPaths): Target[] {
  const library = new Map<string, AgentConfig>(Object.entries(agents))
  const known = READERS.flatMap((reader): Target[] => {
    const { client, format } = reader
    // Cline keeps a list for each editor it runs in.
    if (client === 'cline') return []
    const name = LIBRARY_NAMES[client] ?? client
    const agent = library.get(name)
    const shape = agent === undefined ? OTHER_SHAPES[client] : shapeOf(agent)
    const files = filesOf(reader, place)
    if (shape === undefined || files === undefined) return []
    library.delete(name)
    const folder = Object.hasOwn(FOLDERS, client) ? FOLDERS[client]?.(place) : join(place, files[0], '..')
    return [{ ...shape, client, reader, format, files, folder }]
  })
  // The library finds its paths for this machine and its user, and for no other.
  if (place.platform !== process.platform || place.home !== homedir()) return known
  return [...known, ...[...library.values()].map((agent) => unread(agent, place))]
}

/** The file of a client's user, and those beside it that differ in their extension alone. */
function filesOf(reader: Reader, place: HostPaths): [string, ...string[]] | undefined {
  const [first, ...more] = reader.locations(place).flatMap(({ scope, path }) => (scope === 'user' ? [path] : []))
  if (first === undefined) return undefined
  return [first, ...more.filter((file) => withoutExtension(file) === withoutExtension(first))]
}

const withoutExtension = (file: string): string => file.replace(/\.\w+$/, '')

/** A client that only the library knows. */
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
      // Without the keys that it leaves undefined.
      const entry = JSON.parse(JSON.stringify(made)) as ConfigObject
      // Its own code mode would only wrap ours.
      return agent.name === 'opencode' ? { ...entry, codemode: false } : entry
    },
  }
}

function isNewOpencode(document: ConfigObject): boolean {
  const servers = valueAt(document, 'mcp', 'servers')
  return isRecord(servers) && typeof servers['type'] !== 'string'
}

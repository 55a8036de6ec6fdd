// Where and how this bridge is registered in each client: the file of its user, the path of the table of servers in it, and the shape of an entry.
// Paths come from the readers, so that what is written is also read.
import type { ConfigFormat, ConfigObject } from '../config-document.ts'
import { isObject, valueAt } from '../config-document.ts'
import { READERS } from '../readers/index.ts'
import type { Place, Reader } from '../readers/reader.ts'
import { join } from '../readers/reader.ts'

/** The name under which the bridge is registered. */
export const BRIDGE_NAME = 'sandbridge'

/** The command line that starts this bridge. */
export interface BridgeCommand {
  command: string
  args: string[]
}

export interface Target {
  reader: Reader
  format: ConfigFormat
  file: string
  /** The keys that lead to the table of servers. */
  table: (document: ConfigObject) => string[]
  entry: (command: BridgeCommand) => ConfigObject
  /** The folder that shows that the client is on the machine when its file is not there yet; none when it shares its folder. */
  folder: string | undefined
}

type Shape = Pick<Target, 'table' | 'entry'>

/** Claude Code's file lies in the home folder, and Gemini CLI's in a folder that Antigravity has too. */
const FOLDERS: Record<string, (place: Place) => string | undefined> = {
  'claude-code': (place) => join(place, place.home, '.claude'),
  'gemini-cli': () => undefined,
}

const plain = ({ command, args }: BridgeCommand): ConfigObject => ({ command, args })
const shape = (key: string, entry: Shape['entry'] = plain): Shape => ({ table: () => [key], entry })

const SHAPES: Record<string, Shape> = {
  'claude-code': shape('mcpServers', (command) => ({ type: 'stdio', ...plain(command), env: {} })),
  'claude-desktop': shape('mcpServers'),
  cursor: shape('mcpServers'),
  vscode: shape('servers', (command) => ({ type: 'stdio', ...plain(command) })),
  windsurf: shape('mcpServers'),
  codex: shape('mcp_servers'),
  'gemini-cli': shape('mcpServers'),
  opencode: {
    table: (document) => (isNewOpencode(document) ? ['mcp', 'servers'] : ['mcp']),
    entry: ({ command, args }) => ({ type: 'local', command: [command, ...args] }),
  },
  zed: shape('context_servers', (command) => ({ source: 'custom', ...plain(command), env: {} })),
  antigravity: shape('mcpServers'),
  goose: shape('extensions', ({ command, args }) => ({
    type: 'stdio',
    name: BRIDGE_NAME,
    enabled: true,
    cmd: command,
    args,
    envs: {},
    timeout: 300,
  })),
  'copilot-cli': shape('mcpServers', (command) => ({ type: 'local', ...plain(command), tools: ['*'] })),
  kiro: shape('mcpServers'),
  amp: shape('amp.mcpServers'),
  'lm-studio': shape('mcpServers'),
}

/** The clients in which this bridge can be registered, whether they are on the machine or not. */
export function targetsOf(place: Place): Target[] {
  return READERS.flatMap((reader) => {
    const found = Object.hasOwn(SHAPES, reader.client) ? SHAPES[reader.client] : undefined
    const file = reader.locations(place).find(({ scope }) => scope === 'user')?.path
    if (found === undefined || file === undefined) return []
    const folder = Object.hasOwn(FOLDERS, reader.client) ? FOLDERS[reader.client]?.(place) : join(place, file, '..')
    return [{ ...found, reader, format: reader.format, file, folder }]
  })
}

function isNewOpencode(document: ConfigObject): boolean {
  const servers = valueAt(document, 'mcp', 'servers')
  return isObject(servers) && typeof servers['type'] !== 'string'
}

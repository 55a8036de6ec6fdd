// Settings of servers and of the search for their tools, of what cells may do, and of sign-ins.
import path from 'node:path'
import { SOURCE_NAMES } from '../readers/index.ts'
import { IMAGE_NAME } from '../entries/server-definition.ts'
import { FLOW_PRESETS } from '../rules/flow.ts'
import { PRESETS } from '../rules/presets.ts'
import { absolutePath } from '../../util/files/absolute-path.ts'
import { choice, DAY_S, flag, pattern, patternOr, seconds, setting, splitAt, words } from './setting-kinds.ts'

const sources = words(
  `all, or names separated by commas, each with a - before it to exclude it: ${SOURCE_NAMES.join(', ')}`,
  new RegExp(`^(all|-?(${SOURCE_NAMES.join('|')}))$`),
)
const files = words('paths', /./)

export const SERVER_SETTINGS = {
  load: setting(
    'servers.load',
    'MCP_BRIDGE_LOAD',
    '`lazy`: a cell may use every server. `explicit`: a cell may use only the servers that `run_python` names. `MCP_BRIDGE_COMPAT=1` implies `explicit`.',
    choice(['lazy', 'explicit'], 'lazy'),
    { isLive: true },
  ),
  jail: setting(
    'servers.jail',
    'MCP_BRIDGE_JAIL',
    'Which stdio servers run in a jail: those whose entry has a `sandbox`, or `all`.',
    choice(['configured', 'all'], 'configured'),
    { isLive: true },
  ),
  jailImage: setting(
    'servers.jailImage',
    'MCP_BRIDGE_JAIL=image',
    'The container image of jailed servers. Without an image, these servers use this machine’s programs.',
    pattern('an image name such as node:24-slim', IMAGE_NAME),
  ),
  upstreams: setting(
    'servers.upstreams',
    'MCP_BRIDGE_KUBERNETES=servers',
    'Where stdio servers run: `local` (child processes) or `pods` (one pod each, with the image of the entry, else that of `servers.jailImage`).',
    choice(['local', 'pods'], 'local'),
  ),
  allowSelfServer: setting(
    'servers.allowSelfServer',
    'MCP_BRIDGE_ALLOW_SELF_SERVER',
    'Keep server entries that would start a bridge inside this one.',
    flag(false),
    { isLive: true },
  ),
  upstreamIdleMs: setting(
    'servers.upstreamIdle',
    'MCP_BRIDGE_UPSTREAM_IDLE',
    'The idle timeout of a server; 0 disables it.',
    seconds({ standard: 0, min: 0, max: DAY_S }),
    { defaultText: '0; 600 where servers run in pods' },
  ),
  sources: setting(
    'servers.sources',
    'MCP_BRIDGE_SOURCES',
    'The sources of server entries: names, `all`, or `-name` to exclude one.',
    {
      ...sources,
      defaultText: 'all',
      read: (given) => sources.read(typeof given === 'string' ? given.toLowerCase().replaceAll('_', '-') : given),
    },
    { isLive: true },
  ),
  profile: setting(
    'servers.profile',
    'MCP_BRIDGE_PROFILE',
    'The profile whose servers a client has, made with `sandbridge profile`.',
    pattern('the name of a profile', /^[a-z0-9][a-z0-9_-]{0,63}$/),
    { isLive: true },
  ),
  serversConfig: setting(
    'servers.config',
    'MCP_SERVERS_CONFIG',
    'More files with `mcpServers` (JSON, TOML or YAML), several separated by `:` (`;` on Windows).',
    {
      ...files,
      // An item of a list may have any name.
      read: (given) => (typeof given === 'string' ? splitAt(given, path.delimiter === ';' ? /;/ : /:/) : given),
      type: (context) =>
        files.type(context).transform((paths) => paths.map((file) => absolutePath(file, context.home))),
    },
    { isLive: true },
  ),
} as const

export const PERMISSION_SETTINGS = {
  permissions: setting(
    'permissions.preset',
    'MCP_BRIDGE_PERMISSIONS',
    'What happens to calls that no rule matches. `open` allows them. `careful` asks you about such calls and `readonly` denies such calls, unless the tool is read-only.',
    choice(PRESETS, 'open', { 'read-only': 'readonly', read_only: 'readonly' }),
    { isLive: true },
  ),
  flow: setting(
    'permissions.flow',
    'MCP_BRIDGE_FLOW',
    'What happens to calls that a server’s text may have steered. `ask` asks you, `deny` denies the call, `record` only records where values came from.',
    choice(FLOW_PRESETS, 'off'),
  ),
  askTimeoutMs: setting(
    'permissions.askTimeout',
    'MCP_BRIDGE_ASK_TIMEOUT',
    'How long the user has to answer a question. After that, the call is denied.',
    seconds({ standard: 300, min: 5, max: 3600 }),
  ),
} as const

export const SIGN_IN_SETTINGS = {
  signInKey: setting(
    'signIn.key',
    'MCP_BRIDGE_SIGN_IN_KEY',
    'What encrypts stored sign-ins: the system’s keychain, nothing (`none`), or this key, from `openssl rand -hex 32`.',
    patternOr('keychain', 'keychain, none, or 64 digits and letters from a to f', /^(keychain|none|[0-9a-f]{64})$/),
    { secret: true },
  ),
} as const

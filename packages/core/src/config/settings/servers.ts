// Settings of servers and of the search for their tools, of what cells may do, and of sign-ins.
import path from 'node:path'
import { SOURCE_NAMES } from '../readers/index.ts'
import { IMAGE_NAME } from '../entries/server-definition.ts'
import { FLOW_PRESETS } from '../rules/flow.ts'
import { PRESETS } from '../rules/policy.ts'
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
    '`lazy`: a cell may use every server. `explicit`: a cell may use only servers that its `run_python` call names. `MCP_BRIDGE_COMPAT=1` implies `explicit`.',
    choice(['lazy', 'explicit'], 'lazy'),
    { isLive: true },
  ),
  jail: setting(
    'servers.jail',
    'MCP_BRIDGE_JAIL',
    'Which stdio servers run isolated in a jail: those whose entry has a `sandbox` (`configured`), or `all`.',
    choice(['configured', 'all'], 'configured'),
    { isLive: true },
  ),
  jailImage: setting(
    'servers.jailImage',
    'MCP_BRIDGE_JAIL=image',
    'The container image of jailed servers. Without an image, jailed servers use this machine’s programs.',
    pattern('an image name such as node:24-slim', IMAGE_NAME),
  ),
  upstreams: setting(
    'servers.upstreams',
    'MCP_BRIDGE_KUBERNETES=servers',
    'Where stdio servers run: in child processes (`local`), or in one pod each (`pods`). The pod uses the image in the server’s entry, else `servers.jailImage`.',
    choice(['local', 'pods'], 'local'),
  ),
  allowSelfServer: setting(
    'servers.allowSelfServer',
    'MCP_BRIDGE_ALLOW_SELF_SERVER',
    'Do not skip server entries that start Sandbridge itself.',
    flag(false),
    { isLive: true },
  ),
  upstreamIdleMs: setting(
    'servers.upstreamIdle',
    'MCP_BRIDGE_UPSTREAM_IDLE',
    'The idle timeout of a server. 0 disables this timeout.',
    seconds({ standard: 0, min: 0, max: DAY_S }),
    { defaultText: '0; 600 where servers run in pods' },
  ),
  sources: setting(
    'servers.sources',
    'MCP_BRIDGE_SOURCES',
    'The sources of server entries: names of sources, `all`, or `-name` to exclude one source.',
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
    'The profile (set of servers) that a client uses, made with `sandbridge profile`.',
    pattern('the name of a profile', /^[a-z0-9][a-z0-9_-]{0,63}$/),
    { isLive: true },
  ),
  serversConfig: setting(
    'servers.config',
    'MCP_SERVERS_CONFIG',
    'More files with server entries (JSON, TOML or YAML), separated by `:` (on Windows by `;`).',
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
    'What happens to calls that no rule matches: see docs/permissions.md.',
    choice(PRESETS, 'open', { 'read-only': 'readonly', read_only: 'readonly' }),
    { isLive: true },
  ),
  flow: setting(
    'permissions.flow',
    'MCP_BRIDGE_FLOW',
    'What happens to calls that a server’s text may have steered: see docs/flow.md.',
    choice(FLOW_PRESETS, 'off'),
  ),
  askTimeoutMs: setting(
    'permissions.askTimeout',
    'MCP_BRIDGE_ASK_TIMEOUT',
    'How long you have to answer a question. Without an answer in time, Sandbridge denies the call.',
    seconds({ standard: 300, min: 5, max: 3600 }),
  ),
} as const

export const SIGN_IN_SETTINGS = {
  signInKey: setting(
    'signIn.key',
    'MCP_BRIDGE_SIGN_IN_KEY',
    'What encrypts stored sign-ins: the system’s keychain (`keychain`), nothing (`none`), or a key from `openssl rand -hex 32`.',
    patternOr('keychain', 'keychain, none, or 64 digits and letters from a to f', /^(keychain|none|[0-9a-f]{64})$/),
    { secret: true },
  ),
} as const

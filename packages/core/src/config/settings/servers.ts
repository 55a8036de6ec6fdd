// Settings of servers, and of the search for their tools.
import path from 'node:path'
import { SOURCE_NAMES } from '../readers/index.ts'
import { IMAGE_NAME } from '../entries/server-definition.ts'
import { absolutePath } from '../../util/files/absolute-path.ts'
import { choice, flag, list, pattern, seconds, DAY_S, TEXTS, type Setting } from './setting-kinds.ts'

const upstreamIdleMs: Setting<number> = {
  ...seconds(
    {
      variable: 'MCP_BRIDGE_UPSTREAM_IDLE',
      meaning: 'The idle timeout of a server; 0 disables it.',
    },
    { default: 0, min: 0, max: DAY_S },
  ),
  defaultText: '0; 600 where servers run in pods',
}

const serversConfig: Setting<readonly string[]> = {
  variable: 'MCP_SERVERS_CONFIG',
  isLive: true,
  meaning: 'More files with `mcpServers` (JSON, TOML or YAML), several separated by `:` (`;` on Windows).',
  defaultText: 'none',
  allowed: 'paths',
  json: TEXTS,
  separator: path.delimiter,
  whenMissing: () => [],
  parse: (text, { home, platform }) =>
    text
      .split(platform === 'win32' ? ';' : ':')
      .filter((file) => file !== '')
      .map((file) => absolutePath(file, home)),
}

export const SERVER_SETTINGS = {
  load: choice(
    {
      variable: 'MCP_BRIDGE_LOAD',
      isLive: true,
      meaning:
        '`lazy`: a cell may use every server. `explicit`: only the servers that its call names; the others are listed by name and description. `MCP_BRIDGE_COMPAT=1` implies `explicit`.',
    },
    ['lazy', 'explicit'],
    'lazy',
  ),
  jail: choice(
    {
      variable: 'MCP_BRIDGE_JAIL',
      isLive: true,
      meaning: 'Which stdio servers run in a jail: those whose definition has a `sandbox`, or `all` of them.',
    },
    ['configured', 'all'],
    'configured',
  ),
  jailImage: pattern(
    {
      variable: 'MCP_BRIDGE_JAIL',
      member: 'image',
      key: 'jailImage',
      meaning:
        'The container image that jailed servers run in. Without it, they run with the programs of this machine.',
    },
    { allowed: 'an image name such as node:24-slim', matches: IMAGE_NAME, default: undefined },
  ),
  upstreams: choice(
    {
      variable: 'MCP_BRIDGE_KUBERNETES',
      member: 'servers',
      key: 'upstreams',
      meaning:
        'Where stdio servers run: with the bridge, or each in a pod of the cluster, in the image of its definition or `MCP_BRIDGE_JAIL=image`.',
    },
    ['local', 'pods'],
    'local',
  ),
  allowSelfServer: flag(
    {
      variable: 'MCP_BRIDGE_ALLOW_SELF_SERVER',
      isLive: true,
      meaning: 'Keep server entries that would start this bridge again.',
    },
    false,
  ),
  upstreamIdleMs,
  sources: list(
    {
      variable: 'MCP_BRIDGE_SOURCES',
      isLive: true,
      meaning: 'The sources of server entries: names, `all`, or `-name` to exclude one.',
    },
    {
      allowed: `all, or names separated by commas, each with a - before it to exclude it: ${SOURCE_NAMES.join(', ')}`,
      separator: ',',
      matches: new RegExp(`^(all|-?(${SOURCE_NAMES.join('|')}))$`),
      defaultText: 'all',
    },
  ),
  profile: pattern(
    { variable: 'MCP_BRIDGE_PROFILE', isLive: true, meaning: 'The only servers: a profile of `sandbridge profile`.' },
    { allowed: 'the name of a profile', matches: /^[a-z0-9][a-z0-9_-]{0,63}$/, default: undefined },
  ),
  serversConfig,
} as const

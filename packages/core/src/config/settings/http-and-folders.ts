// Settings of `run --http`, and of where files are stored.
import { standardCacheDir } from './cache-folder.ts'
import path from 'node:path'
import { isLoopback } from '../../util/net/loopback.ts'
import {
  folder,
  list,
  optionalWholeNumber,
  pattern,
  seconds,
  wholeNumber,
  DAY_S,
  TEXT,
  TEXTS,
  TOKEN,
  isPlainHttpAddress,
  type Setting,
} from './setting-kinds.ts'

const publicUrl: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_PUBLIC_URL',
  meaning: 'The address at which clients reach `run --http`, where it is not the one it listens on.',
  defaultText: 'the address it listens on',
  allowed:
    'an http or https address without a user name, a query or a fragment, such as https://bridge.example.com/mcp',
  json: TEXT,
  whenMissing: () => undefined,
  parse: (text) => (isPlainHttpAddress(text) && !text.includes('@') ? text : undefined),
}

const oauthIssuers: Setting<readonly string[]> = {
  variable: 'MCP_BRIDGE_OAUTH',
  member: 'issuer',
  key: 'oauthIssuer',
  meaning: 'Authorization servers whose access tokens `run --http` accepts, each exactly as its metadata names it.',
  defaultText: 'none',
  allowed: 'https addresses separated by commas, such as https://login.example.com; http for this machine only',
  json: TEXTS,
  separator: ',',
  whenMissing: () => [],
  parse: (text) => {
    const issuers = text.split(/[\s,]+/)
    return issuers.every(isIssuer) ? [...new Set(issuers)] : undefined
  },
}

/** RFC 8414, section 2. Without TLS, anyone on the network path could publish keys. */
function isIssuer(text: string): boolean {
  if (!isPlainHttpAddress(text) || /[@"\\]/.test(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || isLoopback(hostname)
}

const storage: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_STORAGE',
  meaning:
    'A PostgreSQL database that keeps artifacts, saved functions, memories, tokens, sign-ins, schedules and the record in place of the state folder, for several bridges at once.',
  defaultText: 'none',
  allowed: 'a connection URL such as postgres://sandbridge:PASSWORD@db.example.com/sandbridge',
  json: TEXT,
  whenMissing: () => undefined,
  // A server on a Unix socket has no host: postgres://ann:PASSWORD@/sandbridge?host=/run/postgresql
  parse: (text) =>
    /^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text.replace('@/', '@socket/')) ? text : undefined,
  secret: true,
}

export const HTTP_AND_FOLDER_SETTINGS = {
  stateDir: folder(
    {
      variable: 'MCP_BRIDGE_STATE_DIR',
      meaning: 'The folder for your server entries, artifacts, saved functions and projects.',
      onlyVariable: 'settings.json is in that folder',
    },
    '~/MCPs',
    ({ home }) => path.join(home, 'MCPs'),
  ),
  handleKey: pattern(
    {
      variable: 'MCP_BRIDGE_HANDLE_KEY',
      meaning:
        'The key of session handles, the same for all replicas of `run --http`. Needed where durable sandboxes are pods. Of several keys, the first is used for new handles, and handles of the others are still known.',
      secret: true,
    },
    {
      allowed: 'at least 32 printable characters, and more such keys after a space each',
      matches: /^[\x21-\x7e]{32,}( [\x21-\x7e]{32,})*$/,
      default: undefined,
    },
  ),
  httpToken: pattern(
    {
      variable: 'MCP_BRIDGE_HTTP_TOKEN',
      meaning: 'The bearer token that clients of `run --http` must send.',
      secret: true,
    },
    { ...TOKEN, default: undefined },
  ),
  publicUrl,
  oauthIssuers,
  oauthAudience: pattern(
    {
      variable: 'MCP_BRIDGE_OAUTH',
      member: 'audience',
      key: 'oauthAudience',
      meaning: 'What the `aud` of an access token must name, where that is not the address of the bridge.',
    },
    { allowed: 'text without spaces', matches: /^[\x21-\x7e]+$/, default: undefined },
  ),
  oauthScopes: list(
    {
      variable: 'MCP_BRIDGE_OAUTH',
      member: 'scopes',
      key: 'oauthScopes',
      meaning: 'Scopes that an access token must have, all of them.',
    },
    // RFC 6749, section 3.3.
    { allowed: 'scopes separated by commas', separator: ',', matches: /^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]+$/ },
  ),
  httpSessionCount: wholeNumber(
    {
      variable: 'MCP_BRIDGE_HTTP_LIMITS',
      member: 'sessions',
      key: 'sessions',
      meaning: 'The most sessions that `run --http` keeps open.',
    },
    { default: 16, min: 1, max: 1000 },
  ),
  userSandboxCount: optionalWholeNumber(
    {
      variable: 'MCP_BRIDGE_HTTP_LIMITS',
      member: 'userSessions',
      key: 'userSandboxes',
      meaning: 'The most sessions that one user of `run --http` has open.',
    },
    { min: 1, max: 1000 },
  ),
  userCellSeconds: optionalWholeNumber(
    {
      variable: 'MCP_BRIDGE_HTTP_LIMITS',
      member: 'userSeconds',
      key: 'userCellSeconds',
      meaning: 'The seconds that cells of one user of `run --http` may run in an hour, all together.',
    },
    { min: 1, max: 10_000_000 },
  ),
  userCallCount: optionalWholeNumber(
    {
      variable: 'MCP_BRIDGE_HTTP_LIMITS',
      member: 'userCalls',
      key: 'userCalls',
      meaning: 'The calls that cells of one user of `run --http` may make in an hour.',
    },
    { min: 1, max: 100_000_000 },
  ),
  drainMs: seconds(
    {
      variable: 'MCP_BRIDGE_DRAIN',
      meaning: 'How long `run --http` lets cells end after SIGTERM; 0 ends them at once.',
    },
    { default: 0, min: 0, max: DAY_S },
  ),
  storage,
  cacheDir: folder(
    {
      variable: 'MCP_BRIDGE_CACHE_DIR',
      meaning: 'The folder for cached data. It can be deleted at any time.',
      onlyVariable: 'a start needs that folder before it reads settings.json',
    },
    'the cache folder of your system',
    standardCacheDir,
  ),
} as const

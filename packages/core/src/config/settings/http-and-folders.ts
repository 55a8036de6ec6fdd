// Settings of the record and of metrics, of `run --http`, and of where files are stored.
import path from 'node:path'
import { isIPv4, isIPv6 } from 'node:net'
import { isLoopback } from '../../util/net/loopback.ts'
import { standardCacheDir } from './state-folder.ts'
import {
  choice,
  DAY_S,
  flag,
  folder,
  isPlainHttpAddress,
  optional,
  pattern,
  seconds,
  setting,
  text,
  TOKEN,
  wholeNumber,
  words,
} from './setting-kinds.ts'

const issuers = words(
  'https addresses separated by commas, such as https://login.example.com; http for this machine only',
  /./,
)

const publicNames = words(
  'http or https addresses without a user name, a query or a fragment, such as https://bridge.example.com/mcp, and names of hosts, such as host.docker.internal',
  /./,
)

const HOST_NAME = /^[a-z\d]([a-z\d.-]*[a-z\d])?$/i

function isPublicName(given: string): boolean {
  return given.includes('://') ? isPlainHttpAddress(given) && !given.includes('@') : HOST_NAME.test(given)
}

/** The address at which all clients reach the bridge, of those in the setting. */
export function publicUrlOf({ publicNames: all }: { publicNames: readonly string[] }): string | undefined {
  return all.find((one) => one.includes('://'))
}

/** RFC 8414, section 2. Without TLS, anyone on the network path could publish keys. */
function isIssuer(address: string): boolean {
  if (!isPlainHttpAddress(address) || /[@"\\]/.test(address)) return false
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || isLoopback(hostname)
}

function metricsAddress(given: string): { host: string; port: number } | undefined {
  const [, inBrackets, plain, port] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(given) ?? []
  const host = inBrackets ?? plain ?? ''
  const isHost = inBrackets === undefined ? isIPv4(host) || host === 'localhost' : isIPv6(host)
  return isHost && Number(port) <= 65_535 ? { host, port: Number(port) } : undefined
}

const limit = (max: number) => optional(wholeNumber({ standard: 1, min: 1, max }))

export const OBSERVABILITY_SETTINGS = {
  audit: setting(
    'observability.audit',
    'MCP_BRIDGE_AUDIT',
    'What the audit log holds: nothing (`off`), the shape and hash of arguments (`shape`), arguments without known secrets (`full`), or also code and servers’ responses, for `sandbridge save` (`replay`).',
    choice(['off', 'shape', 'full', 'replay'], 'shape'),
  ),
  auditRequired: setting(
    'observability.auditRequired',
    'MCP_BRIDGE_AUDIT=required',
    'Make no call that cannot be recorded first.',
    flag(false),
  ),
  metrics: setting(
    'observability.metrics',
    'MCP_BRIDGE_METRICS',
    'Where Prometheus can read metrics. Other machines need `MCP_BRIDGE_METRICS_TOKEN`.',
    text('an address with a port, such as 127.0.0.1:9464, 0.0.0.0:9464 or [::1]:9464', metricsAddress),
  ),
  metricsToken: setting(
    'observability.metricsToken',
    'MCP_BRIDGE_METRICS_TOKEN',
    'The bearer token that Prometheus must send.',
    pattern(...TOKEN),
    { secret: true },
  ),
} as const

export const HTTP_AND_FOLDER_SETTINGS = {
  stateDir: setting(
    'http.stateDir',
    'MCP_BRIDGE_STATE_DIR',
    'The state folder: server entries and everything that is kept.',
    folder('~/MCPs', ({ home }) => path.join(home, 'MCPs')),
    { onlyVariable: 'settings.json is in that folder' },
  ),
  handleKey: setting(
    'http.handleKey',
    'MCP_BRIDGE_HANDLE_KEY',
    'The key of session handles, the same for all replicas of `run --http`; needed for durable sessions. Of several keys, the first encrypts.',
    pattern(
      'at least 32 printable characters, and more such keys after a space each',
      /^[\x21-\x7e]{32,}( [\x21-\x7e]{32,})*$/,
    ),
    { secret: true },
  ),
  httpToken: setting(
    'http.token',
    'MCP_BRIDGE_HTTP_TOKEN',
    'The bearer token that clients of `run --http` must send.',
    pattern(...TOKEN),
    { secret: true },
  ),
  publicNames: setting(
    'http.publicUrl',
    'MCP_BRIDGE_PUBLIC_URL',
    'The address at which clients reach `run --http`; behind it, other addresses and names by which they do.',
    {
      ...publicNames,
      defaultText: 'the address it listens on',
      type: (context) => publicNames.type(context).refine((all) => all.every(isPublicName)),
    },
  ),
  oauthIssuers: setting(
    'http.oauthIssuer',
    'MCP_BRIDGE_OAUTH=issuer',
    'Issuers whose access tokens `run --http` accepts, as written in their metadata.',
    {
      ...issuers,
      type: (context) =>
        issuers
          .type(context)
          .refine((all) => all.every(isIssuer))
          .transform((all) => [...new Set(all)]),
    },
  ),
  oauthAudience: setting(
    'http.oauthAudience',
    'MCP_BRIDGE_OAUTH=audience',
    'What `aud` of an access token must name, if not the bridge’s address.',
    pattern('text without spaces', /^[\x21-\x7e]+$/),
  ),
  oauthScopes: setting(
    'http.oauthScopes',
    'MCP_BRIDGE_OAUTH=scopes',
    'Scopes that an access token must have.',
    // RFC 6749, section 3.3.
    words('scopes separated by commas', /^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]+$/),
  ),
  httpSessionCount: setting(
    'http.sessions',
    'MCP_BRIDGE_HTTP_LIMITS=sessions',
    'The most sessions that `run --http` keeps open.',
    wholeNumber({ standard: 16, min: 1, max: 1000 }),
  ),
  userSandboxCount: setting(
    'http.userSandboxes',
    'MCP_BRIDGE_HTTP_LIMITS=userSessions',
    'The most sessions of one user.',
    limit(1000),
  ),
  userCellSeconds: setting(
    'http.userCellSeconds',
    'MCP_BRIDGE_HTTP_LIMITS=userSeconds',
    'The seconds that cells of one user may run in an hour.',
    limit(10_000_000),
  ),
  userCallCount: setting(
    'http.userCalls',
    'MCP_BRIDGE_HTTP_LIMITS=userCalls',
    'The calls that one user may make in an hour.',
    limit(100_000_000),
  ),
  drainMs: setting(
    'http.drain',
    'MCP_BRIDGE_DRAIN',
    'How long `run --http` lets cells end after SIGTERM; 0 ends them at once.',
    seconds({ standard: 0, min: 0, max: DAY_S }),
  ),
  storage: setting(
    'http.storage',
    'MCP_BRIDGE_STORAGE',
    'A PostgreSQL database that keeps what several bridges share, in place of the state folder.',
    text(
      'a connection URL such as postgres://sandbridge:PASSWORD@db.example.com/sandbridge',
      // A server on a Unix socket has no host: postgres://ann:PASSWORD@/sandbridge?host=/run/postgresql
      (given) =>
        /^postgres(ql)?:\/\/\S+$/.test(given) && URL.canParse(given.replace('@/', '@socket/')) ? given : undefined,
    ),
    { secret: true },
  ),
  cacheDir: setting(
    'http.cacheDir',
    'MCP_BRIDGE_CACHE_DIR',
    'The folder for cached data, which can be deleted.',
    folder('the cache folder of your system', standardCacheDir),
    { onlyVariable: 'a start needs that folder before it reads settings.json' },
  ),
} as const

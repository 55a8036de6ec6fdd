// Settings of the record and of metrics, of where data is stored, and of users.
import path from 'node:path'
import { isIPv4, isIPv6 } from 'node:net'
import { standardCacheDir } from './state-folder.ts'
import { choice, flag, folder, optional, pattern, setting, text, TOKEN, wholeNumber } from './setting-kinds.ts'

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
    'What the audit log holds: see docs/observability.md.',
    choice(['off', 'shape', 'full', 'replay'], 'shape'),
  ),
  auditRequired: setting(
    'observability.auditRequired',
    'MCP_BRIDGE_AUDIT=required',
    'Make each call only after the audit log has the call’s line.',
    flag(false),
  ),
  metrics: setting(
    'observability.metrics',
    'MCP_BRIDGE_METRICS',
    'The address at which Prometheus reads metrics. From other machines, Prometheus needs `MCP_BRIDGE_METRICS_TOKEN`.',
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

export const FOLDER_SETTINGS = {
  stateDir: setting(
    'http.stateDir',
    'MCP_BRIDGE_STATE_DIR',
    'The state folder, which has server entries and everything that Sandbridge keeps.',
    folder('~/MCPs', ({ home }) => path.join(home, 'MCPs')),
    { onlyVariable: 'settings.json is in that folder' },
  ),
  cacheDir: setting(
    'http.cacheDir',
    'MCP_BRIDGE_CACHE_DIR',
    'The cache folder, which you can delete.',
    folder('the cache folder of your system', standardCacheDir),
    { onlyVariable: 'a start needs that folder before it reads settings.json' },
  ),
} as const

/** Of bridges that serve several users. */
export const USER_SETTINGS = {
  userCellSeconds: setting(
    'http.userSeconds',
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
} as const

// The settings of `run --http`.
import { isHttpUrl, isLoopback } from '@sandbridge/core/util/net'
import {
  DAY_S,
  isPlainHttpAddress,
  optional,
  pattern,
  seconds,
  setting,
  type Settings,
  settingsOf,
  TOKEN,
  wholeNumber,
  words,
} from '@sandbridge/core/config/settings'

const issuers = words(
  'https addresses separated by commas, such as https://login.example.com; http for this machine only',
  /./,
)

const publicNames = words(
  'http or https addresses without a user name, a query or a fragment, such as https://bridge.example.com/mcp, names of hosts, such as host.docker.internal, and origins of extensions',
  /./,
)

/** Of a host, or of the pages of an app or a browser's extension: `chrome-extension://abc`. */
const NAME = /^((?!https?:)[a-z][a-z\d+.-]*:\/\/)?[a-z\d]([a-z\d.-]*[a-z\d])?$/i

function isPublicName(given: string): boolean {
  return NAME.test(given) || (isPlainHttpAddress(given) && !given.includes('@'))
}

/** The address at which all clients reach the bridge, of those in the setting. */
export function publicUrlOf({ publicNames: all }: { publicNames: readonly string[] }): string | undefined {
  return all.find(isHttpUrl)
}

/** RFC 8414, section 2. Without TLS, anyone on the network path could publish keys. */
function isIssuer(address: string): boolean {
  if (!isPlainHttpAddress(address) || /[@"\\]/.test(address)) return false
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || isLoopback(hostname)
}

export const HTTP_SETTINGS = {
  handleKey: setting(
    'http.handleKey',
    'MCP_BRIDGE_HANDLE_KEY',
    'The key that encrypts session handles, the same for all replicas of `run --http`. Durable sessions need a handle key. If you set several keys, the bridge encrypts with the first.',
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
    'The address at which clients reach `run --http`, followed by other addresses and host names of the bridge.',
    {
      ...publicNames,
      defaultText: 'the address it listens on',
      type: (context) => publicNames.type(context).refine((all) => all.every(isPublicName)),
    },
  ),
  oauthIssuers: setting(
    'http.oauthIssuer',
    'MCP_BRIDGE_OAUTH=issuer',
    'Issuers whose access tokens `run --http` accepts. Copy `issuer` from each authorization server’s metadata.',
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
    'The `aud` that an access token must have, if it is not the bridge’s address.',
    pattern('text without spaces', /^[\x21-\x7e]+$/),
  ),
  oauthScopes: setting(
    'http.oauthScopes',
    'MCP_BRIDGE_OAUTH=scopes',
    'OAuth scopes that an access token must have.',
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
    'http.userSessions',
    'MCP_BRIDGE_HTTP_LIMITS=userSessions',
    'The most sessions of one user.',
    optional(wholeNumber({ standard: 1, min: 1, max: 1000 })),
  ),
  drainMs: setting(
    'http.drain',
    'MCP_BRIDGE_DRAIN',
    'How long `run --http` lets cells run after SIGTERM. 0 ends cells at once.',
    seconds({ standard: 0, min: 0, max: DAY_S }),
  ),
} as const

export const httpSettings = (settings: Settings) => settingsOf(settings, HTTP_SETTINGS)
export type HttpSettings = ReturnType<typeof httpSettings>

// How sign-ins to servers are kept.
import type { Setting } from './setting-kinds.ts'

/** What seals the sign-ins that are kept: the system's keychain, nothing, or this key. */
type SignInKey = 'keychain' | 'none' | (string & {})

const signInKey: Setting<SignInKey> = {
  variable: 'MCP_BRIDGE_SIGN_IN_KEY',
  meaning:
    'What encrypts stored sign-ins: a key from the system’s keychain, if it has one (`keychain`), nothing (`none`), or this key, such as one from `openssl rand -hex 32`.',
  defaultText: 'keychain',
  allowed: 'keychain, none, or 64 digits and letters from a to f',
  json: { type: 'string', pattern: '^(keychain|none|[0-9a-f]{64})$' },
  whenMissing: () => 'keychain',
  parse: (text) => (/^(keychain|none|[0-9a-f]{64})$/.test(text) ? text : undefined),
  secret: true,
}

export const SIGN_IN_SETTINGS = { signInKey } as const

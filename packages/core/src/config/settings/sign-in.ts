// How sign-ins to servers are kept.
import { pattern } from './setting-kinds.ts'

export const SIGN_IN_SETTINGS = {
  signInKey: pattern(
    {
      variable: 'MCP_BRIDGE_SIGN_IN_KEY',
      meaning:
        'What encrypts stored sign-ins: a key from the system’s keychain, if it has one (`keychain`), nothing (`none`), or this key, such as one from `openssl rand -hex 32`.',
      secret: true,
    },
    {
      allowed: 'keychain, none, or 64 digits and letters from a to f',
      matches: /^(keychain|none|[0-9a-f]{64})$/,
      default: 'keychain',
    },
  ),
} as const

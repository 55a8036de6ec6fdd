// Settings of sign-ins to servers.
import { choice, pattern, TEXT, type Setting } from './setting-kinds.ts'

const clientMetadataUrl: Setting<string | undefined> = {
  variable: 'MCP_BRIDGE_SIGN_IN',
  member: 'clientMetadata',
  formerly: 'MCP_BRIDGE_CLIENT_METADATA_URL',
  meaning: 'The URL of a published OAuth client metadata document, for servers that support them.',
  defaultText: 'none',
  allowed: 'an https address with a path, without a user name, a query or a fragment',
  json: TEXT,
  whenMissing: () => undefined,
  parse: (text) => (isDocumentAddress(text) ? text : undefined),
}

/** Whether the URL may be a client id, draft-ietf-oauth-client-id-metadata-document section 3. */
function isDocumentAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, pathname, username, password } = new URL(text)
  return protocol === 'https:' && pathname !== '/' && username === '' && password === '' && !/[?#]/.test(text)
}

export const SIGN_IN_SETTINGS = {
  keychain: choice(
    {
      variable: 'MCP_BRIDGE_SIGN_IN',
      member: 'keychain',
      formerly: 'MCP_BRIDGE_KEYCHAIN',
      meaning: 'Encrypt stored sign-ins with a key from the system’s keychain, if it has one.',
    },
    ['auto', 'off'],
    'auto',
  ),
  signInKey: pattern(
    {
      variable: 'MCP_BRIDGE_SIGN_IN',
      member: 'key',
      formerly: 'MCP_BRIDGE_SIGN_IN_KEY',
      meaning:
        'Encrypt stored sign-ins with this key in place of the keychain’s, such as one from `openssl rand -hex 32`.',
      secret: true,
    },
    { allowed: '64 digits and letters from a to f', matches: /^[0-9a-f]{64}$/, default: undefined },
  ),
  clientMetadataUrl,
} as const

import { expect, it } from 'vitest'
import { toServerBody } from './server-entry.ts'

const url = 'https://s.example/mcp'
const plain = { type: 'http', url, headers: {} }
const client = { grant: 'client_credentials', clientId: 'a', clientSecret: '${SECRET}' }

it.each(['inheritEnv', 'env_vars', 'env_keys'])(
  'a wrong list of variables has the name that its file has for it: %s',
  (name) => {
    // As readers for the clients with other names pass it on.
    const entry = { command: 'x', [name]: 'A', inheritEnv: 'A' }
    expect(toServerBody(entry)).toEqual({ reason: `has invalid ${name}: expected a list` })
    const listed = { command: 'x', [name]: [{}], inheritEnv: [{}] }
    expect(toServerBody(listed)).toEqual({ reason: `has a non-text value in an item of ${name}` })
  },
)

it('client credentials are read from an entry with all of their fields', () => {
  const oauth = { clientId: 'a', clientSecret: '${SECRET}', scope: 'read', issuer: 'https://auth.example' }
  expect(toServerBody({ url, oauth: { grant: 'client_credentials', ...oauth, more: 1 } })).toEqual({
    body: { transport: { ...plain, oauth } },
  })
})

it.each([
  [{ ...client, clientId: undefined }, 'has no oauth.clientId'],
  [{ ...client, clientSecret: ' ' }, 'has no oauth.clientSecret'],
  [{ ...client, clientSecret: 7 }, 'has a oauth.clientSecret that is not text'],
  [{ ...client, scope: 7 }, 'has a oauth.scope that is not text'],
  [{ ...client, scope: [{}] }, 'has a non-text value in an item of oauth.scopes'],
])('wrong client credentials in an entry are reported (%#)', (oauth, reason) => {
  expect(toServerBody({ url, oauth })).toEqual({ reason })
})

it.each([
  [{ clientId: 'a', more: 1 }, { clientId: 'a' }],
  [
    { ...client, grant: 'authorization_code' },
    { clientId: 'a', clientSecret: '${SECRET}' },
  ],
  [
    { clientId: 'a', scopes: ['x', 'y'], callbackPort: '80' },
    { clientId: 'a', scope: 'x y', redirectUri: 'http://127.0.0.1:80/callback' },
  ],
  [{ clientSecret: 'of nobody', scope: ' x ' }, { scope: 'x' }],
])('a client that was registered by hand is read from an entry with its fields (%#)', (oauth, signIn) => {
  expect(toServerBody({ url, oauth })).toEqual({ body: { transport: { ...plain, signIn } } })
})

it.each([[true], [false], [{}], ['no'], [{ clientId: '' }], [{ enabled: true }]])(
  'a client that was registered by hand cannot be %j',
  (oauth) => {
    expect(toServerBody({ url, oauth })).toEqual({ body: { transport: plain } })
  },
)

it.each([
  [{ clientId: 7 }, 'has a oauth.clientId that is not text'],
  [{ clientId: 'a', clientSecret: [] }, 'has a oauth.clientSecret that is not text'],
  [{ clientId: 'a', callbackPort: 70_000 }, 'has an invalid oauth.callbackPort: expected a port'],
  [{ clientId: 'a', redirectUri: {} }, 'has a oauth.redirectUri that is not text'],
])('a wrong client that was registered by hand is reported (%#)', (oauth, reason) => {
  expect(toServerBody({ url, oauth })).toEqual({ reason })
})

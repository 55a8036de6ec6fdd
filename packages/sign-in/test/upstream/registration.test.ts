// Registers at an authorization server that refuses what it is told to refuse.
import { expect, it } from 'vitest'
import type { Oddity, Step } from '@sandbridge/core/test/support/servers/protected-server.ts'
import { changed, site } from './odd-site.ts'

const refuse =
  (is: (asked: Record<string, unknown>) => boolean, error_description?: string): Oddity =>
  (usual, asked) =>
    is(asked) ? [400, { error: 'invalid_client_metadata', error_description }] : usual

it.each<[string, Partial<Record<Step, Oddity>>]>([
  ['localhost', { register: refuse((asked) => String(asked['redirect_uris']).includes('127.0.0.1'), 'redirect_uris') }],
  [
    'a secret',
    { register: refuse((asked) => asked['token_endpoint_auth_method'] === 'none', "'none' is not supported") },
  ],
  [
    'no refresh tokens',
    { register: refuse((asked) => String(asked['grant_types']).includes('refresh'), 'grant_types') },
  ],
  [
    'no scope',
    {
      resource: changed({ scopes_supported: ['a'] }),
      register: refuse((asked) => 'scope' in asked, 'unknown scope'),
    },
  ],
  [
    'no refresh tokens, in its metadata',
    {
      metadata: changed({ grant_types_supported: ['authorization_code'] }),
      register: refuse((asked) => String(asked['grant_types']).includes('refresh')),
    },
  ],
  [
    'localhost, as a sentence says',
    {
      register: (usual, asked) =>
        String(asked['redirect_uris']).includes('127.0.0.1') ? [400, 'Invalid redirect URI'] : usual,
    },
  ],
  [
    'a secret, as a list of errors says',
    {
      register: (usual, asked) =>
        asked['token_endpoint_auth_method'] === 'none'
          ? [422, { errors: [{ field: 'token_endpoint_auth_method', message: 'auth method must have a secret' }] }]
          : usual,
    },
  ],
  [
    'a web application',
    { register: refuse((asked) => asked['application_type'] === 'native', 'application_type must be web') },
  ],
  [
    'a secret, in its metadata',
    {
      metadata: changed({ token_endpoint_auth_methods_supported: ['client_secret_post'] }),
      register: refuse((asked) => asked['token_endpoint_auth_method'] === 'none'),
    },
  ],
])('a registration is made again with %s where the authorization server wants it', async (_what, steps) => {
  expect(await (await site(steps)).logIn()).toEqual({ wasNeeded: true })
})

it('a registration that stays refused names the fields that were sent', async () => {
  const { logIn: signIn } = await site({ register: () => [400, { error: 'invalid_client_metadata' }] })
  await expect(signIn()).rejects.toThrow(/invalid_client_metadata \(sent: redirect_uris http:.*grant_types/)
})

it('a client whose secret has expired is registered anew, before a page that would fail', async () => {
  for (const [expires, count] of [
    [0, 1],
    [Date.now() / 1000 + 3600, 1],
    [Date.now() / 1000 - 1, 2],
  ] as const) {
    const { server, logIn: signIn } = await site({
      register: changed({ client_secret: 'secret', client_secret_expires_at: expires }),
    })
    await signIn()
    await signIn({ scope: 'more' })
    expect(server.counts).toMatchObject({ authorize: 2, register: count })
  }
})

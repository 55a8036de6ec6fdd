// Signs in at a stand-in that is told how to answer: a table of oddities, by the step that has them. What an answer
// means decides, not how it is dressed.
import { expect, it } from 'vitest'
import type { Oddity, Step } from '@sandbridge/core/test/support/servers/protected-server.ts'
import { textOf } from '@sandbridge/core/test/upstream/support.ts'
import { echo } from './oauth-login.ts'
import { changed, page, site, without } from './odd-site.ts'

/** With all of these fields empty, in each way. */
const eachEmpty = (step: Step, fields: string[]) =>
  [null, ''].map((empty): [Step, string, Oddity] => [
    step,
    `${JSON.stringify(empty)} as ${fields.join(', ')}`,
    changed(Object.fromEntries(fields.map((field) => [field, empty]))),
  ])
const METADATA = [
  'scopes_supported',
  'revocation_endpoint',
  'code_challenge_methods_supported',
  'response_types_supported',
  'issuer',
  'grant_types_supported',
  'token_endpoint_auth_methods_supported',
]

it.each<[Step, string, Oddity]>([
  ...eachEmpty('code', ['scope', 'refresh_token', 'id_token', 'token_type', 'expires_in']),
  ['code', 'expires_in as text', changed({ expires_in: '3600' })],
  ['code', 'a scope as a list', changed({ scope: ['a', 'b'] })],
  ['code', 'no token_type', without('token_type')],
  ['code', 'a form', (usual) => new URLSearchParams(usual as Record<string, string>).toString()],
  [
    'code',
    'a form with its question mark',
    (usual) => `?${new URLSearchParams(usual as Record<string, string>).toString()}`,
  ],
  ['code', 'JSON that is encoded twice', (usual) => JSON.stringify(JSON.stringify(usual))],
  ['code', 'a list of one', (usual) => JSON.stringify([usual])],
  ['code', 'a byte order mark', (usual) => `\uFEFF${JSON.stringify(usual)}`],
  ...eachEmpty('register', [
    'redirect_uris',
    'grant_types',
    'client_secret',
    'client_id_issued_at',
    'logo_uri',
    'scope',
    'contacts',
  ]),
  ['register', 'only client_id', ({ client_id }) => ({ client_id })],
  ['register', 'a client_id that is a number', changed({ client_id: 77 })],
  ['register', 'status 200', (usual) => [200, usual]],
  ...eachEmpty('metadata', METADATA),
  ['metadata', 'no more than endpoints', without(...METADATA)],
  [
    'metadata',
    'lists as texts',
    changed({ code_challenge_methods_supported: 'plain S256', response_types_supported: 'code token' }),
  ],
  ['metadata', 's256', changed({ code_challenge_methods_supported: ['s256'] })],
  ['metadata', 'relative endpoints', changed({ authorization_endpoint: '/authorize', token_endpoint: '/token' })],
  [
    'metadata',
    'an issuer in other letters',
    (usual) => ({ ...usual, issuer: (usual['issuer'] as string).replace('http', 'HTTP') }),
  ],
  ['metadata', 'an issuer with a slash', (usual) => ({ ...usual, issuer: `${usual['issuer'] as string}/` })],
  ...eachEmpty('resource', ['scopes_supported', 'resource_name', 'jwks_uri', 'resource']),
  [
    'resource',
    'one server as a text',
    (usual) => ({ ...usual, authorization_servers: (usual['authorization_servers'] as string[])[0] }),
  ],
  ['resource', 'a resource with a slash', (usual) => ({ ...usual, resource: `${usual['resource'] as string}/` })],
  [
    'resource',
    'a dead server first',
    (usual) => ({
      ...usual,
      authorization_servers: ['http://127.0.0.1:9', ...(usual['authorization_servers'] as string[])],
    }),
  ],
  [
    'resource',
    'the place of the metadata as a server',
    (usual, _sent, base) => ({
      ...usual,
      authorization_servers: [`${base}/.well-known/oauth-authorization-server`],
    }),
  ],
  ['resource', '404, so that the server itself is asked', () => 404],
  ['resource', '401, so that the server itself is asked', () => 401],
  [
    'metadata',
    'a registration endpoint that is no usual one',
    (usual, _sent, base) => ({ ...usual, registration_endpoint: `${base}/register?v=2` }),
  ],
  [
    'metadata',
    'no refresh_token grant, though it issues such tokens',
    changed({ grant_types_supported: ['authorization_code'] }),
  ],
])('a sign-in reads %s with %s', async (step, what, oddity) => {
  const { connect, logIn: signIn, server } = await site({ [step]: oddity })
  // An issuer that names itself otherwise does so in its answers, too.
  const { origin } = new URL(server.url)
  if (what === 'an issuer with a slash') server.twist.iss = `${origin}/`
  if (what === 'an issuer in other letters') server.twist.iss = origin.replace('http', 'HTTP')
  expect(await signIn()).toEqual({ wasNeeded: true })
  expect(textOf(await echo(connect()))).toBe('hi')
})

it.each<[string, Oddity]>([
  ['a page', () => page],
  ['a page with 404', () => [404, page]],
  ['HTTP 500', () => 500],
  ['a text', () => '"hello"'],
  ['metadata without a token endpoint', without('token_endpoint')],
])('discovery goes on past %s', async (_what, oddity) => {
  const { logIn: signIn } = await site({ metadata: oddity, openid: (usual) => usual })
  expect(await signIn()).toEqual({ wasNeeded: true })
})

it.each([null, '', undefined])('a refresh token %j in a refresh does not replace a good one', async (value) => {
  const { server, connect, logIn: signIn } = await site({})
  await signIn()
  const upstreams = connect()
  for (let i = 0; i < 3; i += 1) {
    server.twist.steps = {
      refresh: (usual, asked) => (
        server.refreshTokens.add(asked['refresh_token'] as string),
        { ...usual, refresh_token: value }
      ),
    }
    server.valid.clear()
    expect(textOf(await echo(upstreams))).toBe('hi')
  }
  expect(server.counts).toMatchObject({ authorize: 1, refresh: 3 })
})

it.each<[string, Oddity]>([
  ...['invalid_grant', 'invalid_token', 'x'].map((error): [string, Oddity] => [error, () => [400, { error }]]),
  ['ok: false with 200', () => ({ ok: false, error: 'invalid_refresh_token' })],
  ['an error object', () => [400, { error: { code: 'dead', message: 'Expired' } }]],
  ['invalid_grant with 500', () => [500, { error: 'invalid_grant' }]],
  ['INVALID_GRANT with 500', () => [500, { error: 'INVALID_GRANT' }]],
  ['a session that has timed out', () => [400, { error: 'session_timeout' }]],
  ['an error in a form with 200', () => 'error=bad_refresh_token&error_description=It+has+expired'],
  ['a code of another name', () => [400, { errorCode: 'E0000011', errorSummary: 'Invalid token provided' }]],
  ['a list of errors', () => [422, { errors: [{ code: 'expired', message: 'Expired' }] }]],
  ['a sentence with 400', () => [400, 'invalid refresh token']],
  ['a page with 400', () => [400, page]],
  ['401', () => 401],
])(
  'a refresh that is refused with %s ends the sign-in, and the next login begins with a page',
  async (_what, oddity) => {
    const { server, connect, logIn: signIn } = await site({})
    await signIn()
    server.valid.clear()
    server.twist.steps = { refresh: oddity }
    const failure = { code: 'UPSTREAM_AUTH_REQUIRED', message: expect.stringContaining('has ended') as string }
    await expect(echo(connect())).rejects.toMatchObject({
      ...failure,
      hint: expect.stringContaining('sandbridge login r'),
    })
    const { refresh } = server.counts
    await expect(echo(connect())).rejects.toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
    expect(await signIn()).toEqual({ wasNeeded: true })
    expect(server.counts).toMatchObject({ authorize: 2, refresh })
    expect(textOf(await echo(connect()))).toBe('hi')
  },
)

it.each<[string, Oddity]>([
  ['a page', () => page],
  ['a redirect', () => 302],
  ['a page with 403', () => [403, page]],
  ['404', () => 404],
  ['the words of a gateway', () => [403, { error: 'Forbidden', message: 'Forbidden' }]],
  ['a sentence with 200', () => 'We are back soon.'],
  ['fields without a token', () => ({ status: 'maintenance' })],
])('a refresh that is answered with %s keeps the sign-in, and login begins with a page', async (_what, oddity) => {
  const { server, connect, logIn: signIn } = await site({})
  await signIn()
  server.valid.clear()
  server.twist.steps = {
    refresh: (usual, asked, base) => (
      server.refreshTokens.add(asked['refresh_token'] as string),
      oddity(usual, asked, base)
    ),
  }
  await expect(echo(connect())).rejects.toMatchObject({
    code: 'UPSTREAM_AUTH_REQUIRED',
    message: expect.stringContaining('could not be renewed') as string,
    hint: expect.stringContaining('sandbridge login r') as string,
  })
  const { steps } = server.twist
  server.twist.steps = {}
  expect(textOf(await echo(connect()))).toBe('hi')
  expect(server.counts.authorize).toBe(1)
  server.twist.steps = steps
  server.valid.clear()
  expect(await signIn()).toEqual({ wasNeeded: true })
  expect(server.counts.authorize).toBe(2)
})

it.each<[string, Oddity]>([
  ['500', () => 500],
  ['429', () => 429],
  ['a page with 503', () => [503, page]],
  ['temporarily_unavailable', () => [400, { error: 'temporarily_unavailable' }]],
  ['server_error with 200', () => ({ error: 'server_error' })],
  ['rate_limit_exceeded', () => [400, { error: 'rate_limit_exceeded' }]],
  ['a limit in the words of HTTP', () => [400, { error: 'Too Many Requests' }]],
  ['ok: false and service_unavailable', () => ({ ok: false, error: 'service_unavailable' })],
])('a refresh that fails with %s keeps the sign-in', async (_what, oddity) => {
  const { server, connect, logIn: signIn } = await site({})
  await signIn()
  server.valid.clear()
  // The token is not used up: the authorization server did not look at it.
  server.twist.steps = {
    refresh: (usual, asked, base) => (
      server.refreshTokens.add(asked['refresh_token'] as string),
      oddity(usual, asked, base)
    ),
  }
  await expect(echo(connect())).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' })
  server.twist.steps = {}
  expect(textOf(await echo(connect()))).toBe('hi')
  expect(server.counts.authorize).toBe(1)
})

it.each<[string, [number, string]]>([
  ['403', [403, 'Bearer error="invalid_token"']],
  ['400', [400, 'Bearer realm="x"']],
  ['several schemes', [401, 'Negotiate, Basic realm="a, Bearer scope=no", Bearer error_description="no scope=x"']],
])('a server that refuses with %s is signed in to', async (_what, refusal) => {
  const { server, connect, logIn: signIn } = await site({})
  server.twist.refusal = refusal
  expect(await signIn()).toEqual({ wasNeeded: true })
  server.valid.clear()
  expect(textOf(await echo(connect()))).toBe('hi')
  expect(server.counts).toMatchObject({ authorize: 1, refresh: 1 })
})

it('a server that needs a sign-in for calls only is signed in to by login, and one that needs none is not', async () => {
  const { server, connect, logIn: signIn } = await site({})
  server.twist.needsToken = /"tools\/call"/
  await expect(echo(connect())).rejects.toMatchObject({ hint: expect.stringContaining('sandbridge login r') })
  expect(await signIn()).toEqual({ wasNeeded: true })
  expect(textOf(await echo(connect()))).toBe('hi')
  const other = await site({ resource: () => 404, metadata: () => 404 })
  other.server.twist.needsToken = /nothing/
  expect(await other.logIn()).toEqual({ wasNeeded: false })
})

const template = 'https://login.example/{tenantid}/v2.0'

it('an issuer of another place is trusted only where the entry names it, and the error has that line', async () => {
  const metadata: Oddity = (usual) => ({ ...usual, issuer: template })
  const line = `"issuer": "${template}"`
  await expect((await site({ metadata })).logIn()).rejects.toMatchObject({
    code: 'UPSTREAM_AUTH_REQUIRED',
    hint: expect.stringContaining(line),
  })
  for (const [iss, isRight] of [
    ['https://login.example/1-2/v2.0', true],
    ['https://evil.example/1-2/v2.0', false],
  ] as const) {
    const { server, logIn: signIn } = await site({ metadata }, { issuer: template })
    server.twist.iss = iss
    const outcome = signIn().then(
      () => true,
      () => false,
    )
    expect(await outcome).toBe(isRight)
  }
})

it('a server that names itself in place of its authorization server is signed in to where the entry names the issuer', async () => {
  const resource: Oddity = (usual, _sent, base) => ({ ...usual, authorization_servers: [`${base}/mcp`] })
  const first = await site({ resource })
  const { origin } = new URL(first.server.url)
  await expect(first.logIn()).rejects.toMatchObject({ hint: expect.stringContaining(`"issuer": "${origin}"`) })
  const signIn = { issuer: origin }
  const server = { type: 'http' as const, url: first.server.url, headers: {}, signIn }
  expect(await first.logIn({ server })).toEqual({ wasNeeded: true })
})

it('the resource that an entry names is what the tokens are for', async () => {
  const sent: unknown[] = []
  const note: Oddity = (usual, asked) => (sent.push(asked['resource']), usual)
  const {
    server,
    logIn: signIn,
    connect,
  } = await site({ code: note, refresh: note }, { resource: 'https://r.example' })
  await signIn()
  server.valid.clear()
  expect(textOf(await echo(connect()))).toBe('hi')
  expect(sent).toEqual(['https://r.example', 'https://r.example'])
})

it('a refresh names the scope that the entry names, and no other', async () => {
  for (const scope of ['api://x/.default', undefined]) {
    const { server, connect, logIn: signIn } = await site({}, scope === undefined ? undefined : { scope })
    await signIn()
    const sent: unknown[] = []
    server.twist.steps = { refresh: (usual, asked) => (sent.push(asked['scope']), usual) }
    server.valid.clear()
    expect(textOf(await echo(connect()))).toBe('hi')
    expect(sent).toEqual([scope])
  }
})

it.each<[string, Oddity, object]>([
  ['HTTP 500', () => 500, { code: 'UPSTREAM_UNREACHABLE', message: expect.stringContaining('HTTP 500') }],
  [
    'an error with 200',
    () => ({ error: 'incorrect_client_credentials' }),
    { message: expect.stringContaining('incorrect_client_credentials') },
  ],
  ['a page', () => page, { message: expect.stringContaining('a page in place of an answer') }],
])('a login whose code is answered with %s says so', async (_what, oddity, failure) => {
  await expect((await site({ code: oddity })).logIn()).rejects.toMatchObject(failure)
})

it('faults of metadata are named with their places, and nothing is registered at the server itself', async () => {
  const { server, logIn: signIn } = await site({ resource: () => page, metadata: () => 404 })
  await expect(signIn()).rejects.toThrow(/Tried: .*oauth-protected-resource\/mcp: it has a page in place of metadata/)
  expect(server.counts.register).toBe(0)
})

it('two entries with one address have sign-ins of their own, and a login that ends without an answer registers anew', async () => {
  const { server, store, logIn: signIn } = await site({})
  await signIn({ name: 'work' })
  await signIn({ name: 'home' })
  const tokens = await Promise.all(
    ['work', 'home'].map(async (name) => (await store().read({ name, url: server.url })).byIssuer),
  )
  const [work, home] = tokens.map((grants) => Object.values(grants)[0]!.tokens!.access_token)
  expect(work).not.toBe(home)
  const abort = new AbortController()
  const clients: (string | null)[] = []
  const showPage = (url: URL): void => {
    clients.push(url.searchParams.get('client_id'))
    abort.abort()
  }
  await expect(signIn({ name: 'work', isFresh: false, scope: 'more', showPage, signal: abort.signal })).rejects.toThrow(
    'cancelled',
  )
  await signIn({ name: 'work', scope: 'more' })
  expect(server.asked.at(-1)!.clientId).not.toBe(clients[0])
})

it('a login that is not completed in time says so, and the next registers anew', async () => {
  const { server, logIn: signIn } = await site({})
  await signIn()
  const signal = AbortSignal.timeout(100)
  await expect(signIn({ scope: 'more', showPage: () => {}, signal })).rejects.toMatchObject({
    message: "The login at server 'r' was not completed in time",
    hint: expect.stringContaining('It registers anew') as string,
  })
  expect(await signIn({ scope: 'more' })).toEqual({ wasNeeded: true })
  expect(server.counts).toMatchObject({ authorize: 2, register: 2 })
})

it('a token that a server quotes is redacted, whoever quotes it', async () => {
  const quoted: string[] = []
  const { server, connect, logIn: signIn } = await site({})
  await signIn()
  server.valid.clear()
  server.twist.steps = {
    refresh: (_usual, asked) => (
      quoted.push(asked['refresh_token'] as string),
      [400, { error: 'x', error_description: `no ${quoted[0]}` }]
    ),
  }
  const failure = (await echo(connect()).catch((error: unknown) => error)) as Error
  expect(failure.message).toContain('no [redacted]')
  expect(failure.message).not.toContain(quoted[0])
})

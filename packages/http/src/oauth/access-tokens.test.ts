// This file verifies which access tokens are accepted. Each attack differs in one thing from a valid token, which is
// checked beside it.
import { createHmac } from 'node:crypto'
import { exportSPKI, importJWK } from 'jose'
import { expect, it } from 'vitest'
import { AUDIENCE, type Claims, newKey, startIssuer, type TokenIssuer } from '../../test/support/token-issuer.ts'
import { createLog } from '../../../core/src/util/log.ts'
import { AccessTokens } from './access-tokens.ts'
import { KEY_TIMES } from './issuer-keys.ts'

async function setUp({ scopes = [] as string[], times = {} } = {}) {
  const issuer = await startIssuer()
  const lines: string[] = []
  const log = createLog('debug', (line) => lines.push(line))
  const audience = () => AUDIENCE
  const all = { ...KEY_TIMES, ...times }
  const tokens = new AccessTokens({ issuers: [issuer.issuer], audience, scopes, log, times: all })
  return { issuer, tokens, lines }
}

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

async function withHmac(issuer: TokenIssuer, secret: string | Buffer): Promise<string> {
  const head = `${base64({ alg: 'HS256', typ: 'at+jwt', kid: issuer.key.kid })}.${base64(issuer.claims())}`
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
}

async function publicPem({ key }: TokenIssuer): Promise<string> {
  const imported = await importJWK(key.public, 'ES256', { extractable: true })
  return exportSPKI(imported as Exclude<typeof imported, Uint8Array>)
}

const ago = (seconds: number): number => Math.floor(Date.now() / 1000) - seconds

it('an access token names its user by issuer and subject', async () => {
  const { issuer, tokens } = await setUp()
  expect(await tokens.userOf(await issuer.sign())).toBe(`${issuer.issuer}#ann`)
  expect(await tokens.userOf(await issuer.sign({ sub: 'a|b@c' }))).toBe(`${issuer.issuer}#a|b@c`)
})

it('an access token is accepted in every form that the standards allow', async () => {
  const { issuer, tokens } = await setUp()
  for (const token of [
    await issuer.sign({ aud: ['https://other.example', AUDIENCE] }),
    await issuer.sign({}, { typ: 'application/at+jwt' }),
    // Clocks may differ slightly.
    await issuer.sign({ exp: ago(20) }),
    await issuer.sign({ nbf: ago(-20) }),
  ]) {
    expect(await tokens.userOf(token)).toBe(`${issuer.issuer}#ann`)
  }
  for (const alg of ['RS256', 'PS256', 'ES384', 'EdDSA']) {
    const key = await newKey(`of-${alg}`, alg)
    const other = await setUp()
    other.issuer.published = [key.public]
    expect(await other.tokens.userOf(await other.issuer.sign({}, {}, key))).toMatch(/#ann$/)
  }
})

it.each<[string, Claims, RegExp]>([
  ['for another server', { aud: 'https://other.example/mcp' }, /is for another server/],
  ['for a server whose address begins like this one', { aud: `${AUDIENCE}/x` }, /is for another server/],
  ['for nobody', { aud: undefined }, /has no aud|is for another server/],
  ['of an issuer that is not configured', { iss: 'https://evil.example' }, /not configured/],
  ['of no issuer', { iss: undefined }, /not configured/],
  ['that has expired', { exp: ago(31) }, /has expired/],
  ['that does not expire', { exp: undefined }, /has no exp/],
  ['that is not valid yet', { nbf: ago(-300) }, /is not valid yet/],
  ['of nobody', { sub: undefined }, /has no sub/],
  ['with an empty subject', { sub: '' }, /has a sub/],
  ['whose subject forges a line of a log', { sub: 'ann\nben' }, /has a sub/],
  ['whose subject is written backwards', { sub: 'ann\u202eneb' }, /has a sub/],
  ['with a very long subject', { sub: 'x'.repeat(256) }, /has a sub/],
  ['that only the holder of a key may use', { cnf: { jkt: 'x' } }, /bound to a key/],
])('an access token is refused %s', async (_, claims, message) => {
  const { issuer, tokens } = await setUp()
  await expect(tokens.userOf(await issuer.sign(claims))).rejects.toMatchObject({
    kind: { status: 401, error: 'invalid_token' },
    message: expect.stringMatching(message),
  })
  expect(await tokens.userOf(await issuer.sign())).toMatch(/#ann$/)
})

it.each<[string, Record<string, unknown>, RegExp]>([
  ['that is an ID token', { typ: 'JWT' }, /not of type at\+jwt/],
  ['without a type', { typ: undefined }, /not of type at\+jwt.*need scopes/],
  ['that is a logout token', { typ: 'logout+jwt' }, /not of type at\+jwt/],
  ['with a kid that is a path', { kid: '../../../../dev/null' }, /does not have/],
  ['with a kid that is an address', { kid: 'https://evil.example/keys' }, /does not have/],
  ['with a kid that is a name of an object', { kid: '__proto__' }, /does not have/],
  ['with a header that must be understood', { 'urn:x': 1, crit: ['urn:x'] }, /is not valid/],
])('an access token is refused %s', async (_, header, message) => {
  const { issuer, tokens } = await setUp()
  await expect(tokens.userOf(await issuer.sign({}, header))).rejects.toMatchObject({
    kind: { status: 401 },
    message: expect.stringMatching(message),
  })
  expect(await tokens.userOf(await issuer.sign())).toMatch(/#ann$/)
})

it('an access token is refused without a signature', async () => {
  const { issuer, tokens } = await setUp()
  const [head, body] = (await issuer.sign()).split('.')
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
    const unsigned = `${base64({ alg, typ: 'at+jwt', kid: 'first' })}.${body}.`
    await expect(tokens.userOf(unsigned)).rejects.toMatchObject({ kind: { status: 401 } })
  }
  await expect(tokens.userOf(`${head}.${body}.`)).rejects.toMatchObject({ kind: { status: 401 } })
})

it('an access token is refused when it is signed with the public key as a shared secret', async () => {
  const { issuer, tokens } = await setUp()
  const pem = await publicPem(issuer)
  const der = Buffer.from(pem.replace(/-----.*?-----|\s/g, ''), 'base64')
  const secrets = [pem, pem.trim(), der, JSON.stringify(issuer.key.public), issuer.key.public.x!]
  for (const secret of secrets) {
    await expect(tokens.userOf(await withHmac(issuer, secret))).rejects.toMatchObject({
      kind: { status: 401 },
      message: expect.stringMatching(/algorithm that is not allowed/),
    })
  }
})

it('an access token is refused when it brings its own key, and that key is not fetched', async () => {
  const { issuer, tokens } = await setUp()
  const evil = await newKey('first')
  const address = `${issuer.issuer}/evil`
  issuer.twist = (path, response) => {
    if (path === '/evil') response.end(JSON.stringify({ keys: [evil.public] }))
    return path === '/evil'
  }
  for (const header of [{ jku: address }, { x5u: address }, { jwk: evil.public }, { x5c: ['x'] }, {}]) {
    const forged = await issuer.sign({}, header, evil)
    await expect(tokens.userOf(forged)).rejects.toMatchObject({ message: expect.stringMatching(/bad signature/) })
    // Control: with a valid signature, such a header does no harm.
    if (!('jwk' in header)) expect(await tokens.userOf(await issuer.sign({}, header))).toMatch(/#ann$/)
  }
  expect(issuer.asked).not.toContain('/evil')
})

it('an access token of one issuer is refused in the name of another', async () => {
  const [one, other] = [await startIssuer(), await startIssuer()]
  const issuers = [one.issuer, other.issuer]
  const tokens = new AccessTokens({ issuers, audience: () => AUDIENCE, scopes: [], log: createLog('error') })
  const forged = await other.sign({ iss: one.issuer })
  await expect(tokens.userOf(forged)).rejects.toMatchObject({ message: expect.stringMatching(/bad signature/) })
  expect(await tokens.userOf(await other.sign())).toBe(`${other.issuer}#ann`)
  expect(await tokens.userOf(await one.sign())).toBe(`${one.issuer}#ann`)
})

it('an access token is refused when it was changed', async () => {
  const { issuer, tokens } = await setUp()
  const [head, , signature] = (await issuer.sign()).split('.')
  const changed = `${head}.${base64(issuer.claims({ sub: 'ben' }))}.${signature}`
  await expect(tokens.userOf(changed)).rejects.toMatchObject({ message: expect.stringMatching(/bad signature/) })
})

it.each(['a.b.c', '..', 'eyJ9.eyJ9.x', `${base64(null)}.${base64(null)}.x`, `${base64([])}.${base64([])}.x`])(
  'an access token is refused when it is malformed: %s',
  async (token) => {
    const { tokens } = await setUp()
    await expect(tokens.userOf(token)).rejects.toMatchObject({ kind: { status: 401 } })
  },
)

it('an access token needs every scope that is set', async () => {
  const { issuer, tokens } = await setUp({ scopes: ['run', 'read'] })
  for (const scope of [undefined, '', 'run', 'running read', 'run,read', ['run', 'read']]) {
    await expect(tokens.userOf(await issuer.sign({ scope }))).rejects.toMatchObject({
      kind: { status: 403, error: 'insufficient_scope' },
    })
  }
  expect(await tokens.userOf(await issuer.sign({ scope: 'other read run' }))).toMatch(/#ann$/)
})

it('where scopes are set, a token of a type that ID tokens have, too, is accepted with its scopes only', async () => {
  const { issuer, tokens } = await setUp({ scopes: ['run'] })
  for (const typ of ['JWT', 'jwt', undefined]) {
    for (const claims of [{ scope: 'read run' }, { scp: 'read run' }, { scp: ['read', 'run'] }])
      expect(await tokens.userOf(await issuer.sign(claims, { typ }))).toMatch(/#ann$/)
    for (const claims of [{ nonce: 'n', at_hash: 'h' }, { scp: 'running' }, { scope: '', scp: 'run' }])
      await expect(tokens.userOf(await issuer.sign(claims, { typ }))).rejects.toMatchObject({ kind: { status: 403 } })
  }
  const logout = await issuer.sign({ scope: 'run' }, { typ: 'logout+jwt' })
  await expect(tokens.userOf(logout)).rejects.toMatchObject({ message: expect.stringMatching(/type at\+jwt$/) })
})

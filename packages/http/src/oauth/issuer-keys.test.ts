// This file verifies which tokens are accepted while an authorization server rotates keys, is slow, is down, or returns
// an invalid response.
import { expect, it } from 'vitest'
import { AUDIENCE, newKey, startIssuer } from '../../test/support/token-issuer.ts'
import { createLog } from '../../../core/src/util/log.ts'
import { AccessTokens } from './access-tokens.ts'
import { KEY_TIMES, metadataAddresses } from './issuer-keys.ts'

async function setUp(times: Partial<typeof KEY_TIMES> = {}) {
  const issuer = await startIssuer()
  const lines: string[] = []
  const log = createLog('debug', (line) => lines.push(line))
  const issuers = [issuer.issuer]
  const tokens = new AccessTokens({
    issuers,
    audience: () => AUDIENCE,
    scopes: [],
    log,
    times: { ...KEY_TIMES, ...times },
  })
  return { issuer, tokens, lines }
}

const UNAVAILABLE = { kind: { status: 503 }, message: expect.stringMatching(/cannot be reached/) }

it('keys of an authorization server follow its changes, and withdrawn ones are dropped', async () => {
  const { issuer, tokens } = await setUp({ coolDownMs: 0, freshMs: 0 })
  const old = await issuer.sign()
  await tokens.userOf(old)
  const next = await newKey('next')
  issuer.published = [issuer.key.public, next.public]
  expect(await tokens.userOf(await issuer.sign({}, {}, next))).toMatch(/#ann$/)
  expect(await tokens.userOf(old)).toMatch(/#ann$/)
  issuer.published = [next.public]
  await expect
    .poll(() => tokens.userOf(old).catch((error: Error) => error.message))
    .toMatch(/signed with a key that its authorization server does not have/)
})

it('keys of an authorization server are requested once, however many tokens name unknown keys', async () => {
  const { issuer, tokens } = await setUp()
  await tokens.userOf(await issuer.sign())
  expect(issuer.keySetCount).toBe(1)
  const strange = await newKey('strange')
  const flood = Array.from({ length: 200 }, async (_, index) => issuer.sign({}, { kid: `unknown-${index}` }, strange))
  const answers = await Promise.allSettled((await Promise.all(flood)).map((token) => tokens.userOf(token)))
  for (const answer of answers) expect(answer).toMatchObject({ reason: { kind: { status: 401 } } })
  expect(issuer.keySetCount).toBe(1)
  expect(await tokens.userOf(await issuer.sign())).toMatch(/#ann$/)
})

it('keys of an authorization server are requested again for an unknown key after the cool-down, once for all that wait', async () => {
  const { issuer, tokens } = await setUp({ coolDownMs: 0 })
  await tokens.userOf(await issuer.sign())
  const next = await newKey('next')
  issuer.published.push(next.public)
  const all = await Promise.all(Array.from({ length: 50 }, () => issuer.sign({}, {}, next)))
  expect(new Set(await Promise.all(all.map((token) => tokens.userOf(token)))).size).toBe(1)
  expect(issuer.keySetCount).toBe(2)
})

it('known keys still work while the authorization server is gone, and tokens of other keys get an error that says so', async () => {
  const { issuer, tokens, lines } = await setUp({ coolDownMs: 0, freshMs: 0 })
  const known = await issuer.sign()
  await tokens.userOf(known)
  const next = await newKey('next')
  const unknown = await issuer.sign({}, {}, next)
  issuer.twist = (_path, response) => {
    response.writeHead(503).end()
    return true
  }
  for (let attempt = 0; attempt < 3; attempt += 1) {
    expect(await tokens.userOf(known)).toMatch(/#ann$/)
    await expect(tokens.userOf(unknown)).rejects.toMatchObject(UNAVAILABLE)
  }
  expect(lines.filter((line) => line.includes('cannot be read'))).toHaveLength(1)
  issuer.twist = () => false
  issuer.published.push(next.public)
  expect(await tokens.userOf(unknown)).toMatch(/#ann$/)
  expect(lines.at(-1)).toMatch(/known again/)
})

it('an authorization server that does not answer is waited for up to the timeout', async () => {
  const { issuer, tokens } = await setUp({ lookUpMs: 100 })
  issuer.twist = () => true
  await expect(tokens.userOf(await issuer.sign())).rejects.toMatchObject(UNAVAILABLE)
  issuer.twist = (path, response) => {
    if (path !== '/keys') return false
    response.write('{')
    return true
  }
  const slow = await setUp({ lookUpMs: 100 })
  slow.issuer.twist = issuer.twist
  await expect(slow.tokens.userOf(await slow.issuer.sign())).rejects.toMatchObject(UNAVAILABLE)
})

it.each<[string, string, string]>([
  ['a key set that is not JSON', '/keys', 'nonsense'],
  ['a key set without keys', '/keys', '{"keys": 7}'],
  ['too many keys', '/keys', JSON.stringify({ keys: Array.from({ length: 101 }, () => ({ kty: 'EC' })) })],
  ['a very large key set', '/keys', `{"keys": []${' '.repeat(600_000)}}`],
  ['metadata of another issuer', '/.well-known/', '{"issuer": "https://evil.example", "jwks_uri": "KEYS"}'],
  ['keys at an address of somebody else', '/.well-known/', '{"issuer": "ISSUER", "jwks_uri": "http://evil.example/"}'],
  ['keys in a file', '/.well-known/', '{"issuer": "ISSUER", "jwks_uri": "file:///etc/passwd"}'],
])('keys are not accepted from %s', async (_, place, body) => {
  const { issuer, tokens } = await setUp({ coolDownMs: 0 })
  issuer.twist = (path, response) => {
    if (path.startsWith(place))
      response.end(body.replace('ISSUER', issuer.issuer).replace('KEYS', `${issuer.issuer}/keys`))
    return path.startsWith(place)
  }
  await expect(tokens.userOf(await issuer.sign())).rejects.toMatchObject(UNAVAILABLE)
  issuer.twist = () => false
  expect(await tokens.userOf(await issuer.sign())).toMatch(/#ann$/)
})

it('a redirect is not followed when keys are fetched', async () => {
  const { issuer, tokens } = await setUp({ coolDownMs: 0 })
  issuer.twist = (path, response) => {
    if (path === '/keys') response.writeHead(302, { location: `${issuer.issuer}/elsewhere` }).end()
    return path === '/keys'
  }
  await expect(tokens.userOf(await issuer.sign())).rejects.toMatchObject(UNAVAILABLE)
  expect(issuer.asked).not.toContain('/elsewhere')
})

it('a secret key in a key set is not used', async () => {
  const { issuer, tokens } = await setUp()
  issuer.published.push({ kty: 'oct', k: 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0', kid: 'secret', alg: 'HS256' })
  const key = await newKey('secret')
  await expect(tokens.userOf(await issuer.sign({}, {}, key))).rejects.toMatchObject({ kind: { status: 401 } })
  expect(await tokens.userOf(await issuer.sign())).toMatch(/#ann$/)
})

it('metadata of an authorization server is found where RFC 8414 and OpenID Connect have it', () => {
  expect(metadataAddresses('https://a.example')).toEqual([
    'https://a.example/.well-known/oauth-authorization-server',
    'https://a.example/.well-known/openid-configuration',
  ])
  expect(metadataAddresses('https://a.example/t/1/')).toEqual([
    'https://a.example/.well-known/oauth-authorization-server/t/1',
    'https://a.example/.well-known/openid-configuration/t/1',
    'https://a.example/t/1/.well-known/openid-configuration',
  ])
})

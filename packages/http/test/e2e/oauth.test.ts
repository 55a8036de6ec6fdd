// This file verifies that people sign in at a real authorization server with the MCP SDK's own client, and that each is
// a separate user of the bridge.
import { readdirSync, readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import path from 'node:path'
import { expect, it } from 'vitest'
import { startAuthorizationServer } from '../support/authorization-server.ts'
import { type HttpBridge, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { startIssuer } from '../support/token-issuer.ts'

const handleIn = (text: string): string => /session="([\w-]+)"/.exec(text)![1]!

function startFor(issuers: string[], more = '', env: Record<string, string> = {}): Promise<HttpBridge> {
  return startHttpBridge({ env: { MCP_BRIDGE_OAUTH: `issuer=${issuers.join(',')} ${more}`, ...env } })
}

/** A request that is let in gets 405. */
async function probe({ url }: HttpBridge, token?: string, query = '') {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(url + query, { method: 'PUT', headers })
  const { error } = (await response.json()) as { error: { message: string } }
  const { status, headers: received } = response
  return { status, message: error.message, challenge: received.get('www-authenticate'), headers: received }
}

it('people who sign in at an authorization server have their own sessions, and cannot reach those of another', async () => {
  const server = await startAuthorizationServer(['bridge:run'])
  const bridge = await startFor([server.issuer], 'scopes=bridge:run')
  const ann = await server.connect(bridge.url, 'ann')
  const older = await server.connect(bridge.url, 'ann', 'legacy')
  for (const client of [ann, older]) {
    expect(await client.run('20 + 1')).toMatch(/^21/)
    expect((await probe(bridge, client.token)).status).toBe(405)
  }
  const ben = await server.connect(bridge.url, 'ben')
  const session = handleIn(await ann.run('x = 42'))
  const own = await bridge.connect('modern')
  for (const other of [ben, own]) {
    const stolen = await other.call({ code: 'print(x)', session })
    expect(stolen).toMatchObject({ isError: true, text: expect.stringMatching(/Unknown or expired session/) })
  }
  // The control: another sign-in of hers continues with it.
  const again = await server.connect(bridge.url, 'ann')
  expect(await again.run('x', { session })).toMatch(/^42/)
  const folder = path.join(bridge.home, 'MCPs/.sandbridge/audit')
  const record = () =>
    readdirSync(folder)
      .map((file) => readFileSync(path.join(folder, file), 'utf8'))
      .join('')
  await expect.poll(record).toContain(`"user":"${server.issuer}#ann"`)
  for (const { token } of [ann, older, ben, again]) expect(record() + bridge.stderr()).not.toContain(token)
})

it('a client without an accepted token is told where to sign in, and for what', async () => {
  const issuer = await startIssuer()
  const bridge = await startFor([issuer.issuer], 'scopes=run,read')
  const { origin } = new URL(bridge.url)
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`
  const none = await probe(bridge)
  expect(none.status).toBe(401)
  expect(none.challenge).toBe(`Bearer resource_metadata="${metadata}", scope="run read"`)
  for (const address of [metadata, `${origin}/.well-known/oauth-protected-resource`]) {
    const response = await fetch(address)
    expect(await response.json()).toEqual({
      resource: bridge.url,
      resource_name: 'Sandbridge',
      authorization_servers: [issuer.issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['run', 'read'],
    })
  }
  const evil = await fetch(metadata, { headers: { origin: 'https://evil.example' } })
  expect(evil.status).toBe(403)
  expect((await fetch(metadata, { method: 'POST' })).status).toBe(405)
  expect((await fetch(`${metadata}/x`)).status).toBe(404)
  const bad = await probe(bridge, await issuer.sign({ aud: 'https://other.example' }))
  expect(bad.status).toBe(401)
  expect(bad.challenge).toMatch(/scope="run read", error="invalid_token", error_description="The access token is for/)
  const weak = await probe(bridge, await issuer.sign({ aud: bridge.url, scope: 'run' }))
  expect(weak.status).toBe(403)
  expect(weak.challenge).toMatch(/^Bearer resource_metadata="\S+", scope="run read", error="insufficient_scope"/)
  expect((await probe(bridge, await issuer.sign({ aud: bridge.url, scope: 'read run' }))).status).toBe(405)
})

it('a client without an accepted token learns nothing where no authorization server is configured', async () => {
  const bridge = await startHttpBridge()
  expect((await probe(bridge)).challenge).toBe('Bearer')
  expect((await fetch(new URL('/.well-known/oauth-protected-resource', bridge.url))).status).toBe(404)
  const issuer = await startIssuer()
  expect((await probe(bridge, await issuer.sign({ aud: bridge.url }))).status).toBe(401)
})

it('a client cannot connect with a token in the URL, or with one of ten megabytes', async () => {
  const issuer = await startIssuer()
  const bridge = await startFor([issuer.issuer])
  const token = await issuer.sign({ aud: bridge.url })
  expect((await probe(bridge, token)).status).toBe(405)
  for (const name of ['token', 'access_token']) {
    expect((await probe(bridge, undefined, `?${name}=${token}`)).status).toBe(401)
  }
  const huge = await new Promise<number | string>((resolve) => {
    const sent = httpRequest(bridge.url, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}${'x'.repeat(10_000_000)}` },
    })
    sent
      .on('response', (response) => resolve(response.statusCode!))
      .on('error', ({ code }: NodeJS.ErrnoException) => resolve(code!))
    sent.end()
  })
  const reset = process.platform === 'win32' ? 'ECONNABORTED' : 'ECONNRESET'
  expect([431, 'ECONNRESET', reset, 'EPIPE']).toContain(huge)
  expect((await probe(bridge, token)).status).toBe(405)
})

it(
  'tokens of the bridge work beside those of an authorization server, also while that is down',
  { tags: ['whole'] },
  async () => {
    const issuer = await startIssuer()
    const bridge = await startFor([issuer.issuer])
    const known = await issuer.sign({ aud: bridge.url })
    expect((await probe(bridge, known)).status).toBe(405)
    issuer.twist = () => true
    expect((await probe(bridge, bridge.token)).status).toBe(405)
    expect((await probe(bridge, known)).status).toBe(405)
    const other = await startIssuer()
    other.twist = () => true
    const alone = await startFor([other.issuer])
    const unchecked = await probe(alone, await other.sign({ aud: alone.url }))
    expect(unchecked).toMatchObject({
      status: 503,
      message: expect.stringMatching(/cannot be reached/),
      challenge: null,
    })
    expect(unchecked.headers.get('retry-after')).toBe('10')
    expect((await probe(alone, alone.token)).status).toBe(405)
  },
)

it('access tokens are for the address that clients use', async () => {
  const issuer = await startIssuer()
  const publicUrl = 'https://bridge.example.com/tools/mcp'
  const bridge = await startFor([issuer.issuer], '', { MCP_BRIDGE_PUBLIC_URL: publicUrl })
  expect((await probe(bridge, await issuer.sign({ aud: publicUrl }))).status).toBe(405)
  expect((await probe(bridge, await issuer.sign({ aud: bridge.url }))).status).toBe(401)
  const metadata = '/.well-known/oauth-protected-resource/tools/mcp'
  expect((await probe(bridge)).challenge).toBe(`Bearer resource_metadata="https://bridge.example.com${metadata}"`)
  expect(await (await fetch(new URL(metadata, bridge.url))).json()).toMatchObject({ resource: publicUrl })
  const named = await startFor([issuer.issuer], 'audience=api://bridge')
  expect((await probe(named, await issuer.sign({ aud: 'api://bridge' }))).status).toBe(405)
  expect((await probe(named, await issuer.sign({ aud: named.url }))).status).toBe(401)
})

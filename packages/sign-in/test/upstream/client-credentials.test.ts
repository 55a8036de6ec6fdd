// This file verifies a server with a client id and secret in its definition: the bridge gets its tokens itself, and
// sends the secret nowhere else.
import { expect, it, onTestFinished, vi } from 'vitest'
import type { ClientCredentials } from '../../../core/src/config/entries/server-definition.ts'
import { createRedactor } from '../../../core/src/config/secrets/redact.ts'
import {
  CLIENT,
  type Protected,
  protectedServer,
  refuseLate,
} from '@sandbridge/core/test/support/servers/protected-server.ts'
import { remote } from '@sandbridge/core/test/support/servers/remote-server.ts'
import { open, textOf } from '@sandbridge/core/test/upstream/support.ts'

function bridge(server: Protected, changes: Partial<ClientCredentials> = {}) {
  const definition = remote('r', server.url)
  Object.assign(definition.transport, { oauth: { ...CLIENT, ...changes } })
  return open([definition])
}
const echo = (upstreams: ReturnType<typeof open>) => upstreams.callTool('r', 'echo', { text: 'hi' })
const failureOf = (upstreams: ReturnType<typeof open>) =>
  echo(upstreams).then(
    () => undefined,
    (error: unknown) => error as Error & { hint: string },
  )

it('a server with client credentials works without a sign-in, with one token for many calls', async () => {
  const server = await protectedServer()
  const upstreams = bridge(server, { scope: 'read write' })
  const results = await Promise.all(Array.from({ length: 10 }, () => echo(upstreams)))
  expect(results.map(textOf)).toEqual(Array.from({ length: 10 }, () => 'hi'))
  expect(server.counts).toEqual({ register: 0, authorize: 0, code: 0, refresh: 0, client: 1, refused: 0 })
  expect(server.scopes).toEqual(['read write'])
  expect(upstreams.logged.join('\n')).not.toContain(CLIENT.clientSecret)
})

it('a server with client credentials is not reported as having wrong ones while its authorization server fails', async () => {
  const server = await protectedServer()
  server.twist.steps = { client: () => 500 }
  const upstreams = bridge(server)
  await expect(echo(upstreams)).rejects.toMatchObject({
    code: 'UPSTREAM_UNREACHABLE',
    message: expect.stringContaining('HTTP 500'),
  })
  delete server.twist.steps
  expect(textOf(await echo(upstreams))).toBe('hi')
})

it('a server with client credentials that lack a scope says where to add it', async () => {
  const server = await protectedServer()
  server.twist.neededScope = 'reports:write'
  await expect(echo(bridge(server))).rejects.toMatchObject({
    code: 'UPSTREAM_AUTH_REQUIRED',
    message: "Server 'r' requires more permissions than its client credentials have: reports:write",
    hint: expect.stringContaining('`scope` in the `oauth`'),
  })
  expect(server.counts).toMatchObject({ client: 1, refused: 1 })
})

it('a server with client credentials gets a new token when the old one has expired, once for all who need it', async () => {
  const server = await protectedServer()
  const upstreams = bridge(server)
  await echo(upstreams)
  server.valid.clear()
  const results = await Promise.all(Array.from({ length: 10 }, () => echo(upstreams)))
  expect(results.map(textOf)).toEqual(Array.from({ length: 10 }, () => 'hi'))
  expect(server.counts.client).toBe(2)
})

it('a server with client credentials works over many lifetimes of its token, however short', async () => {
  const server = await protectedServer()
  const upstreams = bridge(server)
  for (let i = 0; i < 8; i += 1) {
    expect(textOf(await echo(upstreams))).toBe('hi')
    server.valid.clear()
  }
  expect(server.counts.client).toBe(8)
})

it('a server with client credentials keeps its new token when the old one is refused late', async () => {
  const server = await protectedServer()
  const upstreams = bridge(server)
  await echo(upstreams)
  const results = await refuseLate(server, () => echo(upstreams))
  expect(results.map(textOf)).toEqual(Array.from({ length: 8 }, () => 'hi'))
  expect(server.counts.client).toBe(2)
})

it('a server with client credentials reports a wrong secret with what to correct, and never shows it, though the server repeats it', async () => {
  const server = await protectedServer()
  const warn = vi.spyOn(console, 'warn')
  onTestFinished(() => warn.mockRestore())
  const upstreams = bridge(server, { clientSecret: 'another-secret' })
  const failure = await failureOf(upstreams)
  expect(failure).toMatchObject({
    code: 'UPSTREAM_AUTH_REQUIRED',
    message: expect.stringMatching(/client credentials of server 'r' do not work: .*not Basic \[redacted\]/),
    hint: expect.stringContaining('`oauth`'),
  })
  // Warnings of the MCP client package quote the authorization server's response.
  expect(warn).not.toHaveBeenCalled()
  const basic = Buffer.from(`${CLIENT.clientId}:another-secret`).toString('base64')
  for (const text of [failure!.message, failure!.hint, ...upstreams.logged]) {
    expect(text).not.toContain('another-secret')
    expect(text).not.toContain(basic)
  }
})

it('a server with client credentials that honours no token is not asked for tokens for ever', async () => {
  const server = await protectedServer()
  server.twist.keepInvalid = true
  const upstreams = bridge(server)
  for (let i = 0; i < 10; i += 1) expect(await failureOf(upstreams)).toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
  expect(server.counts.client).toBeLessThanOrEqual(3)
})

it('a server with client credentials sends its secret to its own authorization server only, or to the one in its definition', async () => {
  const [server, other] = [await protectedServer(), await protectedServer()]
  const origin = new URL(other.url).origin
  server.twist.authorizationServer = origin
  expect(await failureOf(bridge(server))).toMatchObject({
    code: 'UPSTREAM_AUTH_REQUIRED',
    message: expect.stringContaining(`another address, ${origin}`),
    hint: expect.stringContaining(`"issuer": "${origin}"`),
  })
  expect(other.counts.client).toBe(0)
  // The control: with the issuer configured, it is used. Its tokens are not for this server.
  expect(await failureOf(bridge(server, { issuer: origin }))).toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
  expect(other.counts.client).toBeGreaterThan(0)
})

it('a client secret is sent to no other issuer than its own', async () => {
  const server = await protectedServer()
  const failure = await failureOf(bridge(server, { issuer: 'https://auth.example' }))
  expect(failure).toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
  expect(server.counts.client).toBe(0)
})

it('a server with client credentials whose authorization server is unreachable is reported as such', async () => {
  const server = await protectedServer()
  server.twist.authorizationServer = 'http://127.0.0.1:1'
  const failure = await failureOf(bridge(server, { issuer: 'http://127.0.0.1:1' }))
  expect(failure).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', message: expect.stringContaining('nothing listens') })
})

it('the secret of client credentials is redacted in every form in which it is sent', () => {
  const redact = createRedactor({ type: 'http', url: 'https://s.example/', headers: {}, oauth: CLIENT })
  const basic = Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString('base64')
  expect(redact(`${CLIENT.clientSecret} ${basic}`)).toBe('[redacted] [redacted]')
})

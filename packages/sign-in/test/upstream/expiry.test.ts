// Expiry that is known is used: before a token expires, and where a failure may come from it.
import { expect, it, vi } from 'vitest'
import type { Oddity } from '@sandbridge/core/test/support/servers/protected-server.ts'
import { textOf } from '@sandbridge/core/test/upstream/support.ts'
import { rawRemote } from '@sandbridge/core/test/support/servers/remote-server.ts'
import { bridge, echo, tokenFile } from './oauth-login.ts'
import { changed, site } from './odd-site.ts'

/** A second later. */
const later = () => vi.setSystemTime(Date.now() + 1_050)

it('a token is refreshed before it expires, and sent as it is where it does not expire or nothing refreshes it', async () => {
  for (const [change, refreshCount] of [
    [{ expires_in: 1 }, 1],
    [{ expires_in: 3600 }, 0],
    [{ expires_in: 0 }, 0],
    [{ expires_in: 1, refresh_token: undefined }, 0],
  ] as const) {
    const { server, connect, logIn: signIn } = await site({ code: changed(change) })
    await signIn()
    later()
    expect(textOf(await echo(connect()))).toBe('hi')
    expect(server.counts.refresh).toBe(refreshCount)
  }
})

it('a server that calls an unknown session unauthorized gets a new session, and asks for no sign-in', async () => {
  const server = await rawRemote(undefined, (request, response) => {
    const session = request.headers['mcp-session-id']
    if (request.method !== 'POST' || typeof session !== 'string' || server.sessions.has(session)) return false
    response.writeHead(401).end('session expired')
    return true
  })
  const upstreams = bridge(server, await tokenFile())
  expect(textOf(await echo(upstreams))).toBe('hi')
  server.sessions.clear()
  expect(textOf(await echo(upstreams))).toBe('hi')
})

/** A connection with an expired token, after a refresh has failed once. */
async function expired(refusal: [number, string]) {
  const { server, connect, logIn: signIn } = await site({ code: changed({ expires_in: 1 }) })
  await signIn()
  const upstreams = connect()
  expect(textOf(await echo(upstreams))).toBe('hi')
  const failing: Oddity = (usual, asked) => {
    server.twist.steps = {}
    server.refreshTokens.add(asked['refresh_token'] as string)
    return 503
  }
  server.twist.steps = { refresh: failing }
  later()
  server.valid.clear()
  server.twist.refusal = refusal
  return { server, upstreams }
}

it.each([
  [401, ''],
  [403, ''],
  [400, ''],
  [302, ''],
  [404, ''],
  [403, 'Bearer error="invalid_token"'],
] as [number, string][])('a call that is refused with %s %s is made again with a new token', async (...refusal) => {
  const { server, upstreams } = await expired(refusal)
  expect(textOf(await echo(upstreams))).toBe('hi')
  expect(server.counts).toMatchObject({ authorize: 1, refresh: 2 })
})

it('a call that fails with 500 may have been made, and is not made again; the next has a new token', async () => {
  const { server, upstreams } = await expired([500, ''])
  const calls: string[] = []
  server.twist.beforeRefusal = (body) => void calls.push(...(body.match(/"tools\/call"/g) ?? []))
  await expect(echo(upstreams)).rejects.toThrow('HTTP 500')
  expect(textOf(await echo(upstreams))).toBe('hi')
  expect(calls).toHaveLength(1)
})

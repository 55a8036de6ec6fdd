import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import type { RemoteServer, SignInClient } from '../../../core/src/config/entries/server-definition.ts'
import { createTokenStore } from '../../src/tokens/token-store.ts'
import { protectedServer, REGISTERED } from '@sandbridge/core/test/support/servers/protected-server.ts'
import { freePort } from '@sandbridge/core/test/support/machine/free-port.ts'
import { listen, remote } from '@sandbridge/core/test/support/servers/remote-server.ts'
import { open, textOf } from '@sandbridge/core/test/upstream/support.ts'
import { tokenFile, logIn, echo } from './oauth-login.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'

/** An authorization server that accepts only this client, a definition that names it, and functions to use both. */
async function registered(signIn: SignInClient = REGISTERED, noRegistration: true | 'not offered' = true) {
  const [server, file] = [await protectedServer(), await tokenFile()]
  server.twist.noRegistration = noRegistration
  const transport: RemoteServer = { type: 'http', url: server.url, headers: {}, signIn }
  const definition = { ...remote('r', server.url), transport }
  const connect = () => open([definition], { tokenStore: createTokenStore(fileStore(dirname(file))) })
  return { server, file, connect, logIn: (changes = {}) => logIn(server, file, { server: transport, ...changes }) }
}

it.each([true, 'not offered'] as const)(
  'a client that was registered by hand is needed where no other is accepted (%s), and the error says how',
  async (how) => {
    const { server, file } = await registered({}, how)
    await expect(logIn(server, file)).rejects.toMatchObject({
      code: 'UPSTREAM_AUTH_REQUIRED',
      hint: expect.stringMatching(/Register a client .*"callbackPort": \d+.* 'r'/),
    })
    expect(server.asked).toEqual([])
  },
)

it('a client that was registered by hand signs in and refreshes, and is registered nowhere; its secret is not stored', async () => {
  const { server, file, connect, logIn: signIn } = await registered()
  expect(await signIn()).toEqual({ wasNeeded: true })
  expect(server.asked).toMatchObject([{ clientId: REGISTERED.clientId }])
  const upstreams = connect()
  expect(textOf(await echo(upstreams))).toBe('hi')
  server.valid.clear()
  expect(textOf(await echo(upstreams))).toBe('hi')
  expect(server.counts).toMatchObject({ register: 0, authorize: 1, code: 1, refresh: 1 })
  expect(await readFile(file, 'utf8')).not.toContain(REGISTERED.clientSecret)
})

it('a client that was registered by hand is redirected to exactly its registered address', async () => {
  const port = await freePort()
  const redirectUri = `http://localhost:${port}/oauth/callback`
  const { server, logIn: signIn } = await registered({ ...REGISTERED, redirectUri })
  await signIn()
  expect(server.asked).toMatchObject([{ redirectUri }])
})

it('a client that was registered by hand accepts any port for an address without one, and refuses an address elsewhere', async () => {
  const { server, logIn: signIn } = await registered({ ...REGISTERED, redirectUri: 'http://localhost/there' })
  await signIn()
  expect(server.asked).toMatchObject([{ redirectUri: expect.stringMatching(/^http:\/\/localhost:\d+\/there$/) }])
  for (const redirectUri of ['cursor://anysphere.cursor-mcp/oauth/callback', 'https://example.com/callback']) {
    const elsewhere = await registered({ ...REGISTERED, redirectUri })
    await expect(elsewhere.logIn()).rejects.toThrow(/redirectUri .* is not an http address of this machine/)
  }
})

it('a client that was registered by hand reports that its port is in use', async () => {
  const port = Number(new URL(await listen(() => {})).port)
  const { logIn: signIn } = await registered({ ...REGISTERED, redirectUri: `http://127.0.0.1:${port}/callback` })
  await expect(signIn()).rejects.toMatchObject({
    code: 'UPSTREAM_AUTH_REQUIRED',
    message: expect.stringContaining(`port ${port}`),
  })
})

it('a client that was registered by hand requests the scopes of its definition', async () => {
  const { server, logIn: signIn } = await registered({ ...REGISTERED, scope: 'read write' })
  await signIn()
  expect(server.asked).toMatchObject([{ scope: 'read write' }])
})

it('a client that was registered by hand sends its secret to no authorization server that it was not registered with', async () => {
  const evil = await protectedServer()
  const elsewhere = new URL(evil.url).origin
  for (const [issuer, words] of [
    [undefined, `Server 'r' requires sign-in at another address, ${elsewhere}`],
    ['https://auth.example', `its metadata is of another issuer, ${elsewhere}`],
  ] as const) {
    const { server, logIn: signIn } = await registered({ ...REGISTERED, ...(issuer && { issuer }) })
    server.twist.authorizationServer = elsewhere
    await expect(signIn()).rejects.toMatchObject({
      code: 'UPSTREAM_AUTH_REQUIRED',
      message: expect.stringContaining(words),
      hint: expect.stringContaining(`"issuer": "${elsewhere}`),
    })
  }
  expect(evil.counts).toMatchObject({ authorize: 0, code: 0 })
  // The control: named as the issuer, it gets what it asks for.
  const { server, logIn: signIn } = await registered({ ...REGISTERED, issuer: elsewhere })
  server.twist.authorizationServer = elsewhere
  await signIn()
  expect(evil.counts).toMatchObject({ register: 0, authorize: 1, code: 1 })
})

it('an unknown client that was registered by hand is refused, and no message has its secret', async () => {
  const wrong = 'wrong-secret-of-the-client'
  const { logIn: signIn } = await registered({ ...REGISTERED, clientSecret: wrong })
  const failure = await signIn().catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
  const basic = Buffer.from(`${REGISTERED.clientId}:${wrong}`).toString('base64')
  // The control: the error does repeat the authorization server's response.
  expect((failure as Error).message).toContain('[redacted]')
  for (const text of [JSON.stringify(failure), (failure as Error).message]) {
    expect(text).not.toContain(wrong)
    expect(text).not.toContain(basic)
  }
})

const clientId = 'https://us.example/client.json'

it('a client metadata document is the client of a definition that names it, for the sign-in and for refreshing it', async () => {
  const { server, connect, logIn: signIn } = await registered({ clientId })
  Object.assign(server.twist, { noRegistration: false, documents: true })
  expect(await signIn()).toEqual({ wasNeeded: true })
  expect(server.asked).toMatchObject([
    { clientId, redirectUri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/) },
  ])
  const upstreams = connect()
  await echo(upstreams)
  server.valid.clear()
  expect(textOf(await echo(upstreams))).toBe('hi')
  expect(server.counts).toMatchObject({ register: 0, refresh: 1 })
})

it('a client metadata document redirects to the port that the definition names', async () => {
  const port = await freePort()
  const { server, logIn: signIn } = await registered({ clientId, redirectUri: `http://127.0.0.1:${port}/callback` })
  Object.assign(server.twist, { noRegistration: false, documents: true })
  await signIn()
  expect(server.asked).toMatchObject([{ redirectUri: `http://127.0.0.1:${port}/callback` }])
})

// Signs in where the server or its authorization server is an adversary.
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { fileStore } from '@sandbridge/core/keep/files/file-store.ts'
import { createTokenStore } from '@sandbridge/core/upstream/auth/token-store.ts'
import { protectedServer } from '@sandbridge/core/test/upstream/authorization-server.ts'
import { open } from '@sandbridge/core/test/upstream/support.ts'
import { remote } from '@sandbridge/remote/test/upstream/remote-server.ts'
import { echo, logIn, tokenFile } from './oauth-login.ts'
import { site } from './odd-site.ts'

it('headers of a definition are sent to its server, and to no authorization server elsewhere', async () => {
  const [server, other, file] = [await protectedServer(), await protectedServer(), await tokenFile()]
  server.twist.authorizationServer = new URL(other.url).origin
  const transport = { type: 'http' as const, url: server.url, headers: { 'X-Api-Key': 'key', Cookie: 'a=b' } }
  expect(await logIn(server, file, { server: transport })).toEqual({ wasNeeded: true })
  const store = createTokenStore(fileStore(dirname(file)))
  const refused = echo(open([{ ...remote('r', server.url), transport }], { tokenStore: store }))
  await expect(refused).rejects.toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
  expect(other.counts).toMatchObject({ register: 1, code: 1, refresh: 1 })
  expect(other.headers.filter((sent) => sent['x-api-key'] ?? sent.cookie)).toEqual([])
  expect(server.headers.every((sent) => sent['x-api-key'] === 'key' && sent.cookie === 'a=b')).toBe(true)
})

it.each([
  ['no address', ['the server itself']],
  ['addresses of other kinds', ['file:///etc/passwd', 'javascript:alert(1)']],
])('metadata that list %s in place of authorization servers are named in the error', async (_what, listed) => {
  const { logIn: signIn } = await site({
    resource: (usual) => ({ ...usual, authorization_servers: listed }),
    metadata: () => 404,
  })
  await expect(signIn()).rejects.toThrow(/name no address of an authorization server/)
})

it('many listed authorization servers are not all waited for', async () => {
  const { server, logIn: signIn } = await site({
    resource: (usual) => ({
      ...usual,
      authorization_servers: Array.from({ length: 500 }, (_, i) => `${usual['resource'] as string}/${i}`),
    }),
    metadata: () => 404,
  })
  await expect(signIn()).rejects.toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
  expect(server.headers.length).toBeLessThan(40)
})

import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { describeSignIn, signInState } from '@sandbridge/shared/servers/describe-sign-in.ts'
import { latestGrant } from '@sandbridge/core/upstream/auth'
import { createTokenStore } from '../../src/tokens/token-store.ts'
import { protectedServer, type Oddity } from '@sandbridge/core/test/support/servers/protected-server.ts'
import { remote } from '@sandbridge/core/test/support/servers/remote-server.ts'
import { revokeGrant } from '../../src/tokens/revoke.ts'
import { logIn, tokenFile } from './oauth-login.ts'

const offers: Oddity = (usual, _sent, base) => ({ ...usual, revocation_endpoint: `${base}/revoke` })

it.each<[string, Record<string, Oddity>, string, number]>([
  ['offers it', { metadata: offers }, 'revoked', 2],
  ['does not offer it', {}, 'unknown', 0],
  ['refuses it', { metadata: offers, revoke: () => [503, 'later'] }, 'refused', 2],
])('the tokens of a sign-in are revoked where the authorization server %s', async (_what, steps, outcome, count) => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  server.twist.steps = steps
  await logIn(server, file)
  const grants = await createTokenStore(fileStore(dirname(file))).read({ name: 'r', url: server.url })
  const about = { server: { url: server.url, headers: {} }, name: 'r', issuer: grants.latest!, env: {} }
  expect(await revokeGrant(latestGrant(grants)!, about)).toBe(outcome)
  expect(server.revoked).toHaveLength(count)
})

it('who has signed in is known from the ID token, and shown until the sign-in is gone', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  const claims = Buffer.from(JSON.stringify({ email: 'ann@example.com\u202E', sub: '1' })).toString('base64url')
  server.twist.steps = { code: (usual) => ({ ...usual, id_token: `x.${claims}.y` }) }
  const store = createTokenStore(fileStore(dirname(file)))
  const definition = remote('r', server.url)
  const told = async () => describeSignIn((await signInState(definition, store))!)
  expect(await told()).toBe('no sign-in')
  await logIn(server, file)
  expect(await told()).toBe('signed in as ann@example.com, just now')
  await store.forget((await store.all()).map(({ key }) => key))
  expect(await told()).toBe('no sign-in')
  expect(await signInState(remote('r', server.url, { Authorization: 'Bearer x' }), store)).toEqual({ uses: 'header' })
})

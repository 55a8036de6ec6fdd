// This file verifies that sign-ins are written to a database only when encrypted with a key that all bridges have.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { SILENT } from '../../../core/src/util/log.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { createTokenStore } from './token-store.ts'
import { signInVault } from '../../../core/src/upstream/auth/sign-in-store.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const KEY = 'ab'.repeat(32)
const SERVER = { name: 'upstream', url: 'https://upstream.example/mcp' }
const storage = 'postgres://db.example.com/sandbridge'

/** Simulates bridges that share one store; each call opens another bridge. */
function shared() {
  const folder = newFolder()
  return {
    text: () => readFileSync(path.join(folder, 'tokens.json'), 'utf8'),
    bridge: (signInKey: string) => createTokenStore(fileStore(folder), signInVault({ signInKey, storage }, SILENT)),
  }
}

const signIn = (bridge: ReturnType<typeof createTokenStore>) =>
  bridge.update(SERVER, (grants) => {
    grants.latest = 'issuer'
    grants.byIssuer['issuer'] = { tokens: { access_token: 'very-secret' } }
  })

it('a sign-in in a database is encrypted, and opened by every bridge that has the same key', async () => {
  const { text, bridge } = shared()
  await signIn(bridge(KEY))
  expect(text()).not.toContain('very-secret')
  expect((await bridge(KEY).read(SERVER)).byIssuer['issuer']?.tokens?.access_token).toBe('very-secret')
  expect((await bridge('cd'.repeat(32)).read(SERVER)).byIssuer).toEqual({})
})

it('a sign-in is not kept in a database without a key, and the error says which setting is missing', async () => {
  const { text, bridge } = shared()
  for (const key of ['keychain', 'none'])
    await expect(signIn(bridge(key))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('without MCP_BRIDGE_SIGN_IN_KEY'),
    })
  expect(text).toThrow('ENOENT')
})

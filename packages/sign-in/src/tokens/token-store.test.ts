import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { needsLinks } from '@sandbridge/core/test/support/suite/needs.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { SILENT } from '../../../core/src/util/log.ts'
import { createTokenStore } from './token-store.ts'
import { createVault } from './vault.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const url = 'https://s.example/mcp'

function folder(contents?: object) {
  const made = newFolder()
  const file = path.join(made, 'tokens.json')
  if (contents) writeFileSync(file, JSON.stringify(contents))
  return { file, store: fileStore(made), kept: () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, object> }
}

const tokens = (access_token: string) => ({ latest: 'i', byIssuer: { i: { tokens: { access_token } } } })
const tokenIn = (grants: { byIssuer: Record<string, { tokens?: { access_token: string } }> }) =>
  grants.byIssuer['i']?.tokens?.access_token

it('bridges with different keys keep their sign-ins to one server beside each other', async () => {
  const { store, kept } = folder()
  const keys: Record<string, string> = { one: 'a'.repeat(64), other: 'b'.repeat(64) }
  const bridge = (key: string) =>
    createTokenStore(
      store,
      createVault({ get: () => Promise.resolve(keys[key]), set: () => Promise.resolve() }, SILENT),
    )
  const entry = { name: 'a', url }
  const save = (key: string, token: string) =>
    bridge(key).update(entry, (grants) => Object.assign(grants, tokens(token)))
  await save('one', 'first')
  expect(await bridge('other').read(entry)).toMatchObject({ isLocked: true })
  await save('other', 'second')
  await save('one', 'third')
  expect(tokenIn(await bridge('one').read(entry))).toBe('third')
  expect(tokenIn(await bridge('other').read(entry))).toBe('second')
  // A bridge that has no key keeps its own, and opens none.
  await createTokenStore(store).update(entry, (grants) => Object.assign(grants, tokens('plain')))
  expect(JSON.stringify(kept())).not.toMatch(/second|third/)
  for (const key of ['one', 'other']) expect(tokenIn(await bridge(key).read(entry))).toBe('plain')
  await save('one', 'last')
  expect(tokenIn(await bridge('one').read(entry))).toBe('last')
  expect(JSON.stringify(kept())).not.toMatch(/plain|last/)
})

it.each(['', '[]', 'null', '{', '\uFEFF{}', '{"a": {"byIssuer": []}}', '\0\0'])(
  'a file of sign-ins with %j has none, and takes the next',
  async (text) => {
    const { store } = folder()
    await store.document('tokens.json').update(() => Promise.resolve(text))
    const entry = { name: 'a', url }
    expect(await createTokenStore(store).read(entry)).toEqual({ byIssuer: {} })
    await createTokenStore(store).update(entry, (grants) => Object.assign(grants, tokens('new')))
    expect(tokenIn(await createTokenStore(store).read(entry))).toBe('new')
  },
)

it('a file of sign-ins that is a symbolic link stays one', async () => {
  needsLinks()
  const [real, place] = [folder({}), folder()]
  symlinkSync(real.file, place.file)
  await createTokenStore(place.store).update({ name: 'a', url }, (grants) => Object.assign(grants, tokens('new')))
  expect(lstatSync(place.file).isSymbolicLink()).toBe(true)
  expect(JSON.stringify(real.kept())).toContain('new')
})

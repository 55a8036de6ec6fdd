// This file verifies which tokens are accepted, that only their hashes are kept, and how they are compared.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { createLog } from '../../../core/src/util/log.ts'
import { createFindClient } from './find-client.ts'
import { NamedTokens } from './named-tokens.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const compare = vi.hoisted(() => vi.fn())
vi.mock('node:crypto', async (importOriginal) => {
  const crypto = await importOriginal<typeof import('node:crypto')>()
  return { ...crypto, timingSafeEqual: compare.mockImplementation(crypto.timingSafeEqual) }
})

const OWN = 'the-bridges-own-token'

function setUp() {
  const folder = newFolder()
  const lines: string[] = []
  const named = new NamedTokens(fileStore(path.join(folder, '.sandbridge')))
  const log = createLog('debug', (line) => lines.push(line))
  return {
    named,
    lines,
    file: path.join(folder, '.sandbridge/http-tokens.json'),
    find: createFindClient({ token: OWN, named, log }),
  }
}

it('a named token is accepted from its creation until it expires', async () => {
  const { named, find } = setUp()
  const ann = await named.create('ann')
  const ben = await named.create('ben', new Date(Date.now() + 60_000))
  const late = await named.create('late', new Date(Date.now() - 1))
  expect(await find(ann)).toEqual({ user: 'ann' })
  expect(await find(ben)).toEqual({ user: 'ben' })
  expect(await find(OWN)).toEqual({})
  for (const other of [late, '', 'ann', ann.slice(0, -1), `${ann}x`, ann.toUpperCase()]) {
    expect(await find(other)).toBeUndefined()
  }
  await named.revoke('ann')
  expect(await find(ann)).toBeUndefined()
  expect(await find(ben)).toEqual({ user: 'ben' })
})

it('a named token expires while the bridge runs', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { named, find } = setUp()
  const token = await named.create('ann', new Date(Date.now() + 1_000))
  vi.setSystemTime(Date.now() + 999)
  expect(await find(token)).toEqual({ user: 'ann' })
  vi.setSystemTime(Date.now() + 1)
  expect(await find(token)).toBeUndefined()
})

it('named tokens are stored as hashes, in a file for their owner only', async () => {
  const { named, file } = setUp()
  const token = await named.create('ann')
  const text = readFileSync(file, 'utf8')
  expect(text).toMatch(/"sha256": "[\da-f]{64}"/)
  expect(text).not.toContain(token.slice(token.indexOf('_') + 1))
  expect(text).not.toContain(token)
  expect(readdirSync(path.dirname(file))).toEqual(['http-tokens.json'])
  needsPosix('Windows has no modes')
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

it('the hash of a named token is not accepted as a token', async () => {
  const { named, find } = setUp()
  await named.create('ann')
  expect(await find((await named.list())['ann']!.sha256)).toBeUndefined()
})

it('named tokens are compared in constant time with every hash', async () => {
  const { named, find } = setUp()
  const first = await named.create('ann')
  await named.create('ben')
  await named.create('eve')
  for (const token of [first, 'unknown', first.slice(0, -1)]) {
    compare.mockClear()
    await find(token)
    expect(compare).toHaveBeenCalledTimes(4)
    for (const [a, b] of compare.mock.calls) expect([a.length, b.length]).toEqual([32, 32])
  }
})

it('a named token has a unique name that is safe in a shell and in the record', async () => {
  const { named } = setUp()
  await named.create('ann')
  await expect(named.create('ann')).rejects.toMatchObject({ message: "There is a token 'ann'" })
  await expect(named.revoke('anm')).rejects.toMatchObject({ hint: expect.stringContaining('ann') })
  for (const name of ['', 'Ann', '-x', '__proto__', 'a b', 'a\nb', 'x'.repeat(65), 'con', 'lpt1']) {
    await expect(named.create(name)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  }
  await named.create('old', new Date(0))
  await named.create('old')
  expect((await named.list())['old']).not.toHaveProperty('expires')
  await named.create('constructor')
  expect(Object.keys(await named.list())).toEqual(['ann', 'old', 'constructor'])
})

it('no named token is accepted while the file is damaged, which is reported once', async () => {
  const { named, find, file, lines } = setUp()
  const token = await named.create('ann')
  const whole = readFileSync(file, 'utf8')
  for (const damaged of ['{"ann": {"sha256": "x"}}', whole.replace('"sha256": "', '$&ab')]) {
    expect(damaged).not.toBe(whole)
    writeFileSync(file, damaged)
    expect([await find(token), await find(token), await find(OWN)]).toEqual([undefined, undefined, {}])
  }
  expect(lines).toEqual([expect.stringContaining('Named tokens are not accepted')])
  writeFileSync(file, whole)
  expect(await find(token)).toEqual({ user: 'ann' })
})

// This file verifies that the token is created once and stored where only its owner can read it.
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { keptToken, tokenFile } from './kept-token.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

function newFile(): string {
  const folder = newFolder()
  return tokenFile(folder)
}

it('the token is long, the same at the next start, different elsewhere, and readable by its owner only', async () => {
  const file = newFile()
  const token = await keptToken(file)
  expect(Buffer.from(token, 'base64url')).toHaveLength(32)
  expect(await keptToken(file)).toBe(token)
  expect(await keptToken(newFile())).not.toBe(token)
  expect(readdirSync(path.dirname(file))).toEqual(['http-token'])
  needsPosix('Windows has no modes')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700)
})

it('the token is the same for several bridges that start at once', async () => {
  const file = newFile()
  const tokens = await Promise.all(Array.from({ length: 20 }, () => keptToken(file)))
  expect(new Set(tokens)).toEqual(new Set([readFileSync(file, 'utf8').trim()]))
})

it('the token is not read from a file that others could read', async () => {
  needsPosix('Windows has no modes')
  const file = newFile()
  const token = await keptToken(file)
  for (const mode of [0o640, 0o604]) {
    chmodSync(file, mode)
    await expect(keptToken(file)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      hint: expect.stringMatching(/Delete/),
    })
  }
  chmodSync(file, 0o600)
  expect(await keptToken(file)).toBe(token)
})

it('the token is never empty', async () => {
  const file = newFile()
  await keptToken(file)
  writeFileSync(file, '\n')
  await expect(keptToken(file)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { resolveMount } from './mounted-folder.ts'

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'sb-')))
  for (const name of ['data', 'state/.sandbridge', 'cache', 'a,b'])
    mkdirSync(path.join(folder, name), { recursive: true })
  writeFileSync(path.join(folder, 'file'), '')
  symlinkSync(path.join(folder, 'state'), path.join(folder, 'link'), 'junction')
  return () => rmSync(folder, { recursive: true, force: true })
})

const resolve = (name: string) =>
  resolveMount({ path: path.join(folder, name), mode: 'ro' }, [path.join(folder, 'state'), path.join(folder, 'cache')])

it('a mounted folder has its own name in the sandbox', async () => {
  expect(await resolve('data')).toEqual({ source: path.join(folder, 'data'), target: '/mnt/data', mode: 'ro' })
})

it.each([
  ['nothing there', 'none', /is not a folder/],
  ['a file', 'file', /is not a folder/],
  ['the state folder', 'state', /own files/],
  ['a folder in it', 'state/.sandbridge', /own files/],
  ['a link to it', 'link', /own files/],
  ['a folder that holds it', '.', /own files/],
  ['the cache, whose programs the bridge starts', 'cache', /own files/],
  ['a comma', 'a,b', /cannot be mounted/],
])('a mount is refused: %s', async (_, name, expected) => {
  await expect(resolve(name)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(expected),
  })
})

it('a mount of the whole disk or the home folder is refused, since it holds the state folder', async () => {
  for (const place of [path.parse(homedir()).root, homedir()]) {
    await expect(resolveMount({ path: place, mode: 'ro' }, [path.join(homedir(), 'MCPs')])).rejects.toThrow(/own files/)
  }
})

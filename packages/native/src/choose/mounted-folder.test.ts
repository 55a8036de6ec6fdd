import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { resolveMount } from './mounted-folder.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

let folder: string
beforeEach(() => {
  folder = realpathSync(newFolder())
  // Windows has no colon in names.
  const colon = process.platform === 'win32' ? [] : ['a:b']
  for (const name of ['data', 'state/.sandbridge', 'cache', 'a,b', ...colon, 'Übungen', 'U\u0308bungen', '数据 2'])
    mkdirSync(path.join(folder, name), { recursive: true })
  writeFileSync(path.join(folder, 'file'), '')
  symlinkSync(path.join(folder, 'state'), path.join(folder, 'link'), 'junction')
  for (const [name, target] of [
    ['reports', 'data'],
    ['with comma', 'a,b'],
    ['without colon', 'a:b'],
  ] as const)
    symlinkSync(path.join(folder, target), path.join(folder, name), 'junction')
})

const resolve = (name: string) =>
  resolveMount({ path: path.join(folder, name), mode: 'ro' }, [path.join(folder, 'state'), path.join(folder, 'cache')])

it('a mounted folder has its own name in the sandbox', async () => {
  expect(await resolve('data')).toEqual({ source: path.join(folder, 'data'), target: '/mnt/data', mode: 'ro' })
})

it('a mounted link has its own name in the sandbox, not the name of the folder behind it', async () => {
  expect(await resolve('reports')).toEqual({ source: path.join(folder, 'data'), target: '/mnt/reports', mode: 'ro' })
})

it.each(['Übungen', 'U\u0308bungen', '数据 2'])('a name may have letters of any script: %s', async (name) => {
  expect((await resolve(name)).target).toBe(`/mnt/${name}`)
})

it('the error names the character, and the link that it proposes works', async () => {
  needsPosix('Windows has no colon in names')
  await expect(resolve('a:b')).rejects.toMatchObject({
    message: expect.stringContaining('contains ":"'),
    hint: expect.stringContaining('symbolic link'),
  })
  expect((await resolve('without colon')).target).toBe('/mnt/without colon')
})

it('no link is proposed where a link does not help', async () => {
  await expect(resolve('with comma')).rejects.toMatchObject({
    message: expect.stringContaining('contains ","'),
    hint: expect.not.stringContaining('link'),
  })
})

it.each([
  ['nothing there', 'none', /is not a folder/],
  ['a file', 'file', /is not a folder/],
  ['the state folder', 'state', /own files/],
  ['a folder in it', 'state/.sandbridge', /own files/],
  ['a link to it', 'link', /own files/],
  ['a folder that holds it', '.', /own files/],
  ['the cache, whose programs the bridge starts', 'cache', /own files/],
  ['a comma', 'a,b', /contains ","/],
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

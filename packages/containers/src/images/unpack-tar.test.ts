// This file verifies that an archive is unpacked as by a container engine, and that a hostile one changes nothing
// outside its folder.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { packTar, type TarEntry } from 'modern-tar'
import { beforeEach, expect, it } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { RootTree } from './root-tree.ts'
import { newAllowance, unpackTar, type Allowance } from './unpack-tar.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

let outside: string
let root: string

beforeEach(() => {
  needsPosix('an image has modes and links')
  outside = newFolder()
  root = path.join(outside, 'root')
  mkdirSync(root)
  writeFileSync(path.join(outside, 'secret'), 'secret')
})

const file = (name: string, body = 'x', mode = 0o644): TarEntry => ({
  header: { name, size: Buffer.byteLength(body), type: 'file', mode, mtime: new Date(1_000_000_000_000) },
  body,
})
const folder = (name: string, mode = 0o755): TarEntry => ({ header: { name, size: 0, type: 'directory', mode } })
const symlink = (name: string, linkname: string): TarEntry => ({ header: { name, size: 0, type: 'symlink', linkname } })
const link = (name: string, linkname: string): TarEntry => ({ header: { name, size: 0, type: 'link', linkname } })

/** Unpack layers on top of each other. */
async function unpack(layers: TarEntry[][], allowance: Allowance = newAllowance()): Promise<void> {
  const tree = new RootTree(root)
  for (const [index, entries] of layers.entries()) {
    await unpackTar(Readable.from([await packTar(entries)]), tree, {
      allowance,
      isLayer: index > 0 || layers.length > 1,
    })
  }
  tree.finish()
}

const at = (name: string) => path.join(root, name)
const read = (name: string) => readFileSync(at(name), 'utf8')
const beside = () => readdirSync(outside).toSorted()

it('an archive is unpacked readable by all, with its times and without setuid', async () => {
  await unpack([
    [
      folder('./bin/'),
      file('./bin/tool', 'tool', 0o4755),
      file('lib/deep/er/data', 'data', 0o600 | 0o4),
      link('bin/same', 'bin/tool'),
      symlink('sbin', 'bin'),
    ],
  ])
  expect([read('bin/tool'), read('bin/same'), read('sbin/tool'), read('lib/deep/er/data')]).toEqual([
    'tool',
    'tool',
    'tool',
    'data',
  ])
  expect(statSync(at('bin/tool')).mode & 0o7777).toBe(0o555)
  expect(statSync(at('bin/same')).ino).toBe(statSync(at('bin/tool')).ino)
  expect(statSync(at('lib/deep/er/data')).mode & 0o777).toBe(0o444)
  // With another time, Python would compile every module again.
  expect(statSync(at('bin/tool')).mtimeMs).toBe(1_000_000_000_000)
  expect(statSync(at('lib/deep')).mode & 0o777).toBe(0o755)
})

it('an archive may be compressed, and come in small pieces', async () => {
  const packed = gzipSync(await packTar([file('a', 'a'.repeat(5000)), file('b')]))
  const pieces = Array.from({ length: Math.ceil(packed.length / 3) }, (_, index) =>
    packed.subarray(index * 3, index * 3 + 3),
  )
  await unpackTar(Readable.from(pieces), new RootTree(root), { allowance: newAllowance(), isLayer: false })
  expect([read('a').length, read('b')]).toEqual([5000, 'x'])
})

it("an archive's files stay hidden where a container would hide them from its user", async () => {
  await unpack([[folder('root', 0o700), file('root/.password'), folder('etc'), file('etc/shadow', 'hash', 0o640)]])
  expect(readdirSync(at('root'))).toEqual([])
  expect(statSync(at('etc/shadow')).mode & 0o777).toBe(0)
})

it('devices and pipes of an archive are left out', async () => {
  const entries = (['character-device', 'block-device', 'fifo'] as const).map((type) => ({
    header: { name: type, size: 0, type },
  }))
  await unpack([[...entries, file('plain')]])
  expect(readdirSync(root)).toEqual(['plain'])
})

it('a layer replaces and removes files of the layers below it', async () => {
  const below = [
    file('etc/kept'),
    file('etc/gone'),
    file('opt/a/old'),
    file('opt/b'),
    symlink('lib', 'usr/lib'),
    file('usr/lib/c'),
  ]
  const above = [
    file('etc/.wh.gone', ''),
    file('opt/a/new'),
    file('opt/.wh..wh..opq', ''),
    file('lib/d'),
    file('.wh..wh.plnk', ''),
  ]
  await unpack([below, above])
  expect([readdirSync(at('etc')), readdirSync(at('opt')), readdirSync(at('opt/a'))]).toEqual([['kept'], ['a'], ['new']])
  // Through the link, as in a running system.
  expect([readlinkSync(at('lib')), readdirSync(at('usr/lib'))]).toEqual(['usr/lib', ['c', 'd']])
  expect(readdirSync(root)).not.toContain('.wh..wh.plnk')
})

it('a layer replaces folders, files and links by each other', async () => {
  await unpack([
    [folder('a'), file('a/in'), file('b'), symlink('c', 'a')],
    [file('a', 'now a file'), folder('b'), file('b/in'), folder('c'), file('c/in', 'its own')],
  ])
  expect([read('a'), read('b/in'), read('c/in'), lstatSync(at('c')).isDirectory()]).toEqual([
    'now a file',
    'x',
    'its own',
    true,
  ])
})

it('a link in place of a hidden folder leads to its target', async () => {
  await unpack([[folder('hidden', 0o700), file('hidden/a'), file('usr/b')], [symlink('hidden', 'usr')]])
  expect([readdirSync(at('usr')), readlinkSync(at('hidden'))]).toEqual([['b'], 'usr'])
})

it.each<[string, TarEntry[]]>([
  ['a name with ..', [file('a/../../secret', 'changed')]],
  ['a hard link with ..', [link('mine', '../secret')]],
  ['a hard link to an absolute name', [link('mine', path.join('/', 'etc/passwd'))]],
  ['links in a circle', [symlink('a', 'b'), symlink('b', 'a'), file('a/x')]],
  ['a file as a folder', [file('a'), file('a/b')]],
  ['no name', [file('.')]],
])('a hostile archive is refused: %s', async (_what, entries) => {
  await expect(unpack([entries])).rejects.toThrow(
    /has an entry outside|links "mine" to no file|circle|folder is needed|place of its root/,
  )
  expect([beside(), readFileSync(path.join(outside, 'secret'), 'utf8')]).toEqual([['root', 'secret'], 'secret'])
})

it.each<[string, (outside: string) => TarEntry[]]>([
  ['an absolute name', (place) => [file(`${place}/secret`, 'changed')]],
  ['a link to a folder outside, absolute', (place) => [symlink('way', place), file('way/secret', 'changed')]],
  [
    'a link to a folder outside, relative',
    () => [
      symlink('way', '../../../../../../..'),
      file('way/secret', 'changed'),
      symlink('up', '..'),
      file('up/secret', 'changed'),
    ],
  ],
  [
    'a link in place of a folder that is written to',
    (place) => [folder('way'), file('way/a'), symlink('way', place), file('way/secret', 'changed')],
  ],
  ['a link as the file that is written', (place) => [symlink('secret', `${place}/secret`), file('secret', 'changed')]],
  [
    'a hard link to a link, then written',
    (place) => [symlink('way', `${place}/secret`), link('mine', 'way'), file('mine', 'changed')],
  ],
  ['a closed folder that becomes a link', (place) => [folder('way', 0o700), file('way/a'), symlink('way', place)]],
  ['a folder over a link to one', (place) => [symlink('way', place), folder('way', 0o700)]],
  [
    'whiteouts through a link',
    (place) => [symlink('way', place), file('way/.wh.secret', ''), file('way/.wh..wh..opq', '')],
  ],
  ['a whiteout of what is above', () => [file('.wh...', ''), file('.wh..', ''), file('a/.wh...', '')]],
])('a hostile archive changes nothing outside: %s', async (_what, entriesFor) => {
  symlinkSync('secret', path.join(outside, 'witness'))
  // Two layers, so that whiteouts apply and the second meets the first one's files.
  await unpack([entriesFor(outside), entriesFor(outside)]).catch(() => {})
  expect([beside(), readFileSync(path.join(outside, 'secret'), 'utf8')]).toEqual([
    ['root', 'secret', 'witness'],
    'secret',
  ])
})

it('a hostile archive is limited in entries and bytes, over all its layers', async () => {
  const entries = [file('a'), file('b')]
  await unpack([entries, entries], { entries: 4, bytes: 4 })
  await expect(unpack([entries, entries], { entries: 3, bytes: 100 })).rejects.toThrow('exceeds the limits of an image')
  await expect(unpack([entries, entries], { entries: 100, bytes: 3 })).rejects.toThrow('exceeds the limits of an image')
})

it('an archive that breaks off, or is not an archive, is reported as damaged', async () => {
  const packed = Buffer.from(await packTar([file('a', 'a'.repeat(5000))]))
  const broken = [
    packed.subarray(0, 3000),
    gzipSync(packed).subarray(0, 50),
    Buffer.from('no archive'.repeat(200)),
    Buffer.from('x'),
  ]
  for (const bytes of broken) {
    const done = unpackTar(Readable.from([bytes]), new RootTree(root), { allowance: newAllowance(), isLayer: false })
    await expect(done).rejects.toThrow('is damaged, or not a supported archive')
  }
  expect(existsSync(at('b'))).toBe(false)
})

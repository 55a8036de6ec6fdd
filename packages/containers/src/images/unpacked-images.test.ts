import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { UnpackedImages } from './unpacked-images.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const DAY_MS = 86_400_000
let cache: string
let images: UnpackedImages

beforeEach(() => {
  cache = newFolder()
  images = new UnpackedImages(cache)
})

const unpackText = (text: string) => async (folder: string) => {
  writeFileSync(path.join(folder, 'file'), text)
  return ['LANG=C.UTF-8']
}
const contentOf = ({ folder }: { folder: string }) => readFileSync(path.join(folder, 'file'), 'utf8')
const ensure = (source: string, id: string, unpack = unpackText(id)) => images.ensure({ source, id }, unpack)
const names = () => readdirSync(path.join(cache, 'images')).filter((name) => name !== '.lock')

function age(folder: string, days: number): void {
  const then = new Date(Date.now() - days * DAY_MS)
  utimesSync(path.join(folder, '../image.json'), then, then)
}

it('an image is unpacked once, also by two bridges at once', async () => {
  let count = 0
  const unpack = async (folder: string) => {
    count += 1
    return unpackText('one')(folder)
  }
  const found = await Promise.all([
    ensure('py', 'one', unpack),
    new UnpackedImages(cache).ensure({ source: 'py', id: 'one' }, unpack),
  ])
  expect([count, ...found.map(contentOf), found[0].environment]).toEqual([1, 'one', 'one', ['LANG=C.UTF-8']])
  await ensure('py', 'one', unpack)
  expect(count).toBe(1)
})

it('a new id under the same name is another image, and the name means the latest', async () => {
  const old = await ensure('py', 'old')
  age(old.folder, 0.5)
  await ensure('py', 'new')
  expect([contentOf((await images.lastOf('py'))!), await images.lastOf('other')]).toEqual(['new', undefined])
  // A bridge that started with it may still use it.
  expect(contentOf(old)).toBe('old')
})

it('an unpacking that failed or was killed leaves nothing behind', async () => {
  await expect(
    ensure('py', 'one', async (folder) => {
      writeFileSync(path.join(folder, 'half'), '')
      throw new Error('no room')
    }),
  ).rejects.toThrow('no room')
  expect(names()).toEqual([])
  mkdirSync(path.join(cache, 'images', 'of-a-killed-bridge.tmp/root'), { recursive: true })
  await ensure('py', 'one')
  expect(names()).toHaveLength(1)
})

it('images that are no longer used are removed, sooner when another one has their name', async () => {
  const [replaced, unused, used] = [await ensure('py', 'old'), await ensure('other', '1'), await ensure('third', '1')]
  age(replaced.folder, 2)
  age(unused.folder, 31)
  age(used.folder, 29)
  await ensure('py', 'new')
  expect([replaced, unused, used].map(({ folder }) => existsSync(folder))).toEqual([false, false, true])
  expect(names()).toHaveLength(2)
})

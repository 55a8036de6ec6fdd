import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { MemoryStore } from './memory-store.ts'
import { fileStore } from '../../core/src/util/stores/open-stores.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const SMALL = { keyChars: 5, memoryBytes: 40, totalBytes: 60, count: 2 }

it('memories are values by key, for every bridge of the user', async () => {
  const folder = newFolder()
  const [one, two] = [
    new MemoryStore(fileStore(path.join(folder, '.sandbridge'))),
    new MemoryStore(fileStore(path.join(folder, '.sandbridge'))),
  ]
  await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? one : two).save(`k${n}`, `${n}`)))
  expect(await one.list()).toHaveLength(10)
  await one.save('k0', '[1]', { of: 'me' })
  const again = await two.save('k0', '[2]')
  expect(again).toMatchObject({ key: 'k0', sizeBytes: 3, metadata: { of: 'me' } })
  expect(await two.load('k0')).toMatchObject({ value: '[2]' })
  expect([await two.remove('k0'), await one.remove('k0')]).toEqual([true, false])
  expect(await one.load('k0')).toEqual({ value: undefined, revision: '' })
})

it('no update is lost when two bridges update one memory at once', async () => {
  const folder = path.join(newFolder(), '.sandbridge')
  const add = async (store: MemoryStore): Promise<void> => {
    for (;;) {
      const { value = '0', revision } = await store.load('count')
      if (await store.save('count', String(Number(value) + 1), undefined, revision)) return
    }
  }
  const writer = async (): Promise<void> => {
    const store = new MemoryStore(fileStore(folder))
    for (let i = 0; i < 10; i += 1) await add(store)
  }
  await Promise.all([writer(), writer()])
  expect(await new MemoryStore(fileStore(folder)).load('count')).toMatchObject({ value: '20' })
})

it('a memory that was deleted and saved again is another revision', async () => {
  const store = new MemoryStore(fileStore(path.join(newFolder(), '.sandbridge')))
  await store.save('a', '1')
  const { revision } = await store.load('a')
  await store.remove('a')
  expect(await store.save('a', '2', undefined, revision)).toBeUndefined()
  await store.save('a', '1')
  expect(await store.save('a', '2', undefined, revision)).toBeUndefined()
  expect(await store.load('a')).toMatchObject({ value: '1' })
})

it.each([
  ['a key that is too long', 'abcdef', '1', /Invalid memory key/],
  ['an empty key', '', '1', /Invalid memory key/],
  ['a key with a line break', 'a\n', '1', /Invalid memory key/],
  ['a value that is too large', 'a', 'x'.repeat(50), /the limit of a memory is 40/],
])('a memory is refused with %s', async (_, key, value, reason) => {
  await expect(
    new MemoryStore(fileStore(path.join(newFolder(), '.sandbridge')), SMALL).save(key, value),
  ).rejects.toThrow(reason)
})

it('memories are limited in number and in total bytes', async () => {
  const store = new MemoryStore(fileStore(path.join(newFolder(), '.sandbridge')), SMALL)
  await store.save('a', '1')
  await store.save('b', '1')
  await expect(store.save('c', '1')).rejects.toThrow(/2 memories/)
  await store.save('b', 'x'.repeat(30))
  await expect(store.save('a', 'x'.repeat(30))).rejects.toThrow(/limit of all memories/)
  expect(await store.load('a')).toMatchObject({ value: '1' })
})

it('a damaged file of memories stays as it is, and the error says where it is', async () => {
  const folder = newFolder()
  const store = new MemoryStore(fileStore(path.join(folder, '.sandbridge')))
  await store.save('a', '1')
  writeFileSync(path.join(folder, '.sandbridge/memories.json'), 'damaged')
  await expect(store.save('b', '2')).rejects.toThrow(/cannot be read/)
  await expect(store.load('a')).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
})

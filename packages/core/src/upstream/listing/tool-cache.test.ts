import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Connection } from '../connection/connection.ts'
import { ToolCache } from './tool-cache.ts'
import type { ToolList } from './tool-list.ts'

beforeEach(() => void vi.useFakeTimers())

function listOf(...names: string[]): ToolList {
  return { tools: names.map((name) => ({ name })), taskTools: new Set(), skipped: [], isCut: false }
}

interface Listing {
  resolve: (list: ToolList) => void
  reject: (error: Error) => void
}

/** A cache of a server whose listings are answered by the test. */
function cacheOf() {
  const heard: string[][] = []
  const errors: unknown[] = []
  const asked: Listing[] = []
  const connection = {
    listTools: () => new Promise<ToolList>((resolve, reject) => asked.push({ resolve, reject })),
  } as unknown as Connection
  const cache = new ToolCache({
    onList: ({ tools }) => heard.push(tools.map(({ name }) => name)),
    onError: (error) => errors.push(error),
  })
  return { cache, connection, heard, errors, asked }
}

it('a slow response does not replace a list that was asked for later', async () => {
  const { cache, connection, heard, asked } = cacheOf()
  const first = cache.list(connection)
  cache.changed()
  const second = cache.list(connection)
  asked[1]!.resolve(listOf('new'))
  await second
  asked[0]!.resolve(listOf('old'))
  await first
  expect(heard).toEqual([['new']])
})

it('a server that announces a change during each listing is heard', async () => {
  const { cache, connection, heard, asked } = cacheOf()
  for (const name of ['a', 'b']) {
    const listing = cache.list(connection)
    cache.changed()
    asked.at(-1)!.resolve(listOf(name))
    await listing
  }
  expect(heard).toEqual([['a'], ['b']])
})

/** Listings of a server that announces a change with each of them, from now on. */
async function listingsWithin(
  ms: number,
  { cache, asked }: Pick<ReturnType<typeof cacheOf>, 'cache' | 'asked'>,
  list = (): ToolList => listOf('same'),
): Promise<number> {
  let count = 0
  for (let at = 0; at < ms; at += 100) {
    await vi.advanceTimersByTimeAsync(100)
    for (const { resolve } of asked.splice(0)) {
      count += 1
      resolve(list())
      cache.changed()
    }
  }
  return count
}

describe('a server that announces a change with each listing', () => {
  it('is listed ever more rarely while the list stays the same', async () => {
    const all = cacheOf()
    void all.cache.list(all.connection)
    expect(await listingsWithin(60_000, all)).toBeLessThan(15)
    await listingsWithin(60_000, all)
    expect(await listingsWithin(600_000, all)).toBe(10)
    expect(all.heard.length).toBeGreaterThan(10)
  })

  it('is listed ever more rarely while its list changes each time', async () => {
    const all = cacheOf()
    void all.cache.list(all.connection)
    let count = 0
    const other = (): ToolList => listOf(`tool ${(count += 1)}`)
    expect(await listingsWithin(60_000, all, other)).toBeLessThan(15)
    expect(await listingsWithin(600_000, all, other)).toBeLessThan(15)
    all.cache.hurry()
    expect(await listingsWithin(1_000, all, other)).toBeGreaterThan(1)
  })

  it('is listed soon again when it is used', async () => {
    const all = cacheOf()
    void all.cache.list(all.connection)
    await listingsWithin(200_000, all)
    all.cache.hurry()
    expect(await listingsWithin(1_000, all)).toBeGreaterThan(1)
    await listingsWithin(200_000, all)
    void all.cache.list(all.connection)
    expect(await listingsWithin(1_000, all)).toBeGreaterThan(2)
  })

  it('is read in time by calls that come faster than that', async () => {
    const all = cacheOf()
    void all.cache.list(all.connection)
    await listingsWithin(200_000, all)
    for (let at = 0; at < 300; at += 100) {
      all.cache.hurry()
      await vi.advanceTimersByTimeAsync(100)
    }
    expect(all.asked).toHaveLength(1)
  })

  it('is asked ever more rarely while its listings fail', async () => {
    const all = cacheOf()
    const first = all.cache.list(all.connection)
    all.asked.pop()!.resolve(listOf('a'))
    await first
    let count = 0
    for (let at = 0; at < 60_000; at += 100) {
      all.cache.changed()
      await vi.advanceTimersByTimeAsync(100)
      for (const { reject } of all.asked.splice(0)) {
        count += 1
        reject(new Error('broken'))
      }
    }
    expect(count).toBeLessThan(15)
    expect(all.errors.length).toBeGreaterThan(5)
  })
})

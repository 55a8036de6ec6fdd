import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Connection } from '../connection/connection.ts'
import { ToolCache } from './tool-cache.ts'
import type { ToolList } from './tool-list.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function listOf(...names: string[]): ToolList {
  return { tools: names.map((name) => ({ name })), taskTools: new Set(), skippedCount: 0, isCut: false }
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

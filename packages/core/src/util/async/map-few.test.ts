import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { mapFew } from './map-few.ts'

it('mapFew works on eight items at once, and keeps their order', async () => {
  let [running, most] = [0, 0]
  const items = Array.from({ length: 50 }, (_, index) => index)
  const results = await mapFew(items, async (item) => {
    most = Math.max(most, (running += 1))
    await nextTurn()
    running -= 1
    return item * 2
  })
  expect(results).toEqual(items.map((item) => item * 2))
  expect(most).toBe(8)
})

it('mapFew throws what the work throws', async () => {
  await expect(mapFew([1, 2], () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await mapFew([], () => Promise.reject(new Error('no')))).toEqual([])
})

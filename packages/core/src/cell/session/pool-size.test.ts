import { expect, it } from 'vitest'
import { PoolSize } from './pool-size.ts'

/** Takes one kernel every `everyMs` for `forMs`; returns the time after the last. */
function take(size: PoolSize, everyMs: number, forMs: number, from = 0): number {
  let now = from
  for (; now - from < forMs; now += everyMs) size.taken(now)
  return now
}

it('a pool keeps twice as many sandboxes as are taken while one starts', () => {
  const size = new PoolSize({ min: 1, max: 100 })
  size.started(3_000)
  // Two kernels a second, so six during one start; twice that wait.
  const now = take(size, 500, 300_000)
  expect(size.target(now)).toBe(12)
})

it('a pool keeps to its bounds', () => {
  const size = new PoolSize({ min: 2, max: 5 })
  expect(size.target(0)).toBe(2)
  size.started(10_000)
  const now = take(size, 100, 60_000)
  expect(size.target(now)).toBe(5)
  expect(size.target(now + 600_000)).toBe(2)
})

it('a pool stays small where starts are fast, or sessions are rare', () => {
  const fast = new PoolSize({ min: 1, max: 16 })
  fast.started(15)
  expect(fast.target(take(fast, 1_000, 60_000))).toBe(1)
  const rare = new PoolSize({ min: 1, max: 16 })
  rare.started(5_000)
  expect(rare.target(take(rare, 60_000, 600_000))).toBe(1)
})

it('a maximum below the minimum does not shrink the pool', () => {
  expect(new PoolSize({ min: 3, max: 1 }).target(0)).toBe(3)
})

it('a pool grows when starts become slower', () => {
  const size = new PoolSize({ min: 0, max: 100 })
  size.started(1_000)
  for (let index = 0; index < 20; index += 1) size.started(4_000)
  expect(size.target(take(size, 1_000, 300_000))).toBe(8)
})

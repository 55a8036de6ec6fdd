import { expect, it } from 'vitest'
import { HourlyBudget } from './user-quota.ts'

const MINUTE = 60_000

it('an hourly budget says how long to wait, by the limit that is used up the longest', () => {
  const budget = new HourlyBudget(3)
  expect(budget.waitMs(0)).toBe(0)
  budget.spend(1, 0)
  budget.spend(1, 10 * MINUTE)
  expect(budget.waitMs(10 * MINUTE)).toBe(0)
  budget.spend(1, 20 * MINUTE)
  expect(budget.waitMs(20 * MINUTE)).toBe(41 * MINUTE)
  expect(budget.waitMs(61 * MINUTE - 1)).toBe(1)
  expect(budget.waitMs(61 * MINUTE)).toBe(0)
  budget.spend(2, 61 * MINUTE)
  expect(budget.waitMs(61 * MINUTE)).toBe(20 * MINUTE)
})

it('an hourly budget may be overdrawn once, and counts that', () => {
  const budget = new HourlyBudget(1_000)
  budget.spend(1, 0)
  budget.spend(5_000, 5 * MINUTE)
  expect(budget.waitMs(6 * MINUTE)).toBe(60 * MINUTE)
  expect(budget.waitMs(66 * MINUTE)).toBe(0)
})

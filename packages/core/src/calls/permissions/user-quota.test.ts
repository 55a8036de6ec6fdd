// This file verifies that a quota reports when it frees up, and that it does so then.
import { expect, it, vi } from 'vitest'
import { UserQuota } from './user-quota.ts'

function atNoon(): void {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-01-01T12:00:00Z') })
}

it("a user's quota counts calls, and frees them after an hour", () => {
  atNoon()
  const quota = new UserQuota({ calls: 2 })
  quota.takeCall()
  quota.takeCall()
  expect(() => quota.takeCall()).toThrow(
    expect.objectContaining({
      code: 'QUOTA_EXCEEDED',
      message: 'You have reached a limit for one user: 2 calls per hour. The call was not made',
      hint: expect.stringMatching(/^Retry in 61 min, after 2026-01-01T13:01Z\. .* the setting http\.userCalls\.$/),
    }),
  )
  vi.advanceTimersByTime(61 * 60_000)
  quota.takeCall()
})

it("a user's quota lets a cell begin until the cell time is used up", () => {
  atNoon()
  const quota = new UserQuota({ cellMs: 60_000 })
  quota.checkCells()
  quota.spendCell(59_000)
  quota.checkCells()
  quota.spendCell(30_000)
  expect(() => quota.checkCells()).toThrow(/60 s of cells per hour\. No code ran/)
  vi.advanceTimersByTime(61 * 60_000)
  quota.checkCells()
})

it("a user's quota counts nothing without limits", () => {
  const quota = new UserQuota({})
  quota.spendCell(1e9)
  expect(() => {
    for (let call = 0; call < 1_000; call += 1) quota.takeCall()
    quota.checkCells()
  }).not.toThrow()
})

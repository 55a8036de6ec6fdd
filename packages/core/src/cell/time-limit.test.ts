import { beforeEach, expect, it, vi } from 'vitest'
import { TimeLimit } from './time-limit.ts'

beforeEach(() => vi.useFakeTimers())

function started(ms: number) {
  const limit = new TimeLimit(ms)
  const expired = vi.fn<() => void>()
  limit.start(expired)
  return { limit, expired }
}

it('a time limit expires once, after its time', () => {
  const { expired } = started(100)
  vi.advanceTimersByTime(99)
  expect(expired).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1000)
  expect(expired).toHaveBeenCalledTimes(1)
})

it('a time limit stands still while it is paused, however often', () => {
  const { limit, expired } = started(100)
  vi.advanceTimersByTime(50)
  limit.pause()
  limit.pause()
  vi.advanceTimersByTime(1000)
  limit.resume()
  vi.advanceTimersByTime(1000)
  limit.resume()
  vi.advanceTimersByTime(49)
  expect(expired).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(expired).toHaveBeenCalledTimes(1)
})

it('a time limit stands still from the start while a server that starts beside the sandbox asks the user', () => {
  const limit = new TimeLimit(100)
  const expired = vi.fn<() => void>()
  limit.pause()
  limit.start(expired)
  vi.advanceTimersByTime(1000)
  limit.resume()
  vi.advanceTimersByTime(99)
  expect(expired).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(expired).toHaveBeenCalledTimes(1)
})

it('a paused time limit does not stand still for ever', () => {
  const { limit, expired } = started(100)
  limit.pause()
  vi.advanceTimersByTime(10 * 60_000)
  expect(expired).toHaveBeenCalledTimes(1)
})

it('a stopped time limit never expires', () => {
  const { limit, expired } = started(100)
  limit.pause()
  limit.stop()
  limit.resume()
  vi.advanceTimersByTime(60 * 60_000)
  expect(expired).not.toHaveBeenCalled()
})

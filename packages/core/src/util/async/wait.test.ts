import { PassThrough } from 'node:stream'
import { beforeEach, expect, it, vi } from 'vitest'
import { letOthers, untilAborted, withTimeout } from './wait.ts'

const never = new Promise<never>(() => {})

beforeEach(() => void vi.useFakeTimers())

it('untilAborted returns the outcome of work that ends before the abort, and stops listening', async () => {
  const { signal } = new AbortController()
  const removed = vi.spyOn(signal, 'removeEventListener')
  await expect(untilAborted(Promise.resolve(1), signal)).resolves.toBe(1)
  await expect(untilAborted(Promise.reject(new Error('own')), signal)).rejects.toThrow('own')
  expect(removed).toHaveBeenCalledTimes(2)
})

it('untilAborted throws the reason of the abort at once, or the one it was given', async () => {
  const abort = new AbortController()
  const waiting = untilAborted(never, abort.signal)
  const named = untilAborted(never, abort.signal, () => new Error('named'))
  abort.abort(new Error('why'))
  await expect(waiting).rejects.toThrow('why')
  await expect(named).rejects.toThrow('named')
})

it('untilAborted prefers an abort from before to work that has ended', async () => {
  const signal = AbortSignal.abort(new Error('before'))
  await expect(untilAborted(Promise.resolve(1), signal)).rejects.toThrow('before')
})

it('untilAborted ignores an error of the work that comes after the abort', async () => {
  const abort = new AbortController()
  let fail = (_error: Error): void => {}
  const work = new Promise<never>((_, reject) => (fail = reject))
  const waiting = untilAborted(work, abort.signal)
  abort.abort(new Error('why'))
  await expect(waiting).rejects.toThrow('why')
  // An unhandled rejection would fail this test file.
  fail(new Error('late'))
  await vi.advanceTimersByTimeAsync(1)
})

it('untilAborted waits for the work alone without a signal', async () => {
  await expect(untilAborted(Promise.resolve(1), undefined)).resolves.toBe(1)
})

it('withTimeout returns the outcome of work that ends in time, and leaves no timer', async () => {
  await expect(withTimeout(Promise.resolve(1), 1000, () => 2)).resolves.toBe(1)
  await expect(withTimeout(Promise.reject(new Error('own')), 1000, () => 2)).rejects.toThrow('own')
  expect(vi.getTimerCount()).toBe(0)
})

it('withTimeout returns or throws what it was given for work that takes too long', async () => {
  const late = withTimeout(never, 1000, () => 2)
  const refused = expect(
    withTimeout(never, 1000, () => {
      throw new Error('too late')
    }),
  ).rejects.toThrow('too late')
  await vi.advanceTimersByTimeAsync(1000)
  await expect(late).resolves.toBe(2)
  await refused
})

it('a stream pauses once a turn of the loop is long, and goes on in the next one', () => {
  const stream = new PassThrough()
  const full = Buffer.alloc(64 << 10)
  const [pause, resume] = [vi.spyOn(stream, 'pause'), vi.spyOn(stream, 'resume')]
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  letOthers(stream, full)
  letOthers(stream, full)
  expect(pause).not.toHaveBeenCalled()
  now.mockReturnValue(30)
  letOthers(stream, Buffer.alloc(100))
  expect(pause).not.toHaveBeenCalled()
  letOthers(stream, full)
  expect([pause.mock.calls.length, resume.mock.calls.length]).toEqual([1, 0])
  vi.runAllTimers()
  letOthers(stream, full)
  expect([pause.mock.calls.length, resume.mock.calls.length]).toEqual([1, 1])
})

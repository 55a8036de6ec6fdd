import { beforeEach, expect, it, vi } from 'vitest'
import { CallTimeouts } from './call-timeouts.ts'

beforeEach(() => void vi.useFakeTimers())

function question() {
  let answer!: (value: Record<string, unknown>) => void
  const answered = new Promise<Record<string, unknown>>((resolve) => (answer = resolve))
  return { answer, elicit: () => answered }
}

it('a call ends at its limit, and not after its end', async () => {
  const limits = new CallTimeouts()
  const [late, ended] = [limits.begin(100), limits.begin(100)]
  await vi.advanceTimersByTimeAsync(99)
  expect(late.signal.aborted).toBe(false)
  ended.end()
  await vi.advanceTimersByTimeAsync(1)
  expect(late.signal.reason).toMatchObject({ name: 'TimeoutError' })
  expect(ended.signal.aborted).toBe(false)
})

it('time in which a request of the server is open does not count, until the last one has ended', async () => {
  const limits = new CallTimeouts()
  const [first, second] = [question(), question()]
  const { elicit, sample } = limits.pausedBy({ elicit: first.elicit, sample: second.elicit })
  const before = limits.begin(100)
  await vi.advanceTimersByTimeAsync(60)
  const { signal } = new AbortController()
  const asked = [elicit!('s', {}, signal), sample!('s', {}, signal)]
  const during = limits.begin(100)
  await vi.advanceTimersByTimeAsync(10_000)
  first.answer({ action: 'accept' })
  await expect(asked[0]).resolves.toEqual({ action: 'accept' })
  await vi.advanceTimersByTimeAsync(10_000)
  second.answer({})
  await asked[1]
  await vi.advanceTimersByTimeAsync(39)
  expect(before.signal.aborted).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect([before.signal.aborted, during.signal.aborted]).toEqual([true, false])
  await vi.advanceTimersByTimeAsync(60)
  expect(during.signal.aborted).toBe(true)
})

it('a request that its server has cancelled, or that fails, pauses no limit any more', async () => {
  const limits = new CallTimeouts()
  const { elicit, roots } = limits.pausedBy({
    elicit: question().elicit,
    roots: () => Promise.reject(new Error('no client')),
  })
  const limit = limits.begin(100)
  await expect(roots!('s')).rejects.toThrow('no client')
  const request = new AbortController()
  void elicit!('s', {}, request.signal)
  request.abort()
  await vi.advanceTimersByTimeAsync(100)
  expect(limit.signal.aborted).toBe(true)
})

it('requests that no client answers stay without an answerer', () => {
  expect(new CallTimeouts().pausedBy({ samplesWithTools: true })).toEqual({ samplesWithTools: true })
})

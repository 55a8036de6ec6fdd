import { expect, it } from 'vitest'
import { Cancellation, signalOf } from './cancellation.ts'

it('a cancellation tells its listeners once, and none that has stopped listening', () => {
  const cancellation = new Cancellation()
  const heard: string[] = []
  const first = () => void heard.push('first')
  cancellation.addEventListener('abort', first)
  cancellation.addEventListener('abort', () => void heard.push('second'))
  cancellation.removeEventListener('abort', first)
  expect(cancellation.aborted).toBe(false)
  cancellation.abort('why')
  cancellation.abort('again')
  expect([heard, cancellation.aborted, cancellation.reason]).toEqual([['second'], true, 'why'])
})

it.each([true, false])(
  'a cancellation becomes an AbortSignal with the same reason, made before the abort: %s',
  (isBefore) => {
    const cancellation = new Cancellation()
    const early = isBefore ? signalOf(cancellation) : undefined
    cancellation.abort()
    const signal = early ?? signalOf(cancellation)
    expect(signal.aborted).toBe(true)
    expect(signal.reason).toBe(cancellation.reason)
    // The same reason as an AbortController's.
    const { signal: own } = (() => {
      const controller = new AbortController()
      controller.abort()
      return controller
    })()
    expect(String(signal.reason)).toBe(String(own.reason))
  },
)

it('an AbortSignal is used as it is', () => {
  const { signal } = new AbortController()
  expect(signalOf(signal)).toBe(signal)
})

import { expect, it, vi } from 'vitest'
import type { Told } from '../runs/run.ts'
import { LazySubscriber } from './lazy-subscriber.ts'

const told = (type: string, count: number) =>
  Array.from({ length: count }, (_, seq) => ({ event: { type, seq } })) as unknown as Told[]

it('an observer misses no event that comes while its code is loaded', async () => {
  let isThere = (): void => {}
  const promise = new Promise<void>((resolve) => (isThere = resolve))
  const receive = vi.fn<(all: readonly Told[]) => void>()
  const load = () => promise.then(() => ({ name: 'one', receive }))
  const lazy = new LazySubscriber({ name: 'one', guards: false, wakes: ['run.started'], load, onError: () => {} })
  // Until something wakes it, so many are kept.
  lazy.receive(told('session.started', 20_000))
  lazy.receive(told('run.started', 1))
  lazy.receive(told('call.ended', 20_000))
  isThere()
  await expect.poll(() => receive.mock.lastCall?.[0].length).toBe(10_000 + 1 + 20_000)
  lazy.receive(told('call.ended', 1))
  expect(receive.mock.lastCall![0]).toHaveLength(1)
})

it('an observer whose code cannot be loaded says so', async () => {
  const onError = vi.fn<(error: unknown) => void>()
  const load = () => Promise.reject(new Error('gone'))
  const lazy = new LazySubscriber({ name: 'one', guards: false, wakes: ['run.started'], load, onError })
  lazy.receive(told('run.started', 1))
  await expect.poll(() => onError.mock.calls).toEqual([[new Error('gone')]])
  lazy.receive(told('call.ended', 1))
  await lazy.close()
})

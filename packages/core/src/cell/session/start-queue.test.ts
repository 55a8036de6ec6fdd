import { expect, it } from 'vitest'
import { StartQueue } from './start-queue.ts'

/** Starts that complete when the test says so. */
function startsOf(queue: StartQueue) {
  const begun: string[] = []
  const finish = new Map<string, () => void>()
  const start = (name: string, options: Parameters<StartQueue['run']>[1] = {}) =>
    queue.run(() => {
      begun.push(name)
      return new Promise<string>((resolve) => finish.set(name, () => resolve(name)))
    }, options)
  const end = async (name: string) => {
    finish.get(name)!()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { begun, start, end }
}

it('the start queue begins as many starts as it may at once, and the others in order', async () => {
  const { begun, start, end } = startsOf(new StartQueue(2))
  const all = ['a', 'b', 'c', 'd'].map((name) => start(name))
  expect(begun).toEqual(['a', 'b'])
  await end('b')
  expect(begun).toEqual(['a', 'b', 'c'])
  await end('a')
  await end('c')
  await end('d')
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
})

it('the start queue begins more starts at once when its limit is raised', async () => {
  const queue = new StartQueue(1)
  const { begun, start, end } = startsOf(queue)
  const all = ['a', 'b', 'c', 'd'].map((name) => start(name))
  queue.allow(3)
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toEqual(['a', 'b', 'c'])
  expect(queue.isBusy).toBe(true)
  for (const name of ['a', 'b', 'c', 'd']) await end(name)
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
})

it('the start queue tells waiting starts their place, and again when it changes', async () => {
  const { start, end } = startsOf(new StartQueue(1))
  const heard: string[] = []
  const all = [start('a'), start('b', { onPlace: (message) => heard.push(`b ${message}`) })]
  all.push(start('c', { onPlace: (message) => heard.push(`c ${message}`) }))
  expect(heard).toEqual(['b waiting for a sandbox: place 1', 'c waiting for a sandbox: place 2'])
  await end('a')
  expect(heard.at(-1)).toMatch(/^c waiting for a sandbox: place 1, about \d+ s$/)
  await end('b')
  await end('c')
  await Promise.all(all)
})

it('the start queue continues after a start that failed', async () => {
  const queue = new StartQueue(1)
  const failed = queue.run(() => Promise.reject(new Error('no engine')))
  const next = queue.run(() => Promise.resolve('started'))
  await expect(failed).rejects.toThrow('no engine')
  expect(await next).toBe('started')
})

it('the start queue forgets a start that is cancelled while it waits, and moves the others up', async () => {
  const { begun, start, end } = startsOf(new StartQueue(1))
  const cancelled = new AbortController()
  const places: string[] = []
  const [first, second] = [start('a'), start('b', { signal: cancelled.signal })]
  const third = start('c', { onPlace: (message) => places.push(message) })
  cancelled.abort()
  await expect(second).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(places.at(-1)).toMatch(/place 1/)
  await end('a')
  expect(begun).toEqual(['a', 'c'])
  await end('c')
  await Promise.all([first, third])
})

it('the start queue refuses waiting starts when it closes', async () => {
  const queue = new StartQueue(1)
  const running = startsOf(queue)
  const first = running.start('a')
  const waiting = running.start('b')
  queue.close()
  await expect(waiting).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
  await running.end('a')
  await first
  expect(running.begun).toEqual(['a'])
})

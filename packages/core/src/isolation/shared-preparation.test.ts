import { EventEmitter, once } from 'node:events'
import { expect, it } from 'vitest'
import { SharedPreparation } from './shared-preparation.ts'

it('a shared preparation runs once for all who need it at the same time, and reports progress to each', async () => {
  const finished = new EventEmitter()
  const work = once(finished, 'finished').then(() => 'ready')
  const tellers: ((message: string) => void)[] = []
  const preparation = new SharedPreparation((onProgress) => {
    tellers.push(onProgress)
    return work
  })
  const told: string[] = []
  const first = preparation.get((message) => told.push(`first: ${message}`))
  const second = preparation.get((message) => told.push(`second: ${message}`))
  tellers[0]!('pulling')
  finished.emit('finished')
  expect(await Promise.all([first, second, preparation.get()])).toEqual(['ready', 'ready', 'ready'])
  tellers[0]!('too late')
  expect(told).toEqual(['first: pulling', 'second: pulling'])
  expect(tellers).toHaveLength(1)
})

it('a shared preparation runs again, once for all, when its outcome is no longer good', async () => {
  let runs = 0
  const preparation = new SharedPreparation(() => Promise.resolve((runs += 1)))
  const isGood = (run: number) => Promise.resolve(run === 2)
  expect(await Promise.all([preparation.getGood(isGood), preparation.getGood(isGood)])).toEqual([2, 2])
  expect(await preparation.getGood(isGood)).toBe(2)
})

it('a shared preparation runs again after it has failed, and after its outcome was given up', async () => {
  let runs = 0
  const preparation = new SharedPreparation(() => {
    runs += 1
    return runs === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve(runs)
  })
  await expect(preparation.get()).rejects.toThrow('not yet')
  expect([await preparation.get(), await preparation.get()]).toEqual([2, 2])
  preparation.forget()
  expect(await preparation.get()).toBe(3)
})

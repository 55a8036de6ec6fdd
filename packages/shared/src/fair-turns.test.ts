import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { FairTurns } from './fair-turns.ts'

it('a request begins after one of each other client, however many these have sent, and in its own order', async () => {
  const turns = new FairTurns()
  const begun: string[] = []
  const send = async (client: string, name: string): Promise<void> => {
    const turn = turns.take(client)
    if (turn) await turn
    begun.push(name)
  }
  const all = Array.from({ length: 100 }, (_, at) => send('a', `a${at}`))
  await nextTurn()
  all.push(send('b', 'b0'), send('b', 'b1'))
  await Promise.all(all)
  expect(begun.indexOf('b0')).toBeLessThan(4)
  expect(begun.indexOf('b1')).toBeLessThan(7)
  expect(begun.filter((name) => name.startsWith('a'))).toEqual(Array.from({ length: 100 }, (_, at) => `a${at}`))
})

it('control: requests that come in turns do not wait', async () => {
  const turns = new FairTurns()
  for (let at = 0; at < 3; at += 1) {
    expect([turns.take('a'), turns.take('b')]).toEqual([undefined, undefined])
    await nextTurn()
  }
})

import { expect, it } from 'vitest'
import { Turns } from './turns.ts'

function gate() {
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { open, opened }
}

it('work waits for its turn, in order, and a failure gives the turn on', async () => {
  const turns = new Turns(1)
  const log: string[] = []
  const first = gate()
  const all = [
    turns.run(undefined, async () => {
      log.push('first')
      await first.opened
      throw new Error('failed')
    }),
    turns.run(undefined, async () => void log.push('second')),
    turns.run(undefined, async () => void log.push('third')),
  ]
  await Promise.resolve()
  expect(log).toEqual(['first'])
  first.open()
  await Promise.allSettled(all)
  expect(log).toEqual(['first', 'second', 'third'])
})

it('work that is cancelled while it waits takes no turn', async () => {
  const turns = new Turns(2)
  const gates = [gate(), gate()]
  const held = gates.map(({ opened }) => turns.run(undefined, () => opened))
  const cancelled = new AbortController()
  const given = turns.run(cancelled.signal, async () => 'found out')
  cancelled.abort()
  expect(await given).toBe('found out')
  let runs = 0
  const later = [1, 2, 3].map(() => turns.run(undefined, async () => void (runs += 1)))
  gates[0]!.open()
  await Promise.all(later)
  expect(runs).toBe(3)
  gates[1]!.open()
  await Promise.all(held)
})

import { expect, test } from 'vitest'
import { Circuit } from './circuit.ts'

function circuit(random = 0.5) {
  const clock = { now: 0 }
  return { clock, circuit: new Circuit({ server: 's', now: () => clock.now, random: () => random }) }
}

const failure = new Error('it is down')

test('the first failures have no consequence; then the waits double up to five minutes', () => {
  const { clock, circuit: c } = circuit()
  const waits: number[] = []
  for (let i = 0; i < 14; i += 1) {
    c.failed(failure)
    let waited = 0
    for (; waited < 1e6; waited += 500) {
      try {
        c.check()
        break
      } catch {
        clock.now += 500
      }
    }
    waits.push(waited / 1000)
  }
  expect(waits).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
})

test('jitter spreads a wait by a fifth either way', () => {
  for (const [random, wait] of [
    [0, 800],
    [1, 1200],
  ] as const) {
    const { clock, circuit: c } = circuit(random)
    for (let i = 0; i < 3; i += 1) c.failed(failure)
    clock.now = wait - 1
    expect(() => c.check()).toThrow()
    clock.now = wait
    c.check()
  }
})

test('says how long, and why', () => {
  const { circuit: c } = circuit()
  for (let i = 0; i < 5; i += 1) c.failed(failure)
  expect(() => c.check()).toThrow("Server 's' is not tried again for another 4 s. It failed before: it is down")
})

test('success closes it again', () => {
  const { clock, circuit: c } = circuit()
  for (let i = 0; i < 9; i += 1) c.failed(failure)
  clock.now = 1e6
  c.succeeded()
  c.failed(failure)
  c.check()
})

test('a server’s own wish counts, up to an hour', () => {
  const { clock, circuit: c } = circuit()
  c.failed(failure, 10_000)
  clock.now = 9_999
  expect(() => c.check()).toThrow()
  clock.now = 10_000
  c.check()
  c.failed(failure, 1e12)
  clock.now += 3_600_000
  c.check()
})

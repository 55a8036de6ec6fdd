import { expect, it, vi } from 'vitest'
import { Circuit } from './circuit.ts'

function circuit(random = 0.5) {
  const clock = { now: 0 }
  return { clock, circuit: new Circuit({ server: 's', now: () => clock.now, random: () => random }) }
}

const failure = new Error('it is down')

/** One use that fails independently of others. */
const fail = (c: Circuit, retryAfterMs?: number): void => c.failed(failure, c.generation, retryAfterMs)
/** One use without a result. */
const use = (c: Circuit): void => c.enter()()

it('the circuit allows the first failures; then the waits double up to five minutes', () => {
  const { clock, circuit: c } = circuit()
  const waits: number[] = []
  for (let i = 0; i < 14; i += 1) {
    fail(c)
    let waited = 0
    for (; waited < 1e6; waited += 500) {
      try {
        use(c)
        break
      } catch {
        clock.now += 500
      }
    }
    waits.push(waited / 1000)
  }
  expect(waits).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
})

it('the circuit spreads a wait by a fifth either way', () => {
  for (const [random, wait] of [
    [0, 800],
    [1, 1200],
  ] as const) {
    const { clock, circuit: c } = circuit(random)
    for (let i = 0; i < 3; i += 1) fail(c)
    clock.now = wait - 1
    expect(() => use(c)).toThrow()
    clock.now = wait
    use(c)
  }
})

it('the circuit says how long it waits, and why', () => {
  const { circuit: c } = circuit()
  for (let i = 0; i < 5; i += 1) fail(c)
  expect(() => use(c)).toThrow("Server 's' is paused for 4 s after repeated failures. Last one: it is down")
})

it('the circuit closes again after a success', () => {
  const { clock, circuit: c } = circuit()
  for (let i = 0; i < 9; i += 1) fail(c)
  clock.now = 1e6
  c.succeeded(c.generation)
  fail(c)
  expect(() => use(c)).not.toThrow()
})

it('the circuit counts calls that began together and fail together as one failure', () => {
  const { circuit: c } = circuit()
  const since = c.generation
  for (let i = 0; i < 40; i += 1) c.failed(failure, since)
  use(c)
  fail(c)
  use(c)
  fail(c)
  expect(() => use(c)).toThrow('paused for 1 s')
})

it('the circuit ignores an answer to a call that began before the failure', () => {
  const { circuit: c } = circuit()
  const before = c.generation
  for (let i = 0; i < 5; i += 1) fail(c)
  c.succeeded(before)
  expect(() => use(c)).toThrow('paused for 4 s')
  c.succeeded(c.generation)
  use(c)
})

it('the circuit follows a server’s own Retry-After, up to an hour, also among failures of one generation', () => {
  const { clock, circuit: c } = circuit()
  const since = c.generation
  c.failed(failure, since)
  c.failed(failure, since, 10_000)
  clock.now = 9_999
  expect(() => use(c)).toThrow()
  clock.now = 10_000
  use(c)
  fail(c, 1e12)
  clock.now += 3_600_000
  use(c)
})

/** A circuit after its wait. */
function halfOpen() {
  const { clock, circuit: c } = circuit()
  for (let i = 0; i < 5; i += 1) fail(c)
  clock.now = 4000
  return c
}

it('the circuit makes no probe while it is closed', () => {
  const { circuit: c } = circuit()
  c.enter()
  expect(c.halfOpenProbe).toBeUndefined()
})

it('the circuit makes the first use after a wait the probe until it is over', async () => {
  const c = halfOpen()
  const leave = c.enter()
  const probe = c.halfOpenProbe
  expect(probe).toBeInstanceOf(Promise)
  fail(c)
  leave()
  await probe
  expect(c.halfOpenProbe).toBeUndefined()
  expect(() => c.enter()).toThrow('paused for 8 s')
})

it('the circuit makes the next use the probe when a probe has no outcome', async () => {
  const c = halfOpen()
  const leave = c.enter()
  const first = c.halfOpenProbe
  leave()
  await first
  c.enter()
  expect(c.halfOpenProbe).toBeInstanceOf(Promise)
  expect(c.halfOpenProbe).not.toBe(first)
})

it('the circuit ends a probe as soon as a call has succeeded', async () => {
  const c = halfOpen()
  c.enter()
  const probe = c.halfOpenProbe
  c.succeeded(c.generation)
  await probe
  c.enter()
  expect(c.halfOpenProbe).toBeUndefined()
})

it('the circuit waits ten seconds at most for a slow probe, whose end does not end the next one', async () => {
  vi.useFakeTimers()
  const c = halfOpen()
  const leave = c.enter()
  const first = c.halfOpenProbe
  vi.advanceTimersByTime(10_000)
  await first
  c.enter()
  const second = c.halfOpenProbe
  leave()
  expect(c.halfOpenProbe).toBe(second)
})

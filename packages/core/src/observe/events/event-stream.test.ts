// This file verifies that observers get every event in order, and that no observer can harm the code that emits events.
import { expect, it, vi } from 'vitest'
import { BridgeError } from '../../errors.ts'
import type { BridgeEvent, EventOf } from './event.ts'
import type { Told } from '../runs/run.ts'
import { EventStream } from './event-stream.ts'
import { newId, shortId } from './new-id.ts'

const output = (text: string) => ({ type: 'cell.output' as const, id: 'cell', stream: 'stdout' as const, text })
const about = { type: 'call.started', id: newId(), kind: 'tool', server: 's', name: 't', args: {} } as const
const call: EventOf<'call.started'> = { ...about, seq: 0, at: 0, mono: 0 }
const turn = () => new Promise((resolve) => setTimeout(resolve, 150))
const textsOf = (told: readonly Pick<Told, 'event'>[]) =>
  told.map(({ event }) => (event.type === 'cell.output' ? event.text : event.type))

it('the event stream is inactive until somebody subscribes, and again when they leave', () => {
  const stream = new EventStream()
  expect(stream.active).toBe(false)
  const leave = stream.subscribe({ name: 'one', receive: () => {} })
  expect(stream.active).toBe(true)
  leave()
  expect(stream.active).toBe(false)
})

it('the event stream delivers in order, after the work that emitted, with times and a count', async () => {
  const stream = new EventStream()
  const seen: BridgeEvent[] = []
  stream.emit(output('before anybody listens'))
  stream.subscribe({ name: 'one', receive: (told) => void seen.push(...told.map(({ event }) => event)) })
  stream.emit(output('a'))
  stream.emit(output('b'))
  expect(seen).toEqual([])
  await turn()
  expect(textsOf(seen.map((event) => ({ event })))).toEqual(['a', 'b'])
  expect(seen[1]!.seq).toBe(seen[0]!.seq + 1)
  expect(seen[1]!.mono).toBeGreaterThanOrEqual(seen[0]!.mono)
  expect(new Date(seen[0]!.at).getUTCFullYear()).toBeGreaterThan(2024)
})

it.each([
  ['100 ms', false, 100],
  ['25 ms where a person watches', true, 25],
])('the event stream delivers together what happens within %s', async (_, isWatched, ms) => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const stream = new EventStream()
  const sizes: number[] = []
  stream.subscribe({ name: 'one', isWatched, receive: (events) => void sizes.push(events.length) })
  for (const text of ['a', 'b', 'c']) {
    stream.emit(output(text))
    await new Promise((resolve) => setImmediate(resolve))
  }
  vi.advanceTimersByTime(ms - 1)
  expect(sizes).toEqual([])
  vi.advanceTimersByTime(1)
  expect(sizes).toEqual([3])
})

it('the event stream delivers to other subscribers when one throws, and stops delivering to that one', async () => {
  const failures: string[] = []
  const stream = new EventStream((subscriber, reason) => failures.push(`${subscriber}: ${reason}`))
  const seen: string[] = []
  let thrown = 0
  stream.subscribe({
    name: 'broken',
    receive: () => {
      thrown += 1
      throw new Error('no')
    },
  })
  stream.subscribe({ name: 'good', receive: (told) => void seen.push(...textsOf(told)) })
  for (let index = 0; index < 50; index += 1) {
    stream.emit(output(String(index)))
    stream.flush()
  }
  expect(seen).toHaveLength(50)
  expect(thrown).toBe(10)
  expect(failures).toEqual(['broken: no'])
})

it('the event stream gives a late subscriber none of the events that wait for the others', () => {
  const stream = new EventStream()
  const seen: string[] = []
  stream.subscribe({ name: 'early', receive: () => {} })
  stream.emit(output('early'))
  stream.subscribe({ name: 'late', receive: (told) => void seen.push(...textsOf(told)) })
  stream.emit(output('late'))
  stream.flush()
  expect(seen).toEqual(['late'])
})

it('the event stream shows a guard the call before it is asked, and hands on its refusal', async () => {
  const stream = new EventStream()
  const seen: string[] = []
  stream.subscribe({
    name: 'guard',
    receive: (told) => void seen.push(...textsOf(told)),
    before: async ({ seq }) => {
      expect(seq).toBe(1)
      expect(seen).toEqual(['call.started'])
      throw new BridgeError('STATE_UNWRITABLE', 'The audit log cannot be written')
    },
  })
  const started = { ...call }
  stream.emit(started)
  await expect(stream.allow(started)).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
})

it('the event stream never drops a guard, however often it throws', async () => {
  const stream = new EventStream()
  stream.subscribe({
    name: 'guard',
    receive: () => {
      throw new Error('no')
    },
    before: () => Promise.reject(new BridgeError('STATE_UNWRITABLE', 'no')),
  })
  for (let index = 0; index < 20; index += 1) {
    stream.emit(output(String(index)))
    stream.flush()
  }
  await expect(stream.allow(call)).rejects.toThrow('no')
})

it('newId returns 16 hexadecimal digits, and other ones each time', () => {
  const ids = Array.from({ length: 1_000 }, newId)
  expect(new Set(ids).size).toBe(1_000)
  // So that a person can tell runs apart by their short ids.
  expect(new Set(ids.map(shortId)).size).toBe(1_000)
  for (const id of ids) expect(id).toMatch(/^(?!0{16})[0-9a-f]{16}$/)
})

import { expect, it } from 'vitest'
import { openBatch, opensBatches, refusalOf } from './client-lines.ts'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const NOTE = { jsonrpc: '2.0', method: 'notifications/initialized' }
const open = (value: unknown, isAllowed: boolean) => openBatch(Buffer.from(` ${JSON.stringify(value)}`), isAllowed)
const refused = (id: unknown) => ({ id, error: { code: -32_600 } })

it('takes a batch apart, and refuses what is in it and no object once', () => {
  expect(open([PING, NOTE], true)).toEqual({ messages: [PING, NOTE], refusals: [] })
  expect(open([PING, 1, [PING], null], true)).toMatchObject({ messages: [PING], refusals: [refused(null)] })
  expect(open([], true)).toMatchObject({ messages: [], refusals: [refused(null)] })
})

it('refuses each request of a batch in a revision that has none', () => {
  const both = [PING, NOTE, { ...PING, id: 'b' }]
  expect(open(both, false)).toMatchObject({ messages: [], refusals: [refused(1), refused('b')] })
  expect(open([NOTE, { ...PING, id: null }], false)).toMatchObject({ messages: [], refusals: [refused(null)] })
})

it('leaves every other line alone', () => {
  for (const line of [JSON.stringify(PING), '[1', 'null', ''])
    expect(openBatch(Buffer.from(line), true)).toBeUndefined()
})

it('only the handshake says whether batches are allowed', () => {
  const initialize = (protocolVersion: unknown) => ({ method: 'initialize', params: { protocolVersion } })
  expect(['2025-03-26', '2025-06-18', undefined].map((one) => opensBatches(initialize(one)))).toEqual([
    true,
    false,
    false,
  ])
  expect(opensBatches(PING)).toBeUndefined()
})

it('refuses an invalid request by its id, and nothing that has none', () => {
  expect(refusalOf({ ...PING, params: [1] })).toMatchObject(refused(1))
  for (const one of [NOTE, { ...PING, id: null }, { ...PING, id: 1.5 }, { id: 1, result: {} }, [PING], 'x', undefined])
    expect(refusalOf(one)).toBeUndefined()
})

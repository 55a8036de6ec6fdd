import { PassThrough } from 'node:stream'
import type { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { SocketTransport } from './socket-transport.ts'

/** A transport that has started, and the ids and methods of the messages that its server gets. */
async function transport(): Promise<{ it: SocketTransport; got: unknown[]; say: (message: object) => void }> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const one = new SocketTransport(new PassThrough().resume() as unknown as Socket)
  const got: unknown[] = []
  one.onmessage = (message) => got.push('id' in message ? message.id : 'method' in message && message.method)
  await one.start()
  return { it: one, got, say: (message) => one.receive(JSON.stringify({ jsonrpc: '2.0', ...message })) }
}

const call = (id: number | string, params: object = {}): object => ({ id, method: 'tools/call', params })

it('begins no call while it drains, and says how many earlier ones are open', async () => {
  const { it: one, got, say } = await transport()
  for (const id of [1, '1', 2, 3]) say(call(id))
  expect(one.drain()).toBe(4)
  for (const message of [call(4), { id: 5, method: 'ping' }]) say(message)
  expect(got).toEqual([1, '1', 2, 3, 5])
  await one.send({ jsonrpc: '2.0', id: 1, result: {} })
  await one.send({ jsonrpc: '2.0', id: 2, error: { code: 1, message: '' } })
  expect(one.drain()).toBe(2)
  // A cancelled call gets no answer.
  say({ method: 'notifications/cancelled', params: { requestId: '1' } })
  await one.send({ jsonrpc: '2.0', id: 3, result: {} })
  expect(one.drain()).toBe(0)
})

it('takes a call that goes on with an earlier one while it drains', async () => {
  const { it: one, got, say } = await transport()
  one.drain()
  say(call(1, { requestState: 'of an earlier one' }))
  expect(got).toEqual([1])
  expect(one.drain()).toBe(1)
})

it('begins no call that came before its server listened, once it drains', async () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const one = new SocketTransport(new PassThrough() as unknown as Socket)
  const got: unknown[] = []
  one.onmessage = (message) => got.push(message)
  one.receive(JSON.stringify({ jsonrpc: '2.0', ...call(1) }))
  expect(one.drain()).toBe(0)
  await one.start()
  expect(got).toEqual([])
})

it('ends no question for the late answer to one of an earlier resident', async () => {
  const { it: one, got, say } = await transport()
  await one.send({ jsonrpc: '2.0', id: 0, method: 'elicitation/create' })
  say({ id: 'earlier:0', result: { action: 'accept' } })
  say({ id: 'earlier:0', error: { code: -1, message: 'closed' } })
  expect(got).toEqual([])
})

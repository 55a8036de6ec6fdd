import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, it, vi } from 'vitest'
import { readSettings } from '../../../config/settings/settings.ts'
import { BridgeError } from '../../../errors.ts'
import { SILENT } from '../../../util/log.ts'
import { createServer } from '../create-server.ts'
import { Deliveries } from './deliveries.ts'

function open() {
  const deliveries = new Deliveries()
  const told: [request: number, isDelivered: boolean | undefined][] = []
  const send = (request: number) => deliveries.sent(request, (isDelivered) => told.push([request, isDelivered]))
  return { deliveries, told, send }
}

const cancelled = (requestId: number): JSONRPCMessage => {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }
}
const NEXT: JSONRPCMessage = { jsonrpc: '2.0', id: 9, method: 'tools/list' }

it('a result is delivered when the client sends its next message, and is told once', () => {
  const { deliveries, told, send } = open()
  deliveries.heard(NEXT)
  send(1)
  expect(told).toEqual([])
  for (const message of [NEXT, NEXT]) deliveries.heard(message)
  deliveries.ended(false)
  expect(told).toEqual([[1, true]])
})

it('a result that crosses its cancellation is not delivered, and another one is', () => {
  const { deliveries, told, send } = open()
  for (const request of [1, 2]) send(request)
  deliveries.heard(cancelled(2))
  expect(told).toEqual([
    [1, true],
    [2, false],
  ])
})

it('a result is lost with a connection on which nothing followed', () => {
  const { deliveries, told, send } = open()
  send(1)
  deliveries.ended(false)
  expect(told).toEqual([[1, false]])
})

it.each([
  [999, undefined],
  [1_000, true],
])('a client that ends %i ms after a result has read it: %s', (ms, isDelivered) => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { deliveries, told, send } = open()
  send(1)
  vi.advanceTimersByTime(ms)
  deliveries.ended()
  expect(told).toEqual([[1, isDelivered]])
})

it('a client whose bridge cannot be opened gets the reason, and its next message ends nothing', async () => {
  const deliveries = new Deliveries()
  const getConversation = () => Promise.reject(new BridgeError('CONFIG_INVALID', 'line 3 is wrong'))
  const server = createServer({ settings: readSettings({}), log: SILENT, getConversation, deliveries })
  const client = new Client({ name: 'any', version: '1' })
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(serverSide), client.connect(clientSide)])
  const { content } = await client.callTool({ name: 'run_python', arguments: { code: '1' } })
  expect(JSON.stringify(content)).toContain('line 3 is wrong')
  deliveries.heard(NEXT)
  // A rejection that nobody handles would end the process.
  await new Promise((resolve) => setTimeout(resolve, 10))
  await client.close()
})

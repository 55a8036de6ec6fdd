// This file verifies that log messages of a server reach the bridge one by one, without the client package.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { type ServerMessage, takeLogMessages } from './log-messages.ts'

const log = (params: unknown) => ({ jsonrpc: '2.0', method: 'notifications/message', params }) as JSONRPCMessage

it('a log message is taken at once and hidden from the client package, also an invalid one, and nothing else is', () => {
  const taken: ServerMessage[] = []
  const observer = takeLogMessages((message) => taken.push(message))
  const odd = [undefined, [], { level: 'info' }, { data: 'x' }, { level: 3, data: 'x' }, { level: 'a\nb', data: 'x' }]
  for (const params of [{ level: 'info', data: { a: 1 } }, { level: 'ERROR', logger: 'db', data: 'x' }, ...odd])
    expect(observer.receive!(log(params))).toBe(true)
  expect(taken).toEqual([
    { level: 'info', data: { a: 1 } },
    { level: 'error', logger: 'db', data: 'x' },
    ...Array.from({ length: 3 }, () => ({ level: 'info', data: 'x' })),
  ])
  const others = [
    { method: 'notifications/progress', params: {} },
    { method: 'notifications/message', id: 1 },
    { id: 1, result: {} },
  ]
  for (const other of others) expect(observer.receive!({ jsonrpc: '2.0', ...other })).toBe(false)
})

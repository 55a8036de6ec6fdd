import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { beforeEach, expect, it } from 'vitest'
import { type MessageObserver, MessageTap } from './message-tap.ts'

const message = (method: string): JSONRPCMessage => ({ jsonrpc: '2.0', method })

let events: string[]
let transport: Transport

beforeEach(() => {
  events = []
  transport = {
    start: async () => {},
    send: async (sent) => void events.push(`sent ${JSON.stringify(sent)}`),
    close: async () => {
      events.push('close')
      transport.onclose?.()
    },
  }
})

const watcher = (name: string, extra: Partial<MessageObserver> = {}): MessageObserver => ({
  name,
  receive: () => void events.push(`${name} receives`),
  send: (sent, options, ways) => {
    events.push(`${name} sends`)
    return ways.send(sent, options)
  },
  closing: () => void events.push(`${name} closing`),
  closed: () => void events.push(`${name} closed`),
  ...extra,
})

function tap(...observers: MessageObserver[]): MessageTap {
  const made = new MessageTap(transport, observers)
  made.onmessage = (received) => void events.push(`package receives ${JSON.stringify(received)}`)
  made.onclose = () => void events.push('package closed')
  return made
}

it('the message tap passes messages to its observers in the order of the list, both ways', async () => {
  const tapped = tap(watcher('a'), { name: 'idle' }, watcher('b'))
  transport.onmessage?.(message('in'))
  await tapped.send(message('out'))
  expect(events).toEqual([
    'a receives',
    'b receives',
    'package receives {"jsonrpc":"2.0","method":"in"}',
    'a sends',
    'b sends',
    'sent {"jsonrpc":"2.0","method":"out"}',
  ])
})

it('the message tap hides a message that one observer has handled from all others', () => {
  tap(watcher('a', { receive: () => true }), watcher('b'))
  transport.onmessage?.(message('in'))
  expect(events).toEqual([])
})

it('the message tap lets an observer add an answer of its own, which all see', async () => {
  const answering = watcher('b', {
    send: async (_sent, _options, ways) => ways.receive(message('answer')),
  })
  await tap(watcher('a'), answering).send(message('out'))
  expect(events).toEqual([
    'a sends',
    'a receives',
    'b receives',
    'package receives {"jsonrpc":"2.0","method":"answer"}',
  ])
})

it('the message tap reports a close before it and after it, once the package knows', async () => {
  await tap(watcher('a'), watcher('b')).close()
  expect(events).toEqual(['a closing', 'b closing', 'close', 'package closed', 'a closed', 'b closed'])
})

it('the message tap looks to the package like the transport', () => {
  const versions: string[] = []
  Object.assign(transport, {
    sessionId: 's',
    hasPerRequestStream: true,
    setProtocolVersion: (version: string) => versions.push(version),
  })
  const tapped = tap()
  tapped.setProtocolVersion('2025-11-25')
  expect([tapped.sessionId, tapped.hasPerRequestStream, versions]).toEqual(['s', true, ['2025-11-25']])
})

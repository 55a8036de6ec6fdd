import { expect, it } from 'vitest'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { PlainServer } from './plain-server.ts'

async function answer(method: string, params: object) {
  const sent: JSONRPCMessage[] = []
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => void sent.push(message),
  }
  const server = new PlainServer({ name: 'test', version: '1' }, { capabilities: { tools: {}, logging: {} } })
  server.setRequestHandler('tools/call', () => {
    throw new Error('[{"path": "of a tool"}]')
  })
  await server.connect(transport)
  transport.onmessage!({ jsonrpc: '2.0', id: 1, method, params: { ...params } })
  await expect.poll(() => sent).toHaveLength(1)
  return sent[0]
}

it.each([
  ['logging/setLevel', { level: 'WARN' }, /^Invalid params\.level: Invalid option: expected one of "debug"\|/],
  ['tools/call', { name: 5 }, /^Invalid params\.name: Invalid input: expected string, received number$/],
  ['tools/call', { name: 'x', task: { ttl: '60' } }, /^Invalid params\.task\.ttl: .*received string$/],
])('the server says in words which param of %s does not fit: %j', async (method, params, message) => {
  expect(await answer(method, params)).toMatchObject({
    id: 1,
    error: { code: -32_602, message: expect.stringMatching(message) },
  })
})

it('the server leaves every other error as it is', async () => {
  const error = { code: -32_603, message: '[{"path": "of a tool"}]' }
  expect(await answer('tools/call', { name: 'x' })).toMatchObject({ error })
})

// One call without a client, between the list of tools and the first cell. Node prepares each function when it first
// runs, and the schemas' code is made then: a quarter of what a first cell takes.
import { InMemoryTransport, LATEST_PROTOCOL_VERSION, type Server } from '@modelcontextprotocol/server'
import { BridgeError } from '../../../errors.ts'
import { RUN_PYTHON_TOOL } from './run-python-tool.ts'
import type { ServerParts } from './run-python.ts'

let hasRun = false

/** Runs once per process, and no cell. */
export async function rehearse(createServer: (parts: ServerParts) => Server, parts: ServerParts): Promise<void> {
  if (hasRun) return
  hasRun = true
  const getConversation = () => Promise.reject(new BridgeError('CANCELLED', 'A rehearsal runs no cell'))
  const { settings, log, byHandle = false, isModern = false } = parts
  const server = createServer({ settings, log, getConversation, byHandle, isModern })
  const [client, connection] = InMemoryTransport.createLinkedPair()
  await server.connect(connection)
  const answered = new Promise<void>((resolve) => {
    client.onmessage = (message) => 'id' in message && message.id === 2 && resolve()
  })
  const clientInfo = { name: 'rehearsal', version: '' }
  const hello = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo }
  const call = { name: RUN_PYTHON_TOOL.name, arguments: { code: 'pass' } }
  await client.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })
  await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await client.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: call })
  await answered
  await server.close()
}

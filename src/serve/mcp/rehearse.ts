// Makes one call without a client before the first real one. Node compiles each function when it first runs, and
// compiling those between a request and its answer takes half as long as a first cell.
import { InMemoryTransport, LATEST_PROTOCOL_VERSION, type Server } from '@modelcontextprotocol/server'
import { RUN_PYTHON_TOOL } from './run-python-tool.ts'

let rehearsal: Promise<void> | undefined

/**
 * Runs once per process.
 * @param makeServer makes a server that no client will ever be connected to
 */
export function rehearse(makeServer: () => Server): Promise<void> {
  rehearsal ??= rehearsedCall(makeServer())
  return rehearsal
}

async function rehearsedCall(server: Server): Promise<void> {
  const [client, connection] = InMemoryTransport.createLinkedPair()
  await server.connect(connection)
  const answered = new Promise<void>((resolve) => {
    client.onmessage = (message) => {
      if ('id' in message && message.id === 2) resolve()
    }
  })
  const clientInfo = { name: 'rehearsal', version: '' }
  const hello = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo }
  await client.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })
  await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  // The call has no code, so it returns an error and nothing runs.
  await client.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: RUN_PYTHON_TOOL.name } })
  await answered
  await server.close()
}

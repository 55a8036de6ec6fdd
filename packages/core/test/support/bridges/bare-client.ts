// A plain client of the MCP package, connected to a server's process.
import { setMaxListeners } from 'node:events'
import type { Writable } from 'node:stream'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { ServerEntry } from './bridge-process.ts'

export async function connectBare(server: ServerEntry): Promise<{ client: Client; pid: number }> {
  const client = new Client({ name: 'bare', version: '1' })
  const transport = new StdioClientTransport({ ...server, stderr: 'ignore' })
  await client.connect(transport)
  // Its transport adds a listener for each message that waits for the pipe. With hundreds at once, Node warns of a
  // leak.
  const { stdin } = Reflect.get(transport, '_process') as { stdin: Writable }
  setMaxListeners(0, stdin)
  return { client, pid: transport.pid! }
}

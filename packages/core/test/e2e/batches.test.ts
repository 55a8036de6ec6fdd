// This file verifies what a client gets that sends several messages in a line, or a request that is not valid.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, CLI, makeHome } from '../support/bridges/bridge-process.ts'

type Message = Record<string, unknown>

/** A client of this revision after its handshake. `ask` writes a line, and returns what comes back until a ping. */
async function connect(protocolVersion: string): Promise<(line: unknown) => Promise<Message[]>> {
  const child = spawn(process.execPath, [CLI], { env: bridgeEnv(makeHome()), stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let count = 0
  const ask = async (line: unknown): Promise<Message[]> => {
    const id = (count += 1)
    child.stdin.write(`${JSON.stringify(line)}\n${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`)
    const got: Message[] = []
    for (;;) {
      const { value } = (await lines.next()) as { value: string }
      const message = JSON.parse(value) as Message
      if (message['id'] === id) return got
      got.push(message)
    }
  }
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
  const [welcome] = await ask({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params })
  expect(welcome).toMatchObject({ id: 'hello', result: { protocolVersion } })
  await ask({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return ask
}

const BATCH = ['a', 'b'].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
const byId = (messages: Message[]): Message[] =>
  messages.toSorted((a, b) => String(a['id']).localeCompare(String(b['id'])))

it('answers each request of a batch in revision 2025-03-26', async () => {
  const ask = await connect('2025-03-26')
  expect(byId(await ask(BATCH))).toMatchObject([
    { id: 'a', result: {} },
    { id: 'b', result: {} },
  ])
  expect(await ask([])).toMatchObject([{ id: null, error: { code: -32_600 } }])
})

it('refuses each request of a batch in another revision', async () => {
  const ask = await connect('2025-06-18')
  const error = { code: -32_600, message: expect.stringContaining('only MCP 2025-03-26 has batches') as unknown }
  expect(byId(await ask(BATCH))).toMatchObject([
    { id: 'a', error },
    { id: 'b', error },
  ])
})

it('answers a request that is not valid with an error', async () => {
  const ask = await connect('2025-11-25')
  expect(await ask({ jsonrpc: '2.0', id: 'p', method: 'tools/call', params: [1] })).toMatchObject([
    { jsonrpc: '2.0', id: 'p', error: { code: -32_600 } },
  ])
})

// This file verifies that a bridge over stdio that is told to stop answers the open requests with what happened so far,
// and that one whose input ends with its requests, as of a shell's pipe, answers them first.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished, vi } from 'vitest'
import { bridgeEnv, CLI, makeHome } from '../support/bridges/bridge-process.ts'
import { needsPosix } from '../support/suite/needs.ts'

const CODE = "print('printed before')\nimport time\ntime.sleep(60)"
/** A resident bridge goes on without that client. */
const TOLD = process.env['SANDBRIDGE_TEST_RESIDENT']
  ? /printed before[^]*The session was closed while this cell ran/
  : /printed before[^]*The bridge was shut down while this cell ran/

it('a bridge that gets SIGTERM in the middle of a cell answers over stdio before it ends', async () => {
  needsPosix('Windows ends a process at once')
  const home = makeHome()
  // A resident bridge goes on, and writes there what it keeps of the session.
  const child = spawn(process.execPath, [CLI], { env: bridgeEnv(home), stdio: ['pipe', 'pipe', 'ignore'] })
  const client = rawClient(child)
  client.send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  client.send({ method: 'notifications/initialized' })
  const params = { name: 'run_python', arguments: { code: CODE }, _meta: { progressToken: 1 } }
  client.send({ id: 2, method: 'tools/call', params })
  await client.until((message) => JSON.stringify(message).includes('printed before'))
  expect(client.messages.find(({ id }) => id === 2)).toBeUndefined()
  child.kill('SIGTERM')
  const [code] = await once(child, 'close')
  expect(code).toBe(143)
  const answer = client.messages.find(({ id }) => id === 2)
  expect(JSON.stringify(answer?.['result'])).toMatch(TOLD)
})

it('a message of many megabytes is answered, one that is too long refused by its id, or ends the bridge', async () => {
  const child = spawn(process.execPath, [CLI], { env: bridgeEnv(makeHome()), stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin.on('error', () => {})
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const client = rawClient(child)
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  client.send({ id: 1, method: 'initialize', params })
  const ping = (id: number, megabytes: number): void => {
    client.send({ id, method: 'ping', params: { _meta: { padding: 'a'.repeat(megabytes * 2 ** 20) } } })
  }
  ping(2, 7)
  ping(3, 9)
  expect(await client.until(({ id }) => id === 2)).toHaveProperty('result')
  expect(JSON.stringify(await client.until(({ id }) => id === 3))).toContain('longer than 8388608 bytes')
  const exited = once(child, 'exit')
  child.stdin.write(`{"jsonrpc":"2.0","padding":"${'a'.repeat(9 * 2 ** 20)}","id":4,"method":"ping"}\n`)
  // Its input stays open: the bridge ends by itself.
  expect(await exited).toEqual([1, null])
  expect(said).toMatch(/a message of the client is too long/i)
})

const SLOW = "import time\ntime.sleep(1)\nprint('printed after')"

it.each([
  ['off', {}],
  ['on', {}],
  ['off', { MCP_BRIDGE_TIMEOUT: 'soon' }],
])(
  'input that ends with its requests gets all answers, without a last line end (resident %s, %j)',
  async (on, more) => {
    const home = makeHome()
    const env = { ...bridgeEnv(home), MCP_BRIDGE_RESIDENT: on, ...more }
    onTestFinished(() => void spawnSync(process.execPath, [CLI, 'stop'], { env }))
    const child = spawn(process.execPath, [CLI], { env, stdio: ['pipe', 'pipe', 'ignore'] })
    const client = rawClient(child)
    child.stdin.end(linesOf(SLOW).join('\n'))
    await once(child, 'close')
    expect(client.messages.map(({ id }) => id)).toEqual([1, 2])
    const told = 'MCP_BRIDGE_TIMEOUT' in more ? 'is not allowed' : 'printed after'
    expect(JSON.stringify(client.messages[1])).toContain(told)
  },
)

it.each(['off', 'on'])('nothing is left of a client that dies after that (resident %s)', async (on) => {
  needsPosix('the process that started it is known there')
  const home = makeHome()
  const env = { ...bridgeEnv(home), MCP_BRIDGE_RESIDENT: on }
  onTestFinished(() => void spawnSync(process.execPath, [CLI, 'stop'], { env }))
  // Its reader lives on, and so does the pipe.
  const script = 'printf "$1" | "$2" "$3" & echo $!; read line; kill -9 $$'
  const args = ['-c', script, 'sh', linesOf('while True: pass').join('\\n'), process.execPath, CLI]
  const client = spawn('/bin/sh', args, { env, stdio: ['pipe', 'pipe', 'ignore'] })
  let said = ''
  client.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await vi.waitFor(() => expect(said).toContain('"id":1'), 10_000)
  client.stdin.end('\n')
  // Its output closes with the bridge.
  const since = performance.now()
  await once(client, 'close')
  expect(performance.now() - since).toBeLessThan(5_000)
})

const linesOf = (code: string): string[] =>
  [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'run_python', arguments: { code } } },
  ].map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }))

const clientInfo = { name: 'raw', version: '1' }

type Message = Record<string, unknown>

function rawClient(child: ChildProcess) {
  const messages: Message[] = []
  let rest = ''
  let wake = () => {}
  child.stdout!.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop()!
    messages.push(...lines.map((line) => JSON.parse(line) as Message))
    wake()
  })
  return {
    messages,
    send: (message: Message) => child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    until: async (isIt: (message: Message) => boolean) => {
      while (!messages.some(isIt)) await new Promise<void>((resolve) => (wake = resolve))
      return messages.find(isIt)!
    },
  }
}

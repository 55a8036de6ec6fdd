// Fuzzes lines on the bridge's stdin: no line ends the bridge, and the next request gets a response.
import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { endGroup } from '../../packages/core/src/util/process/process-group.ts'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { assertHolds, type Family } from './family.ts'

const request = (method: string, params: object) =>
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
const INITIALIZE = request('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: { form: {} }, roots: { listChanged: true } },
  clientInfo: { name: 'fuzz', version: '1' },
})
const ANSWER_MS = 20_000

let bridge: { child: ChildProcess; home: string; waiting: Map<string, () => void> } | undefined
let count = 0

function start(): NonNullable<typeof bridge> {
  const home = makeHome()
  const env = bridgeEnv(home, { MCP_BRIDGE_POOL: '0', MCP_BRIDGE_SOURCES: 'mcps' })
  const child = spawn(process.execPath, [CLI], { env, cwd: home, stdio: ['pipe', 'pipe', 'ignore'], detached: true })
  const waiting = new Map<string, () => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id } = JSON.parse(line) as { id?: unknown }
    waiting.get(String(id))?.()
  })
  child.stdin.on('error', () => {})
  child.stdin.write(Buffer.concat([INITIALIZE, Buffer.from('\n')]))
  return { child, home, waiting }
}

export const messages: Family = {
  name: 'messages',
  seeds: [
    INITIALIZE,
    request('tools/list', {}),
    request('tools/call', { name: 'run_python', arguments: { code: '' }, _meta: { progressToken: 1 } }),
    request('resources/read', { uri: 'sandbridge://output/x/1' }),
    request('logging/setLevel', { level: 'debug' }),
    Buffer.from('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'),
    Buffer.from('{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}'),
  ],
  shortRuns: 400,
  async attempt(input) {
    const { child, waiting } = (bridge ??= start())
    count += 1
    const id = `ping-${count}`
    const answered = new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), ANSWER_MS)
      const finish = (isAnswered: boolean) => {
        clearTimeout(timer)
        waiting.delete(id)
        resolve(isAnswered)
      }
      waiting.set(id, () => finish(true))
      child.once('exit', () => finish(false))
    })
    const ping = JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })
    child.stdin!.write(Buffer.concat([input, Buffer.from(`\n${ping}\n`)]))
    assertHolds(await answered, 'the bridge answers after any line')
    child.removeAllListeners('exit')
  },
  async close() {
    if (!bridge) return
    const { child, home } = bridge
    bridge = undefined
    // Until it has ended it writes into its home.
    await endGroup(child)
    await rm(home, { recursive: true, force: true })
  },
}

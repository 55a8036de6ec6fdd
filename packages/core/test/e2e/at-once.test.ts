// This file verifies that a server gets no more calls at once than its entry says.
import { expect, it } from 'vitest'
import { startBridge } from '../support/bridges/start-bridge.ts'

/** Answers each call after a while with the most calls that were open since it came. */
const SERVER = `
const open = new Map()
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  if (method === 'initialize') return send(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } })
  if (method === 'tools/list') return send(id, { tools: [{ name: 'most', inputSchema: { type: 'object' } }] })
  open.set(id, 0)
  for (const [one, most] of open) open.set(one, Math.max(most, open.size))
  setTimeout(() => { send(id, { content: [{ type: 'text', text: String(open.get(id)) }] }); open.delete(id) }, 100)
}).on('close', () => process.exit(0))`

it('a server gets as many calls at once as its entry says', async () => {
  const entry = { command: process.execPath, args: ['-e', SERVER] }
  const bridge = await startBridge({ servers: { free: entry, single: Object.assign({ atOnce: 1 }, entry) } })
  const most = (server: string) =>
    bridge.run(
      `import asyncio\nmax(int(str(n)) for n in await asyncio.gather(*[mcp_${server}.most() for _ in range(4)]))`,
    )
  expect(await most('single')).toBe('1')
  // Control: without it, calls are open together.
  expect(Number(await most('free'))).toBeGreaterThan(1)
})

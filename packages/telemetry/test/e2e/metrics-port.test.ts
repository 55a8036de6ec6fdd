// This file verifies that a metrics port in use disables only the metrics, and that a free port serves them while cells
// run.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

async function takenPort() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { server, port: (server.address() as AddressInfo).port }
}

it('a metrics port that is in use is reported in the log, and cells run', async () => {
  const { port } = await takenPort()
  const bridge = await startBridge({ env: { MCP_BRIDGE_METRICS: `127.0.0.1:${port}` } })
  expect(await bridge.run('6 * 7')).toBe('42')
  expect(bridge.commonLog).toMatch(
    /warning The address of MCP_BRIDGE_METRICS cannot be listened on error=".*EADDRINUSE/,
  )
})

it('a free metrics port serves metrics of the cells that have run', async () => {
  const { server, port } = await takenPort()
  server.close()
  await once(server, 'close')
  const bridge = await startBridge({ env: { MCP_BRIDGE_METRICS: `127.0.0.1:${port}` } })
  expect(await bridge.run('6 * 7')).toBe('42')
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(text).toContain('mcp_server_operation_duration_seconds_count')
  expect(text).toMatch(/sandbridge_cell_duration_seconds_count\{sandbridge_cell_status="ok"\} 1/)
  // Autoscalers use this metric.
  expect(text).toContain('\nsandbridge_open_sessions 1\n')
})

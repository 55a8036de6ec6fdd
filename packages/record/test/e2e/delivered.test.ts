// This file verifies that the record says whether a client over stdio got the result of a run.
import path from 'node:path'
import { expect, it } from 'vitest'
import { LogFolder } from '../../../core/src/util/stores/files/log-folder.ts'
import { readRuns } from '@sandbridge/record/audit/read-runs.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

it('the record says that a result was delivered once its client goes on, and was not when it was cancelled or nothing follows', async () => {
  const bridge = await startBridge({ env: { MCP_BRIDGE_AUDIT: 'shape' } })
  const logs = new LogFolder(path.join(bridge.home, 'MCPs/.sandbridge/audit'))
  const delivered = async () => {
    const { runs } = await readRuns(logs, {}, { limit: 10 })
    return runs.toReversed().map((run) => run.delivered)
  }
  await bridge.run('1')
  await expect.poll(delivered).toEqual([undefined])
  const leave = new AbortController()
  const call = { name: 'run_python', arguments: { code: 'import time; time.sleep(60)' } }
  const cancelled = bridge.client.callTool(call, { signal: leave.signal }).catch(() => undefined)
  await expect.poll(delivered).toEqual([true])
  setTimeout(() => leave.abort(), 500)
  await cancelled
  await expect.poll(delivered, { timeout: 20_000 }).toEqual([true, false])
  await bridge.run('3')
  await bridge.client.close()
  await expect.poll(delivered, { timeout: 20_000 }).toEqual([true, false, false])
})

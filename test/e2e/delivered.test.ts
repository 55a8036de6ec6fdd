// This file verifies that the record says whether a client over HTTP got the result of a run.
import path from 'node:path'
import { expect, it } from 'vitest'
import { LogFolder } from '../../packages/core/src/util/stores/files/log-folder.ts'
import { type Era, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { readRuns } from '@sandbridge/record/audit/read-runs.ts'

it.each<Era>(['legacy', 'modern'])(
  'the record says that a result was delivered when a %s client has read it, and was not when the client left',
  async (era) => {
    const bridge = await startHttpBridge({ env: { MCP_BRIDGE_AUDIT: 'shape' } })
    const client = await bridge.connect(era)
    const logs = new LogFolder(path.join(bridge.home, 'MCPs/.sandbridge/audit'))
    const delivered = async () => {
      const { runs } = await readRuns(logs, {}, { limit: 10 })
      return runs.toReversed().map((run) => run.delivered)
    }
    await client.run('1')
    await expect.poll(delivered, { timeout: 20_000 }).toEqual([true])
    const leave = new AbortController()
    const left = client.run('import time; time.sleep(60)', {}, { signal: leave.signal }).catch(() => undefined)
    setTimeout(() => leave.abort(), 1_500)
    await left
    await expect.poll(delivered, { timeout: 20_000 }).toEqual([true, false])
  },
)

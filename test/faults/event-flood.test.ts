// @module-tag whole: a fault that takes seconds to make
// This file verifies that a flood of calls is recorded completely, kept by observers within limits, and dropped where a
// collector cannot take it.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { verifyRecord } from '@sandbridge/record/audit/verify-record.ts'
import { newId } from '../../packages/core/src/observe/events/new-id.ts'
import { collectGarbage } from '@sandbridge/core/test/support/suite/collect-garbage.ts'
import { openObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'
import { LogFolder } from '../../packages/core/src/util/stores/files/log-folder.ts'

const CALLS = 100_000
const BATCH = 500
/** Memory of observers; the calls themselves have more than 100 MB. */
const ROOM_BYTES = 40 * 2 ** 20

it('a bridge with all observers makes 100,000 calls while its collector is gone', { timeout: 240_000 }, async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:1')
  const env = { MCP_BRIDGE_AUDIT: 'shape', MCP_BRIDGE_METRICS: '127.0.0.1:0' }
  const { bridge, run, home } = await openObserved({ env, unobserved: true })
  vi.unstubAllEnvs()
  await run('1')
  const stateDir = path.join(home, 'MCPs')
  const result = { content: [{ type: 'text', text: 'x'.repeat(1_000) }] }
  await collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let made = 0; made < CALLS; made += BATCH) {
    for (let index = 0; index < BATCH; index += 1) {
      const about = { id: newId(), parent: 'c', kind: 'tool' as const, server: 's', name: `t${index % 7}` }
      bridge.events.emit({ type: 'call.started', ...about, args: { text: 'x'.repeat(100) } })
      bridge.events.emit({ type: 'call.ended', ...about, outcome: 'ok', durationMs: 1, result: { ...result } })
    }
    await turn()
  }
  bridge.events.flush()
  expect(bridge.live.counts).toMatchObject({ calls: CALLS, failed: 0 })
  await collectGarbage()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(ROOM_BYTES)
  // The bridge still serves.
  expect(JSON.stringify((await run('2')).content)).toContain('2')
  await bridge.close()
  const folder = path.join(stateDir, '.sandbridge/audit')
  const lines = readdirSync(folder)
    .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const recorded = lines.filter(({ type }) => type === 'call').length
  // A disk that is slower than the flood costs lines, and each is counted, those of the two cells, too.
  const counted = lines.reduce(
    (sum, { type, ...of }) => sum + (type === 'record.gap' ? Number(of['sandbridge.lines']) : 0),
    0,
  )
  expect(recorded + counted).toBeGreaterThanOrEqual(CALLS)
  expect(recorded + counted).toBeLessThanOrEqual(CALLS + 2)
  // So many may wait, and are written in the end.
  expect(recorded).toBeGreaterThan(10_000)
  expect((await verifyRecord(new LogFolder(folder))).problems).toEqual([])
})

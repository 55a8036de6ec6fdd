// This file verifies that answered requests leave nothing in memory. Otherwise a bridge with many clients would grow
// with every cell.
import { expect, it, onTestFinished, vi } from 'vitest'
import { collectGarbage } from '@sandbridge/core/test/support/suite/collect-garbage.ts'
import { useHttpBridge } from '../../test/support/raw-http.ts'
import { message, modern } from '@sandbridge/core/test/support/bridges/raw-request.ts'
import { BridgeError } from '../../../core/src/errors.ts'

const { serve, bridge } = useHttpBridge()

const COUNT = 300
/**
 * V8 keeps up to a megabyte more or less from one collection to the next. A request that stays takes some ten
 * kilobytes.
 */
const ROOM_BYTES = COUNT * 5_000

it.each(['modern', 'older'])('calls of %s clients leave nothing in memory', { tags: ['whole'] }, async (era) => {
  const { send } = await serve()
  const cells = vi.spyOn(bridge().cells, 'run').mockRejectedValue(new BridgeError('CANCELLED', 'not run'))
  onTestFinished(() => cells.mockRestore())
  const params = { name: 'run_python', arguments: { code: '1' } }
  const session = era === 'older' ? String((await send()).headers['mcp-session-id']) : ''
  const request =
    era === 'older'
      ? { headers: { 'mcp-session-id': session }, body: message('tools/call', params) }
      : { ...modern('tools/call', params), headers: { ...modern('tools/call').headers, 'mcp-name': 'run_python' } }
  const used = async (): Promise<number> => {
    for (let n = 0; n < COUNT; n += 1) await send(request)
    expect(cells).toHaveBeenCalledTimes(COUNT)
    // The spy remembers what it was called with.
    cells.mockClear()
    await collectGarbage()
    return process.memoryUsage().heapUsed
  }
  await used()
  const before = await used()
  expect((await used()) - before).toBeLessThan(ROOM_BYTES)
})

import { expect, it, vi } from 'vitest'
import { openObserved } from '../../../../test/support/bridges/observed-bridge.ts'
import { ranFunctions } from '../../../../test/support/sandboxes/ran-functions.ts'
import { createLog } from '../../../util/log.ts'
import { createServer } from '../create-server.ts'
import { rehearse } from './rehearse.ts'

it('before the first cell, one call runs the functions of a call, and is no run', async () => {
  const { bridge, events } = await openObserved()
  const lines: string[] = []
  const log = createLog('debug', (line) => lines.push(line))
  const getConversation = vi.fn()
  const parts = { settings: bridge.settings, log, getConversation }
  const ran = await ranFunctions(() => rehearse(createServer, parts))
  const names = ran.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['callTool', 'parseRunPythonArguments', 'inSession', 'failureResult']))
  const again = await ranFunctions(() => rehearse(createServer, parts))
  expect(again.map(({ name }) => name)).not.toContain('callTool')
  expect([getConversation.mock.calls, events, lines]).toEqual([[], [], []])
})

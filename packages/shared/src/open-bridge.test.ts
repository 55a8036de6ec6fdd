import { expect, it } from 'vitest'
import { SILENT } from '../../core/src/util/log.ts'
import type { OpenTenant } from '../../core/src/bridge/tenants/open-tenant.ts'
import { withServers } from './open-bridge.ts'
import { OWN_TERMINAL, type Terminal } from '../../core/src/serve/cli/terminal/terminal.ts'

it('a command in a resident ends without waiting for what it has started, which its terminal then ends', async () => {
  const ends: (() => Promise<void>)[] = []
  let isClosed = false
  const bridge: Partial<OpenTenant> = {
    log: SILENT,
    discovered: { servers: [], untrusted: [], found: [], skipped: [], files: [] },
    close: () => {
      isClosed = true
      return new Promise(() => {})
    },
  }
  const terminal: Terminal = {
    ...OWN_TERMINAL,
    exitCode: undefined,
    onEnd: (end) => void ends.push(end),
    resident: {
      open: () => Promise.resolve(bridge as OpenTenant),
      page: () => Promise.reject(),
      now: () => Promise.reject(),
    },
  }
  expect(await withServers(terminal, () => Promise.resolve('done'))).toBe('done')
  expect(isClosed).toBe(false)
  void ends[0]?.()
  expect(isClosed).toBe(true)
})

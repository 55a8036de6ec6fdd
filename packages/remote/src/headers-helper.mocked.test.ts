import { spawn } from 'node:child_process'
import { expect, it, vi } from 'vitest'
import { fromNowhere, onWindows } from '@sandbridge/core/test/support/machine/simulated-windows.ts'
import { withHelpersHeaders } from './headers-helper.ts'

vi.mock('node:child_process', { spy: true })

it('a headersHelper on Windows reaches cmd.exe as it was written', async () => {
  const root = onWindows('cmd.exe')
  const server = {
    type: 'http' as const,
    url: 'https://s.example',
    headers: {},
    headersHelper: 'node "C:\\a b\\h.js" & ver',
  }
  await expect(withHelpersHeaders('s', server, { env: { Path: root }, cwd: root })).rejects.toThrow(/did not print/)
  const [file, args, options] = vi.mocked(spawn).mock.calls[0]!
  expect([file, args]).toEqual([`${root}/cmd.exe`, ['/d', '/s', '/c', `"${server.headersHelper}"`]])
  expect(options).toMatchObject({ windowsVerbatimArguments: true, env: fromNowhere })
})

import { expect, it } from 'vitest'
import { residentKey } from './resident-key.ts'

const key = (env: Record<string, string> = {}, cwd = '/a', home = '/home/ann') => residentKey({ env, cwd, home }).name

it('clients share a resident unless something differs that a process has only once', () => {
  expect(key({ TERM: 'xterm', WHO: 'ann', MCP_BRIDGE_LOG_LEVEL: 'debug' }, '/a')).toBe(key({ TERM: 'dumb' }, '/b'))
  expect(key({ MCP_BRIDGE_TIMEOUT: '5' })).not.toBe(key())
  expect(key({ OTEL_SERVICE_NAME: 'x' })).not.toBe(key())
  expect(key({ PATH: '/no-such-folder:/bin' })).toBe(key({ PATH: '/usr/bin' }))
  expect(key({ PATH: '/bin', MCP_BRIDGE_RUNTIME: 'kubernetes' })).not.toBe(key({ MCP_BRIDGE_RUNTIME: 'kubernetes' }))
  expect(key({}, '/a', '/home/bob')).not.toBe(key())
})

it('the folder counts where a setting is a path relative to it', () => {
  expect(key({ MCP_BRIDGE_STATE_DIR: 'state' }, '/a')).not.toBe(key({ MCP_BRIDGE_STATE_DIR: 'state' }, '/b'))
  expect(key({ MCP_BRIDGE_STATE_DIR: '/state' }, '/a')).toBe(key({ MCP_BRIDGE_STATE_DIR: '/state' }, '/b'))
})

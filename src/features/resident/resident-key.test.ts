import { expect, it } from 'vitest'
import { residentKey, residentPath } from './resident-key.ts'

const key = (env: Record<string, string> = {}, cwd = '/a', home = '/home/ann') => residentKey({ env, cwd, home }).name

it('clients share a resident unless something differs that a process has only once', () => {
  expect(key({ TERM: 'xterm', WHO: 'ann', MCP_BRIDGE_LOG_LEVEL: 'debug' }, '/a')).toBe(key({ TERM: 'dumb' }, '/b'))
  expect(key({ MCP_BRIDGE_TIMEOUT: '5' })).not.toBe(key())
  expect(key({ OTEL_SERVICE_NAME: 'x' })).not.toBe(key())
  expect(key({ PATH: '/no-such-folder:/bin' })).toBe(key({ PATH: '/usr/bin' }))
  expect(key({ PATH: '/bin', MCP_BRIDGE_RUNTIME: 'kubernetes' })).not.toBe(key({ MCP_BRIDGE_RUNTIME: 'kubernetes' }))
  expect(key({ TMPDIR: '/srv/tmp' })).not.toBe(key())
  for (const name of ['TEMP', 'DOCKER_CONTEXT', 'CONTAINERS_CONF', 'NODE_TLS_REJECT_UNAUTHORIZED', 'LD_PRELOAD'])
    expect(key({ [name]: '0' })).not.toBe(key())
  expect(key({}, '/a', '/home/bob')).not.toBe(key())
})

it('clients that start servers with few variables share it with a terminal of a desktop', () => {
  const runtime = `/run/user/${process.getuid?.()}`
  const ofDesktop = {
    XDG_RUNTIME_DIR: runtime,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${runtime}/bus,guid=0123456789abcdef0123456789abcdef`,
    XDG_CONFIG_HOME: '/home/ann/.config',
    TMPDIR: '/var/folders/zz/x_1/T/',
  }
  expect(key(ofDesktop)).toBe(key())
  expect(key({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/other/bus' })).not.toBe(key())
})

it('the folder counts where a setting is a path relative to it', () => {
  expect(key({ MCP_BRIDGE_STATE_DIR: 'state' }, '/a')).not.toBe(key({ MCP_BRIDGE_STATE_DIR: 'state' }, '/b'))
  expect(key({ MCP_BRIDGE_STATE_DIR: '/state' }, '/a')).toBe(key({ MCP_BRIDGE_STATE_DIR: '/state' }, '/b'))
})

it('a resident looks for programs in no folder that only its first client has', () => {
  expect(residentPath({ PATH: '/srv/planted:bin::/usr/bin' })).toBe(residentPath({ PATH: '/usr/bin' }))
  expect(residentPath({ PATH: '/srv/planted', MCP_BRIDGE_RUNTIME: 'kubernetes' })).toContain('/srv/planted')
})

import { beforeEach, expect, it } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { residentKey } from './resident-key.ts'

beforeEach(() => needsPosix('its paths are of POSIX'))

const key = (env: Record<string, string> = {}, cwd = '/a', home = '/home/ann') => residentKey({ env, cwd, home }).name

it('clients share a resident unless something differs that a process has only once', () => {
  expect(key({ TERM: 'xterm', WHO: 'ann', MCP_BRIDGE_LOG_LEVEL: 'debug' }, '/a')).toBe(key({ TERM: 'dumb' }, '/b'))
  expect(key({ MCP_BRIDGE_TIMEOUT: '5' })).not.toBe(key())
  expect(key({ OTEL_SERVICE_NAME: 'x' })).not.toBe(key())
  expect(key({ PATH: '/no-such-folder:/bin' })).toBe(key({ PATH: '/usr/bin' }))
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

it.each([
  ['MCP_BRIDGE_PACKAGES', 'numpy ./wheels', 'numpy>=2 ~/wheels /srv/x-1-py3-none-any.whl'],
  ['MCP_BRIDGE_PACKAGES', 'x-1-py3-none-any.whl', 'numpy'],
  ['KUBECONFIG', '/etc/kube:kube.yaml', '/etc/kube:/srv/kube'],
  ['NODE_EXTRA_CA_CERTS', 'company.pem', '/etc/company.pem'],
  ['XDG_CONFIG_HOME', 'config', '/srv/config'],
  ['PIP_FIND_LINKS', 'https://packages.example.com wheels', 'https://packages.example.com /srv/wheels'],
  ['UV_INDEX', 'ours=./wheels', 'ours=https://packages.example.com /srv/wheels'],
  ['PYTHONPATH', '/srv/a:modules', '/srv/a:/srv/modules'],
  ['NODE_OPTIONS', '--require ./hook.js', '--max-old-space-size=900'],
])('the folder counts where %s is %s, and not %s', (name, relative, absolute) => {
  expect(key({ [name]: relative }, '/a')).not.toBe(key({ [name]: relative }, '/b'))
  expect(key({ [name]: absolute }, '/a')).toBe(key({ [name]: absolute }, '/b'))
})

it.each([
  ['https_proxy', 'http://ann:secret@localhost:1'],
  ['NO_PROXY', 'example.com'],
  ['NODE_USE_ENV_PROXY', '1'],
  ['PIP_INDEX_URL', 'https://packages.example.com'],
  ['UV_INDEX', 'https://packages.example.com'],
  ['UV_INDEX_COMPANY_PASSWORD', 'secret'],
  ['REQUESTS_CA_BUNDLE', '/srv/ca.pem'],
  ['NETRC', '/srv/netrc'],
  ['PYTHONPATH', '/srv/modules'],
  ['PYTHONUSERBASE', '/srv/base'],
])('%s counts, by which packages, images and registries are reached for all clients', (name, value) => {
  expect(key({ [name]: value })).not.toBe(key())
  expect(key({ [name]: value })).toBe(key({ [name]: value, UV_RUN_RECURSION_DEPTH: '1' }))
})

it.each([
  ['NODE_PATH', '/home/ann/.local/share/pnpm/global/5/node_modules'],
  [
    'NODE_OPTIONS',
    '--require /home/ann/project/.pnp.cjs --experimental-loader file:///home/ann/project/.pnp.loader.mjs',
  ],
  ['NODE_OPTIONS', ' --require "/home/ann/Code Data/ms-vscode.js-debug/bootloader.js" '],
  ['UV_INTERNAL__PARENT_INTERPRETER', '/usr/bin/python3'],
])('%s does not count where a launcher sets it', (name, value) => {
  expect(key({ [name]: value })).toBe(key())
  expect(key({ [name]: `${value} --require /srv/mine.js` }) === key()).toBe(name !== 'NODE_OPTIONS')
})

it('a resident looks for programs in no folder that only its first client has', () => {
  const pathOf = (search: string): string => residentKey({ env: { PATH: search }, cwd: '/a', home: '/b' }).path
  expect(pathOf('/srv/planted:bin::/usr/bin')).toBe(pathOf('/usr/bin'))
})

it('all of PATH counts where cells run in a cluster, whose sign-in may need any program', () => {
  const of = (search: string, env: Record<string, string>, runtime: string) =>
    residentKey({ env: { PATH: search, ...env }, cwd: '/a', home: '/b' }, runtime)
  const differs = (env: Record<string, string>, runtime: string): boolean =>
    of('/srv/plugins', env, runtime).name !== of('/srv/others', env, runtime).name
  expect(differs({ MCP_BRIDGE_RUNTIME: 'kubernetes' }, '')).toBe(true)
  expect(differs({}, 'kubernetes')).toBe(true)
  expect(of('/srv/plugins', {}, 'kubernetes').path).toContain('/srv/plugins')
  // The variable wins.
  expect(differs({ MCP_BRIDGE_RUNTIME: 'bubblewrap' }, 'kubernetes')).toBe(false)
})

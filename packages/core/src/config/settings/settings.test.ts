import path from 'node:path'
import { expect, it } from 'vitest'
import { needsPosix } from '../../../test/support/suite/needs.ts'
import { BridgeError } from '../../errors.ts'
import { stateFolder } from './state-folder.ts'
import { readSettings, SETTING_GROUPS } from './settings.ts'

const linux = { home: '/home/ann', platform: 'linux', isRoot: false } as const

/** Windows puts the letter of a disk in front of its paths. */
function needsPosixPaths(variable: string, value: string): void {
  if (/_(?:CONFIG|DIR|IMAGE|MOUNT)$/.test(variable) && /^~?\//.test(value)) needsPosix('paths without a disk')
}

function read(env: Record<string, string>): ReturnType<typeof readSettings> {
  return readSettings(env, linux)
}

function errorOf(env: Record<string, string>): BridgeError {
  try {
    read(env)
  } catch (error) {
    if (BridgeError.isInstance(error)) return error
    throw error
  }
  throw new Error('It was accepted')
}

const OWN = Object.assign({}, ...Object.values(SETTING_GROUPS)) as object

it('every setting has a default', () => {
  // Another test of this worker may have plugged in features with settings of theirs.
  const own = Object.entries(read({})).filter(([name]) => name in OWN || name === 'warnings')
  expect(Object.fromEntries(own)).toEqual({
    runtime: 'auto',
    audit: 'shape',
    auditRequired: false,
    metrics: undefined,
    metricsToken: undefined,
    timeoutMs: 30_000,
    maxTimeoutMs: 120_000,
    memoryBytes: 536_870_912,
    stateDir: path.join('/home/ann/MCPs'),
    outputMode: 'compact',
    logLevel: 'info',
    load: 'lazy',
    permissions: 'open',
    flow: 'off',
    askTimeoutMs: 300_000,
    jail: 'configured',
    upstreams: 'local',
    mask: [],
    signInKey: 'keychain',
    kubernetesNetwork: 'checked',
    kubernetesSeccomp: undefined,
    kubernetesStartMs: 60_000,
    allowSelfServer: false,
    poolCount: 1,
    poolMaxCount: undefined,
    runtimeIdleTimeoutMs: 300_000,
    image: undefined,
    forkServer: 'auto',
    hostPackages: false,
    cpus: undefined,
    containerUser: '65534:65534',
    pidsCount: 128,
    ociRuntime: undefined,
    outputTokenCount: 6000,
    upstreamIdleMs: 0,
    sources: [],
    profile: undefined,
    languages: [],
    session: 'shared',
    once: 'on',
    compat: false,
    projects: true,
    mount: undefined,
    packages: [],
    userCellSeconds: undefined,
    userCallCount: undefined,
    cacheDir: path.join('/home/ann/.cache/sandbridge'),
    serversConfig: [],
    warnings: [],
  })
})

it.each(['auto', 'podman', 'docker', 'bubblewrap', 'pyodide'])(
  'durable sessions are refused with %s, and the error names the resident bridge',
  (runtime) => {
    const env = { MCP_BRIDGE_SESSION: 'durable', MCP_BRIDGE_RUNTIME: runtime }
    expect(() => read(env)).toThrow(/needs MCP_BRIDGE_RUNTIME=kubernetes\. .* unset it: the resident/)
    expect(read({ ...env, MCP_BRIDGE_RUNTIME: 'kubernetes' }).session).toBe('durable')
  },
)

it.each([
  ['MCP_BRIDGE_LANGUAGES', 'python, Bash', { languages: ['bash'] }],
  ['MCP_BRIDGE_LANGUAGES', 'python', { languages: [] }],
  ['MCP_BRIDGE_RUNTIME', 'Podman', { runtime: 'podman' }],
  ['MCP_BRIDGE_TIMEOUT', ' 2.5 ', { timeoutMs: 2500 }],
  ['MCP_BRIDGE_COMPAT', '1', { compat: true, load: 'explicit' }],
  ['MCP_BRIDGE_MAX_TIMEOUT', '86400', { maxTimeoutMs: 86_400_000 }],
  ['MCP_BRIDGE_RUNTIME', '/usr/local/bin/docker', { runtime: 'docker' }],
  ['MCP_BRIDGE_RUNTIME', 'C:\\bin\\Podman.exe', { runtime: 'podman' }],
  ['MCP_BRIDGE_RUNTIME', '/usr/bin/bwrap', { runtime: 'bubblewrap' }],
  ['MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT', '0', { runtimeIdleTimeoutMs: 0 }],
  ['MCP_BRIDGE_PIDS', '10', { pidsCount: 16 }],
  ['MCP_BRIDGE_TIMEOUT', '300', { timeoutMs: 120_000 }],
  ['MCP_BRIDGE_LOG_LEVEL', 'WARN', { logLevel: 'warning' }],
  ['MCP_BRIDGE_LOG_LEVEL', 'CRITICAL', { logLevel: 'error' }],
  ['MCP_BRIDGE_LOG_LEVEL', 'trace', { logLevel: 'debug' }],
  ...['30', '30s', '30 s', '30 Seconds', '0.5m', '0,5 min', '30000ms', '"30"', "'30s'", ' " 30 sec " '].map(
    (text): [string, string, object] => ['MCP_BRIDGE_TIMEOUT', text, { timeoutMs: 30_000 }],
  ),
  ['MCP_BRIDGE_TIMEOUT', '1.5 min', { timeoutMs: 90_000 }],
  ['MCP_BRIDGE_TIMEOUT', '1m 30s', { timeoutMs: 90_000 }],
  ['MCP_BRIDGE_MAX_TIMEOUT', '1h30m', { maxTimeoutMs: 5_400_000 }],
  ['MCP_BRIDGE_UPSTREAM_IDLE', '500ms', { upstreamIdleMs: 500 }],
  ...['512m', '512M', '512MB', '512 mb', '0.5g', '0,5 GiB', '524288K', '512Mi', '536870912', '"512m"'].map(
    (text): [string, string, object] => ['MCP_BRIDGE_MEMORY', text, { memoryBytes: 2 ** 29 }],
  ),
  ['MCP_BRIDGE_MEMORY', '1.5g', { memoryBytes: 1.5 * 2 ** 30 }],
  ['MCP_BRIDGE_MEMORY', '1Gi', { memoryBytes: 2 ** 30 }],
  ...['on', 'TRUE', 'yes', '1', 'y', '"true"'].map((text): [string, string, object] => [
    'MCP_BRIDGE_ALLOW_SELF_SERVER',
    text,
    { allowSelfServer: true },
  ]),
  ...['off', 'False', 'no', '0', 'N'].map((text): [string, string, object] => [
    'MCP_BRIDGE_PROJECTS',
    text,
    { projects: false },
  ]),
  ['MCP_BRIDGE_AUDIT', 'false', { audit: 'off' }],
  ['MCP_BRIDGE_FORK_SERVER', 'yes', { forkServer: 'on' }],
  ['MCP_BRIDGE_HOST_PACKAGES', 'on', { hostPackages: true }],
  ['MCP_BRIDGE_SOURCES', ' MCPS , Claude_Code ', { sources: ['mcps', 'claude-code'] }],
  ['MCP_BRIDGE_RUNTIME', 'Embedded', { runtime: 'pyodide' }],
  ['MCP_BRIDGE_PERMISSIONS', 'read-only', { permissions: 'readonly' }],
  ['MCP_BRIDGE_COMPAT', 'enabled', { compat: true }],
  ['MCP_BRIDGE_MEMORY', '2 Gigabytes', { memoryBytes: 2 ** 31 }],
  ['MCP_BRIDGE_MEMORY', '1,5 g', { memoryBytes: 1.5 * 2 ** 30 }],
  ['MCP_BRIDGE_TIMEOUT', '90\u00A0s', { timeoutMs: 90_000 }],
  ['MCP_BRIDGE_TIMEOUT', '.5 min', { timeoutMs: 30_000 }],
  ['MCP_BRIDGE_CPUS', '.5', { cpus: 0.5 }],
  ['MCP_BRIDGE_STATE_DIR', '$HOME/state', { stateDir: '/home/ann/state' }],
  ['MCP_BRIDGE_STATE_DIR', '${HOME}', { stateDir: '/home/ann' }],
  ['MCP_BRIDGE_CACHE_DIR', '"%USERPROFILE%/cache"', { cacheDir: '/home/ann/cache' }],
  ['MCP_BRIDGE_CACHE_DIR', '%UserProfile%/cache', { cacheDir: '/home/ann/cache' }],
  ['MCP_BRIDGE_CACHE_DIR', '$env:USERPROFILE/cache', { cacheDir: '/home/ann/cache' }],
  ['MCP_BRIDGE_SOURCES', 'mcps;cursor', { sources: ['mcps', 'cursor'] }],
  ['MCP_BRIDGE_SOURCES', '["mcps", "cursor"]', { sources: ['mcps', 'cursor'] }],
  ['MCP_BRIDGE_PACKAGES', 'a,b[c,d]>=2,<3, e', { packages: ['a', 'b[c,d]>=2,<3', 'e'] }],
  ['MCP_BRIDGE_PACKAGES', '["a","b"]', { packages: ['a', 'b'] }],
  ['MCP_BRIDGE_SOURCES', '"mcps", "cursor"', { sources: ['mcps', 'cursor'] }],
  ['MCP_BRIDGE_LANGUAGES', 'js, bash', { languages: ['bash', 'javascript'] }],
  ['MCP_BRIDGE_CPUS', '1,5', { cpus: 1.5 }],
  ['MCP_BRIDGE_CPUS', '-', { cpus: undefined }],
  ['MCP_BRIDGE_POOL', '1 max = 4', { poolCount: 1, poolMaxCount: 4 }],
  ['MCP_BRIDGE_KUBERNETES', 'start=2 min network = "unchecked"', { kubernetesStartMs: 120_000 }],
  ['MCP_BRIDGE_MEMORY', '1.5g', { memoryBytes: 1_610_612_736 }],
  ['MCP_BRIDGE_MEMORY', '1g', { memoryBytes: 1_073_741_824 }],
  ['MCP_BRIDGE_MEMORY', '65536K', { memoryBytes: 67_108_864 }],
  ['MCP_BRIDGE_MEMORY', '67108864', { memoryBytes: 67_108_864 }],
  ['MCP_BRIDGE_RUNTIME', 'mirror=https://mirror.example/pyodide', { pyodideUrl: 'https://mirror.example/pyodide/' }],
  ['MCP_BRIDGE_PACKAGES', 'pandas', { memoryBytes: 1_073_741_824 }],
  ['MCP_BRIDGE_MEMORY', '256MiB', { memoryBytes: 268_435_456 }],
  ['MCP_BRIDGE_SIGN_IN_KEY', 'none', { signInKey: 'none' }],
  ['MCP_BRIDGE_STATE_DIR', '~/state', { stateDir: '/home/ann/state' }],
  ['MCP_BRIDGE_CACHE_DIR', '/dev/shm/cache', { cacheDir: '/dev/shm/cache' }],
  ['MCP_BRIDGE_CACHE_DIR', '/processed', { cacheDir: '/processed' }],
  ['MCP_BRIDGE_OUTPUT_MODE', 'toon', { outputMode: 'toon' }],
  ['MCP_BRIDGE_LOG_LEVEL', 'WARNING', { logLevel: 'warning' }],
  ['MCP_BRIDGE_ALLOW_SELF_SERVER', 'yes', { allowSelfServer: true }],
  ['MCP_BRIDGE_POOL', '0', { poolCount: 0 }],
  ['MCP_BRIDGE_CPUS', '0.5', { cpus: 0.5 }],
  ['MCP_BRIDGE_IMAGE', 'registry.local:5000/py@sha256:abc', { image: 'registry.local:5000/py@sha256:abc' }],
  ['MCP_BRIDGE_IMAGE', '~/images/data.tar', { image: '/home/ann/images/data.tar' }],
  ['MCP_BRIDGE_OCI_RUNTIME', '/usr/bin/runsc', { ociRuntime: '/usr/bin/runsc' }],
  ['MCP_BRIDGE_SOURCES', 'mcps, -cursor all', { sources: ['mcps', '-cursor', 'all'] }],
  ['MCP_BRIDGE_MOUNT', '/data', { mount: { path: '/data', mode: 'ro' } }],
  ['MCP_BRIDGE_MOUNT', '/data:rw', { mount: { path: '/data', mode: 'rw' } }],
  ['MCP_BRIDGE_MOUNT', '~/data:ro', { mount: { path: '/home/ann/data', mode: 'ro' } }],
  ['MCP_BRIDGE_PACKAGES', 'numpy pandas>=2,<3', { packages: ['numpy', 'pandas>=2,<3'] }],
  [
    'MCP_BRIDGE_PACKAGES',
    'openpyxl[a,b]==3.* x~=1!2.0+l;python_version<"4" /w/a.tar ~/w C:\\w tinypkg-1.0-py3-none-any.whl zip tarfile.z',
    { packages: expect.toSatisfy(({ length }: string[]) => length === 8) },
  ],
  ['MCP_SERVERS_CONFIG', '/a.json:~/b.json:', { serversConfig: ['/a.json', '/home/ann/b.json'] }],
  [
    'MCP_BRIDGE_STORAGE',
    'postgres://ann:p%40@db/x?sslmode=require',
    { storage: 'postgres://ann:p%40@db/x?sslmode=require' },
  ],
  ['MCP_BRIDGE_STORAGE', 'postgresql://ann:p@/x?host=/run', { storage: 'postgresql://ann:p@/x?host=/run' }],
  // A blank variable counts as missing.
  ['MCP_BRIDGE_TIMEOUT', '  ', { timeoutMs: 30_000 }],
])('the setting %s=%s is read', (variable, value, expected) => {
  needsPosixPaths(variable, value)
  expect(read({ [variable]: value })).toMatchObject(expected)
})

it.each<[string, string, string]>([
  ['MCP_BRIDGE_RUNTIME', 'kvm', 'auto, podman, docker, bubblewrap, pyodide'],
  ['MCP_BRIDGE_TIMEOUT', '0', 'seconds, 1 to 86400'],
  ['MCP_BRIDGE_TIMEOUT', '-1', 'seconds, 1 to 86400'],
  ['MCP_BRIDGE_TIMEOUT', 'ten', 'seconds, 1 to 86400'],
  ['MCP_BRIDGE_TIMEOUT', '1e9', 'seconds, 1 to 86400'],
  ['MCP_BRIDGE_TIMEOUT', '30 parsecs', 'seconds, 1 to 86400'],
  ['MCP_BRIDGE_TIMEOUT', '1m 30', 'seconds, 1 to 86400'],
  ['MCP_BRIDGE_TIMEOUT', '1,000', 'seconds, 1 to 86400'],
  ['MCP_BRIDGE_MEMORY', '1,024g', 'at least 64m'],
  ['MCP_BRIDGE_STATE_DIR', '$DATA/state', 'a path outside of /proc'],
  ['MCP_BRIDGE_CACHE_DIR', '~ann/cache', 'a path outside of /proc'],
  ['MCP_BRIDGE_CACHE_DIR', 'file:///var/cache', 'a path outside of /proc'],
  ['MCP_BRIDGE_TIMEOUT', '500ms', 'seconds, 1 to 86400'],
  ['MCP_BRIDGE_RUNTIME', 'mirror=https://ann@mirror.example/', 'without a user name'],
  ['MCP_BRIDGE_MEMORY', '63m', 'at least 64m'],
  ['MCP_BRIDGE_MEMORY', '512', 'at least 64m'],
  ['MCP_BRIDGE_MEMORY', '1e9', 'at least 64m'],
  ['MCP_BRIDGE_POOL', '17', 'a whole number, 0 to 16'],
  ['MCP_BRIDGE_KUBERNETES=seccomp', '/etc/x.json', 'a path below that folder, such as sandbridge.json'],
  ['MCP_BRIDGE_KUBERNETES=seccomp', 'a/../../x.json', 'a path below that folder, such as sandbridge.json'],
  ['MCP_BRIDGE_POOL', '1.5', 'a whole number, 0 to 16'],
  ['MCP_BRIDGE_CPUS', '0', 'a number above 0'],
  ['MCP_BRIDGE_IMAGE', '--privileged', 'an image name'],
  ['MCP_BRIDGE_CONTAINER_USER', '1:2:3', 'user or user:group'],
  ['MCP_BRIDGE_OCI_RUNTIME', '-v', 'the name or path of a runtime'],
  ['MCP_BRIDGE_COMPAT', 'maybe', '1, true, yes, on, 0, false, no, off'],
  ['MCP_BRIDGE_SOURCES', 'notepad', 'claude-code'],
  ['MCP_BRIDGE_CACHE_DIR', '/proc/nope', 'a path outside of /proc'],
  ['MCP_BRIDGE_STATE_DIR', '/dev/fd/nope', 'a path outside of /proc'],
  ['MCP_BRIDGE_MOUNT', 'data', 'an absolute path'],
  ...[
    'numpy --index-url=http://evil',
    'git+https://host.example/evil',
    'http://host.example/evil-1.0.tar.gz',
    'evil@http://host.example/evil-1.0.tar.gz',
    'file:///tmp/evil',
    'evil[a]@file:///tmp/evil',
    'evil-1.0.tar.gz',
    'evil.zip',
    'evil.tgz;python_version>"3"',
    'folder/evil',
    'https://host.example/evil-1.0-py3-none-any.whl',
  ].map((word): [string, string, string] => ['MCP_BRIDGE_PACKAGES', word, 'requirements, wheel files or folders']),
])('the setting %s=%s is refused', (variable, value, allowed) => {
  needsPosixPaths(variable, value)
  const [name = '', member] = variable.split('=')
  const { code, message } = errorOf({ [name]: member ? `${member}=${value}` : value })
  expect(code).toBe('CONFIG_INVALID')
  expect(message).toContain(variable)
  expect(message).toContain(allowed)
  const shown = value.replace(/^mirror=/, '').replace(/\/\/[^/@]*@/, '//[redacted]@')
  expect(message).toContain(JSON.stringify(shown))
})

it('the state folder is the same before and after the settings are read', () => {
  for (const value of ['"~/x"', " '$HOME/x' ", '/x', ''])
    expect(stateFolder({ home: '/home/ann', env: { MCP_BRIDGE_STATE_DIR: value } })).toBe(
      read({ MCP_BRIDGE_STATE_DIR: value }).stateDir,
    )
})

it('a memory limit that is set holds with packages, too', () => {
  expect(read({ MCP_BRIDGE_PACKAGES: 'pandas', MCP_BRIDGE_MEMORY: '300m' }).memoryBytes).toBe(300 * 2 ** 20)
})

it.each(['mysql://ann:pass-word@db/x', 'ann:pass-word@db/x', 'postgres://ann:pass-word@db:port/x', 'postgres://'])(
  'MCP_BRIDGE_STORAGE=%s is refused, and the error does not repeat it',
  (value) => {
    const { code, message } = errorOf({ MCP_BRIDGE_STORAGE: value })
    expect(code).toBe('CONFIG_INVALID')
    expect(message).toContain('a connection URL such as postgres://')
    expect(message).not.toContain('pass-word')
  },
)

it('all invalid settings are reported at once', () => {
  const { message } = errorOf({ MCP_BRIDGE_POOL: 'x', MCP_BRIDGE_MEMORY: 'y', MCP_BRIDGE_PIDS: '0' })
  expect(message.split('\n')).toHaveLength(3)
})

it('a setting that is read as something else is reported', () => {
  const env = { MCP_BRIDGE_TIMEOUT: '300', MCP_BRIDGE_PIDS: '10', MCP_BRIDGE_RUNTIME: '/opt/podman' }
  expect(read(env).warnings.toSorted()).toEqual([
    'MCP_BRIDGE_PIDS=10 is too low: 16 is used.',
    'MCP_BRIDGE_RUNTIME=/opt/podman selects podman, found through PATH.',
    'MCP_BRIDGE_TIMEOUT=300 is more than MCP_BRIDGE_MAX_TIMEOUT: 120 is used.',
  ])
})

it('the default timeout is lowered to the greatest allowed one', () => {
  expect(read({ MCP_BRIDGE_MAX_TIMEOUT: '10' }).timeoutMs).toBe(10_000)
})

it('the error of an invalid setting repeats no value that may hold a password, and cuts a long one', () => {
  expect(errorOf({ MCP_BRIDGE_STORAGE: 'ftp://ann:hunter2@host' }).message).not.toContain('hunter2')
  expect(errorOf({ MCP_BRIDGE_POOL: 'x'.repeat(10_000) }).message.length).toBeLessThan(300)
})

it('an unknown variable is reported with the nearest known one', () => {
  expect(read({ MCP_BRIDGE_MEMROY: '1g', MCP_BRIDGE_ZZZZZZZZZZ: '1', OTHER: '1' }).warnings).toEqual([
    'MCP_BRIDGE_MEMROY is not a setting and is ignored. Did you mean MCP_BRIDGE_MEMORY?',
    'MCP_BRIDGE_ZZZZZZZZZZ is not a setting and is ignored.',
  ])
  const [warning] = read({ 'MCP_BRIDGE_\u001b[2J\nerror ZZZZZZZZZZ': '1' }).warnings
  expect(warning).toBe('"MCP_BRIDGE_\\u001b[2J\\nerror ZZZZZZZZZZ" is not a setting and is ignored.')
})

it('an address for metrics that other machines can reach needs a token', () => {
  for (const address of ['127.0.0.1:9464', 'localhost:9464', '[::1]:9464'])
    expect(read({ MCP_BRIDGE_METRICS: address }).metrics).toMatchObject({ port: 9464 })
  for (const address of ['0.0.0.0:9464', '10.1.2.3:9464', '[::]:9464']) {
    expect(() => read({ MCP_BRIDGE_METRICS: address })).toThrow(/other machines can reach .*MCP_BRIDGE_METRICS_TOKEN/)
    const withToken = { MCP_BRIDGE_METRICS: address, MCP_BRIDGE_METRICS_TOKEN: 'a-token-for-prometheus' }
    expect(read(withToken)).toMatchObject({ metrics: { port: 9464 }, metricsToken: 'a-token-for-prometheus' })
  }
  for (const address of ['9464', 'example.com:9464', '0.0.0.0:99999', '[10.1.2.3]:1', '::1:9464'])
    expect(() => read({ MCP_BRIDGE_METRICS: address })).toThrow('MCP_BRIDGE_METRICS')
})

it('a record that is required cannot be off', () => {
  expect(() => read({ MCP_BRIDGE_AUDIT: 'off required=1' })).toThrow(
    'MCP_BRIDGE_AUDIT=required=1 needs a record, and MCP_BRIDGE_AUDIT is off.',
  )
  expect(read({ MCP_BRIDGE_AUDIT: 'off required=0' }).audit).toBe('off')
  expect(read({ MCP_BRIDGE_AUDIT: 'required=1' }).auditRequired).toBe(true)
  const place = 'settings.json, line 1, observability.auditRequired'
  const values = new Map([['MCP_BRIDGE_AUDIT=required', { value: '1', place }]])
  expect(() => readSettings({ MCP_BRIDGE_AUDIT: 'off' }, linux, { values, problems: [], warnings: [] })).toThrow(place)
})

it('servers run in pods only where sandboxes do, and are stopped when idle there', () => {
  expect(() => read({ MCP_BRIDGE_KUBERNETES: 'servers=pods' })).toThrow(
    'MCP_BRIDGE_KUBERNETES=servers=pods needs MCP_BRIDGE_RUNTIME=kubernetes',
  )
  const pods = { MCP_BRIDGE_KUBERNETES: 'servers=pods', MCP_BRIDGE_RUNTIME: 'kubernetes' }
  expect(read(pods)).toMatchObject({ upstreams: 'pods', upstreamIdleMs: 600_000 })
  expect(read({ ...pods, MCP_BRIDGE_UPSTREAM_IDLE: '0' }).upstreamIdleMs).toBe(0)
})

it('settings cannot be changed after they are read', () => {
  expect(Object.isFrozen(read({}))).toBe(true)
})

it.each([
  [{ home: '/Users/ann', platform: 'darwin' }, {}, '/Users/ann/Library/Caches/sandbridge'],
  [{ home: '/root', platform: 'linux', isRoot: true }, {}, '/var/cache/sandbridge'],
  [linux, { XDG_CACHE_HOME: '/var/cache/ann' }, '/var/cache/ann/sandbridge'],
] as const)('the cache folder is the usual one of the system: %j', (machine, env, expected) => {
  expect(path.normalize(readSettings(env, machine).cacheDir)).toBe(path.normalize(expected))
})

// Features and parts unplug: without their folders and their lines in src/features.ts and src/features/first.ts the
// rest type-checks, is built and runs cells.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { bridgeEnv, fixtureServer, makeHome, ROOT } from './support/bridge-process.ts'
import { SANDBOX_CACHE } from './support/sandbox-cache.ts'

vi.setConfig({ testTimeout: 600_000 })

/** What lists features and parts. */
const LISTS = ['features.ts', 'features/first.ts']
const FEATURES = readdirSync(path.join(ROOT, 'src/features')).filter((name) => !name.endsWith('.ts'))
/** Name in src/features.ts → folder below src/. */
const FOLDERS = new Map([
  ...FEATURES.map((name): [string, string] => [name, `features/${name}`]),
  ...[...source('features.ts').matchAll(/^(\w+)\.isAt\(\(\) => import\('\.\/(.+)\/[\w-]+\.ts'\)\)$/gm)].map(
    ([, name, folder]): [string, string] => [name!, folder!],
  ),
])
const PARTS = [...FOLDERS.keys()].filter((name) => !FEATURES.includes(name))
const COPIED = [
  'src',
  'web',
  'python',
  'assets',
  'scripts',
  'test',
  'docs',
  'examples',
  'NOTICE',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
]
/** Quick tests whose imports lead to a feature or part. Any other is the same with the core alone. */
const QUICK = [
  'src/bridge',
  'src/calls/permissions/cell-permissions',
  'src/cli/terminal/ask-in-terminal',
  'src/cli/terminal/open-bridge',
  'src/cli/terminal/print',
  'src/config/settings',
  'src/serve/mcp/language-tools',
  'src/serve/mcp/listed-languages',
  'src/serve/mcp/older-client',
]

function source(file: string): string {
  return readFileSync(path.join(ROOT, 'src', file), 'utf8')
}

/** TypeScript below a folder, as paths with `/`. */
function filesIn(folder: string): string[] {
  const names = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.ts')).map((name) => path.posix.join(folder, ...name.split(path.sep)))
}

let copy = ''

beforeAll(() => {
  mkdirSync(path.join(ROOT, '.cache/test'), { recursive: true })
  copy = mkdtempSync(path.join(ROOT, '.cache/test/unplug-'))
  // The tests that start bridges stay behind: some are about features.
  const filter = (file: string): boolean =>
    !/[\\/]node_modules$/.test(file) && !(file.startsWith(path.join(ROOT, 'test')) && file.endsWith('.test.ts'))
  for (const name of COPIED) cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true, filter })
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'), 'junction')
  // All have the same files of the embedded sandbox, which takes seconds to prepare.
  mkdirSync(SANDBOX_CACHE, { recursive: true })
  for (const cache of ['test', 'demo']) {
    mkdirSync(path.join(copy, '.cache', cache), { recursive: true })
    symlinkSync(SANDBOX_CACHE, path.join(copy, '.cache', cache, 'pyodide'), 'junction')
  }
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

/** Where a list is kept as it was, for the compiler alone. */
const asItWas = (list: string): string => path.join(copy, 'src', list.replace('.ts', '-as-it-was.ts'))

/** Takes all features and parts away, and their lines. */
function unplugAll(): void {
  for (const folder of FOLDERS.values()) rmSync(path.join(copy, 'src', folder), { recursive: true })
  const gone = [...FOLDERS.keys()].join('|')
  for (const list of LISTS) {
    const kept = source(list)
      .split('\n')
      .filter((line) => !new RegExp(`^import \\{ (?:${gone}) \\}|^(?:${gone})\\.isAt`).test(line))
    const left = kept.join('\n').replace(new RegExp(`(?<=\\[[^\\]]*)\\b(?:${gone})\\b(?:,\\s+)?`, 'g'), '')
    writeFileSync(path.join(copy, 'src', list), left)
    writeFileSync(asItWas(list), source(list))
  }
}

const CELL = ['exec', '-c', '20 + 22']
const RAW = fixtureServer('raw.mjs', 'good')
const JAILED = { raw: { ...RAW, sandbox: {} } }
const CALL = ['exec', '-c', 'await mcp_raw.echo(text="x")']
const FAR = { far: { url: 'http://127.0.0.1:9/mcp' } }
const RECORD = 'the record of runs and calls'
/** Who asks for a part, and what it is called. */
const ASKING: [string, string, Given, readonly string[]][] = [
  ['MCP_BRIDGE_RUNTIME=bubblewrap', 'the bubblewrap provider', { env: { MCP_BRIDGE_RUNTIME: 'bubblewrap' } }, CELL],
  ['MCP_BRIDGE_RUNTIME=podman', 'the container provider', { env: { MCP_BRIDGE_RUNTIME: 'podman' } }, CELL],
  ['MCP_BRIDGE_RUNTIME=kubernetes', 'Kubernetes', { env: { MCP_BRIDGE_RUNTIME: 'kubernetes' } }, CELL],
  ['MCP_BRIDGE_PACKAGES', 'the installation of packages', { env: { MCP_BRIDGE_PACKAGES: 'six' } }, CELL],
  ["Server 'far'", 'the HTTP client', { servers: FAR }, ['exec', '-c', 'await mcp_far.echo(text="x")']],
  ['MCP_BRIDGE_SOURCES', 'the reader of other clients', { env: { MCP_BRIDGE_SOURCES: 'cursor' } }, CELL],
  ['MCP_BRIDGE_MASK', 'masking', { env: { MCP_BRIDGE_MASK: 'email' } }, CELL],
  ['MCP_BRIDGE_STORAGE', 'PostgreSQL', { env: { MCP_BRIDGE_STORAGE: 'postgresql://localhost/sandbridge' } }, CELL],
  ['MCP_BRIDGE_METRICS', 'telemetry', { env: { MCP_BRIDGE_METRICS: '127.0.0.1:0' } }, CELL],
  ['--http', 'HTTP', {}, ['run', '--http', '0']],
  [
    'MCP_BRIDGE_FLOW or a rule about flows',
    'tracking where values come from',
    { env: { MCP_BRIDGE_FLOW: 'ask' } },
    CELL,
  ],
  ['MCP_BRIDGE_AUDIT', RECORD, { env: { MCP_BRIDGE_AUDIT: 'full' } }, CELL],
  ['MCP_BRIDGE_AUDIT', RECORD, { env: { MCP_BRIDGE_AUDIT: 'full required=on' }, servers: { raw: RAW } }, CALL],
  ['The sandbox of raw', 'jails of servers', { servers: JAILED }, CALL],
]

interface Given {
  env?: Record<string, string>
  servers?: Parameters<typeof makeHome>[0]
}

function run({ env = {}, servers }: Given, ...args: string[]) {
  const home = makeHome(servers)
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: copy,
    env: { ...bridgeEnv(home), MCP_BRIDGE_RUNTIME: 'pyodide', ...env },
    timeout: 300_000,
    encoding: 'utf8',
  })
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  return { stdout, all: `${stdout}${stderr} (exit code ${status})`, status }
}

function node(...args: string[]): string {
  const { stdout, all, status } = run({}, ...args)
  return status === 0 ? stdout : all
}

/** What the compiler finds in the sources of the copy, without their tests. */
function typeErrors(): string[] {
  const config = JSON.parse(readFileSync(path.join(ROOT, 'tsconfig.json'), 'utf8')) as object
  const files = { include: ['src'], exclude: ['src/**/*.test.ts'] }
  writeFileSync(path.join(copy, 'tsconfig.json'), JSON.stringify({ ...config, ...files }))
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc')
  // Other tests use the other cores, and several threads check many types again.
  const said = node(tsc, '--noEmit', '--singleThreaded', '--pretty', 'false', '-p', copy)
  // It ends lines as its system does.
  return said.split(/\r?\n/).filter((line) => line !== '')
}

it('only the lists import a feature, so the rest type-checks without any one of them', () => {
  const importers = new Map(FEATURES.map((name): [string, string[]] => [name, []]))
  for (const from of [...filesIn('src'), ...filesIn('test/support')])
    for (const [, to] of readFileSync(path.join(ROOT, from), 'utf8').matchAll(/\b(?:from|import\() ?'(\.[^']+)'/g)) {
      const [, name] = /^src\/features\/([^/]+)\//.exec(path.posix.join(path.posix.dirname(from), to!)) ?? []
      if (name !== undefined && !from.startsWith(`src/features/${name}/`)) importers.get(name)!.push(from)
    }
  for (const [name, files] of importers) {
    expect(files, name).not.toEqual([])
    expect(LISTS.map((list) => `src/${list}`)).toEqual(expect.arrayContaining(files))
  }
})

it('the core alone type-checks, passes its quick tests, is built, runs the demo, and says what is not in this build', () => {
  // A list that nothing was read from would prove nothing.
  expect(PARTS).toContain('kubernetes')
  unplugAll()
  const errors = typeErrors()
  // Control: each line of a list whose folder is missing is an error.
  const ofMissing = errors.filter((line) => line.includes('-as-it-was.ts'))
  for (const folder of FOLDERS.values())
    expect(ofMissing.join('\n')).toMatch(
      new RegExp(`Cannot find module '\\./(?:features/)?${folder.replace('features/', '')}/`),
    )
  expect(errors.filter((line) => !ofMissing.includes(line))).toEqual([expect.stringContaining('exit code')])
  for (const list of LISTS) rmSync(asItWas(list))
  // One worker: each loads all modules, and other tests use the other cores.
  const quick = ['run', '--project', 'unit', '--maxWorkers', '1', ...QUICK]
  expect(node(path.join(ROOT, 'node_modules/vitest/vitest.mjs'), ...quick)).toMatch(
    /\d passed, 0 failed, \d+ skipped\n$/,
  )
  expect(node('scripts/build.mjs')).toBe('')
  expect(node(path.join(ROOT, 'node_modules/tsx/dist/cli.mjs'), 'examples/demo.ts')).not.toContain('exit code')
  const help = node('dist/cli.js', '--help')
  expect(help).toContain('exec')
  for (const command of [
    'workflows',
    'schedule',
    'find',
    'add',
    'init',
    'status',
    'stop',
    'top',
    'doctor',
    'log',
    'shell',
    'packages',
    'servers',
    'search',
    'tools',
    'artifacts',
    'saved',
    'profile',
    'index',
    'config',
    'permissions',
    'approve',
    'completion',
    'login',
    'trust',
    'token',
    'sandboxes',
    'image',
  ])
    expect(help).not.toMatch(new RegExp(`^ +${command} `, 'm'))
  for (const [asker, part, given, words] of ASKING) {
    const env = { MCP_BRIDGE_LOG_LEVEL: 'warning', ...given.env }
    expect(run({ ...given, env }, 'dist/cli.js', ...words).all).toContain(
      `${asker} needs ${part}, which is not in this build`,
    )
  }
})

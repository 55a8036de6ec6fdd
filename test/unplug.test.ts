// @module-tag whole: it builds the program without each part
// Packages unplug: without their folders and their lines in packages/sandbridge/src/packages.ts and first.ts beside
// it, the core type-checks with its tests, is built and runs cells, and so do the others without two that the day
// chooses, or with SANDBRIDGE_TEST_UNPLUG=each without each in turn. Who imports whom, scripts/check/check-packages.mjs
// holds.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { bridgeEnv, fixtureServer, makeHome, ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsWholeRun, WHY_NOT_NOW } from '@sandbridge/core/test/support/suite/needs.ts'
import { SANDBOX_CACHE } from '@sandbridge/core/test/support/sandboxes/sandbox-cache.ts'

vi.setConfig({ testTimeout: 600_000 })

/** What lists packages. */
const LISTS = ['packages.ts', 'first.ts']
const PRODUCT = 'packages/sandbridge/src'
const PACKAGES = readdirSync(path.join(ROOT, 'packages')).filter((name) => name !== 'core' && name !== 'sandbridge')
const COPIED = `packages bench scripts examples docs schema NOTICE README.md ARCHITECTURE.md package.json tsconfig.json
  vitest.config.ts`.split(/\s+/)
/** One that only others use stands in no list. */
const isListed = (name: string): boolean => existsSync(path.join(ROOT, 'packages', name, 'src/package.ts'))

let copy = ''

const isOwn = (file: string): boolean => !/[\\/]node_modules$/.test(path.relative(ROOT, file))

beforeAll(() => {
  // Below this checkout, what is missing in the copy would be found above it.
  copy = mkdtempSync(path.join(realpathSync(tmpdir()), 'unplug-'))
  for (const name of COPIED) cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true, filter: isOwn })
  // The copy's own packages, and all else that is installed.
  const link = (from: string, to: string): void => symlinkSync(from, path.join(copy, 'node_modules', to), 'junction')
  mkdirSync(path.join(copy, 'node_modules/@sandbridge'), { recursive: true })
  for (const name of readdirSync(path.join(ROOT, 'node_modules')))
    if (name !== '@sandbridge') link(path.join(ROOT, 'node_modules', name), name)
  for (const name of ['core', 'sandbridge', ...PACKAGES]) link(path.join(copy, 'packages', name), `@sandbridge/${name}`)
  writeFileSync(path.join(copy, 'client.mjs'), CLIENT)
  // All have the same files of the embedded sandbox, which takes seconds to prepare.
  mkdirSync(SANDBOX_CACHE, { recursive: true })
  for (const cache of ['test', 'demo']) {
    mkdirSync(path.join(copy, '.cache', cache), { recursive: true })
    symlinkSync(SANDBOX_CACHE, path.join(copy, '.cache', cache, 'pyodide'), 'junction')
  }
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

/** Where a list is kept as it was, for the compiler alone. */
const asItWas = (list: string): string => path.join(copy, PRODUCT, list.replace('.ts', '-as-it-was.ts'))

/** Takes packages away, and their lines. */
function unplug(names: readonly string[]): void {
  for (const name of names) rmSync(path.join(copy, 'packages', name), { recursive: true, force: true })
  const gone = new RegExp(`@sandbridge/(?:${names.join('|')})/`)
  for (const list of LISTS) {
    const text = readFileSync(path.join(ROOT, PRODUCT, list), 'utf8')
    const words = [...text.matchAll(/^import \{ (\w+) \} from '(.+)'$/gm)].flatMap(([, word, from]) =>
      gone.test(from!) ? [word!] : [],
    )
    const kept = text.split('\n').filter((line) => !gone.test(line))
    const inLists = new RegExp(`(?<=\\[[^\\]]*)\\b(?:${words.join('|')})\\b(?:,\\s+)?`, 'g')
    const left = words.length === 0 ? text : kept.join('\n').replace(inLists, '')
    writeFileSync(path.join(copy, PRODUCT, list), left)
    writeFileSync(asItWas(list), text)
  }
}

/** A package with those that use it. */
function withUsers(name: string): string[] {
  const uses = (other: string): boolean =>
    readdirSync(path.join(ROOT, 'packages', other, 'src'), { recursive: true, encoding: 'utf8' }).some(
      (file) =>
        /(?<!\.test)\.ts$/.test(file) &&
        readFileSync(path.join(ROOT, 'packages', other, 'src', file), 'utf8').includes(`'@sandbridge/${name}/`),
    )
  const users = PACKAGES.filter((other) => other !== name && uses(other))
  return [...new Set([name, ...users.flatMap(withUsers)])]
}

/** What a client gets from one cell. */
const CLIENT = `import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
const client = new Client({ name: 'unplug', version: '1' })
const transport = new StdioClientTransport({ command: process.execPath, args: ['dist/cli.js', 'run'], env: process.env })
try {
  await client.connect(transport)
  const { content } = await client.callTool({ name: 'run_python', arguments: { code: process.argv[2] } })
  console.log(content[0].text)
} finally {
  await client.close()
}`
const CELL = ['client.mjs', '20 + 22']
const RAW = fixtureServer('raw.mjs', 'good')
const JAILED = { raw: { ...RAW, sandbox: {} } }
const CALL = ['client.mjs', 'await mcp_raw.echo(text="x")']
const FAR = { far: { url: 'http://127.0.0.1:9/mcp' } }
const NATIVE = 'the choice of native sandboxes'
const RECORD = 'the audit log'
const WALLS = new Set([NATIVE, RECORD, 'masking', 'judging calls by rules', 'jails of servers'])
/** Who asks for a part, and what it is called. */
const ASKING: [string, string, Given, readonly string[]][] = [
  ['MCP_BRIDGE_RUNTIME=bubblewrap', NATIVE, { env: { MCP_BRIDGE_RUNTIME: 'bubblewrap' } }, CELL],
  ['MCP_BRIDGE_RUNTIME=podman', NATIVE, { env: { MCP_BRIDGE_RUNTIME: 'podman' } }, CELL],
  ['MCP_BRIDGE_RUNTIME=kubernetes', NATIVE, { env: { MCP_BRIDGE_RUNTIME: 'kubernetes' } }, CELL],
  ['MCP_BRIDGE_PACKAGES', 'the installation of packages', { env: { MCP_BRIDGE_PACKAGES: 'six' } }, CELL],
  ["Server 'far'", 'the HTTP client', { servers: FAR }, ['client.mjs', 'await mcp_far.echo(text="x")']],
  ['MCP_BRIDGE_SOURCES', 'the reader of other clients', { env: { MCP_BRIDGE_SOURCES: 'cursor' } }, CELL],
  ['MCP_BRIDGE_MASK', 'masking', { env: { MCP_BRIDGE_MASK: 'email' } }, CELL],
  ['MCP_BRIDGE_STORAGE', 'PostgreSQL', { env: { MCP_BRIDGE_STORAGE: 'postgresql://localhost/sandbridge' } }, CELL],
  ['MCP_BRIDGE_METRICS', 'telemetry', { env: { MCP_BRIDGE_METRICS: '127.0.0.1:0' } }, CELL],
  ['--http', 'HTTP', {}, ['dist/cli.js', 'run', '--http', '0']],
  ['MCP_BRIDGE_FLOW', 'judging calls by rules', { env: { MCP_BRIDGE_PERMISSIONS: 'readonly' } }, CELL],
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

/** What the compiler finds in the copy. @param names of the packages that are gone */
function typeErrors(names: readonly string[]): string[] {
  const config = JSON.parse(readFileSync(path.join(ROOT, 'tsconfig.json'), 'utf8')) as object
  // Tests of the packages' list go with it, and those of pods make a cluster with bubblewrap.
  const exclude = ['packages/sandbridge/test', ...(names.includes('bubblewrap') ? ['packages/kubernetes/test'] : [])]
  const files = { include: ['packages/*/src', 'packages/*/test'], exclude }
  writeFileSync(path.join(copy, 'tsconfig.json'), JSON.stringify({ ...config, ...files }))
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc')
  // Other tests use the other cores, and several threads check many types again.
  const said = node(tsc, '--noEmit', '--singleThreaded', '--pretty', 'false', '-p', copy)
  // It ends lines as its system does.
  return said.split(/\r?\n/).filter((line) => line !== '')
}

const DAY = Math.floor(Date.now() / 86_400_000)
const IS_EACH = process.env['SANDBRIDGE_TEST_UNPLUG'] === 'each'
const CHOSEN = IS_EACH
  ? PACKAGES.map((name) => [name])
  : [[DAY * 2, DAY * 2 + 1].map((number) => PACKAGES[number % PACKAGES.length]!)]

// A test of a day's own name could not be found again after midnight.
const TITLE = IS_EACH ? 'without %s' : 'without two packages of the day'

it.each(CHOSEN)(`${TITLE} and what uses them, the others type-check, are built and run a cell`, (...chosen) => {
  const names = [...new Set(chosen.flatMap(withUsers))]
  unplug(names)
  const errors = typeErrors(names)
  // Control: it is missed by a list that still names it.
  for (const name of chosen.filter(isListed))
    expect(errors.join('\n')).toContain(`Cannot find module '@sandbridge/${name}/`)
  expect(errors.filter((line) => !line.includes('-as-it-was.ts'))).toEqual([expect.stringContaining('exit code')])
  for (const list of LISTS) rmSync(asItWas(list))
  expect(node('scripts/build/build.mjs')).toBe('')
  expect(node(...CELL)).toBe('42\n')
  for (const one of names)
    cpSync(path.join(ROOT, 'packages', one), path.join(copy, 'packages', one), { recursive: true, filter: isOwn })
})

it('the core alone type-checks and passes its unit tests', () => {
  // `npm run check:layers` tells of each change what the core imports.
  needsWholeRun()
  unplug(PACKAGES)
  const errors = typeErrors(PACKAGES)
  // Control: each package that is missing is an error of a list as it was.
  const ofMissing = errors.filter((line) => line.includes('-as-it-was.ts'))
  for (const name of PACKAGES.filter(isListed))
    expect(ofMissing.join('\n')).toContain(`Cannot find module '@sandbridge/${name}/`)
  expect(errors.filter((line) => !ofMissing.includes(line))).toEqual([expect.stringContaining('exit code')])
  for (const list of LISTS) rmSync(asItWas(list))
  // One worker: each loads all modules, and other tests use the other cores.
  const unit = ['run', '--project', 'unit', '--maxWorkers', '1', 'packages/core/src/']
  expect(node(path.join(ROOT, 'node_modules/vitest/vitest.mjs'), ...unit)).toMatch(
    /\d passed, 0 failed, \d+ skipped\n$/,
  )
})

it('the core alone is built, runs the demo, and says what is not in this build', () => {
  unplug(PACKAGES)
  for (const list of LISTS) rmSync(asItWas(list), { force: true })
  expect(node('scripts/build/build.mjs')).toBe('')
  expect(node(path.join(ROOT, 'node_modules/tsx/dist/cli.mjs'), 'examples/demo.ts')).not.toContain('exit code')
  const help = node('dist/cli.js', '--help')
  expect(help).toContain('run')
  for (const command of [
    'exec',
    'ui',
    'workflows',
    'schedule',
    'find',
    'add',
    'init',
    'status',
    'start',
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
  // Where the part is a wall, a cell must not run without it. part.test.ts has what is said of any.
  const asking = WHY_NOT_NOW === undefined ? ASKING : ASKING.filter(([, part]) => WALLS.has(part))
  for (const [asker, part, given, words] of asking) {
    const env = { MCP_BRIDGE_LOG_LEVEL: 'warning', ...given.env }
    expect(run({ ...given, env }, ...words).all).toContain(`${asker} needs ${part}, which is not in this build`)
  }
})

it('a bridge without flow runs no cell that MCP_BRIDGE_FLOW is set for', () => {
  needsWholeRun()
  cpSync(path.join(ROOT, 'packages'), path.join(copy, 'packages'), { recursive: true, filter: isOwn })
  unplug(['flow'])
  for (const list of LISTS) rmSync(asItWas(list), { force: true })
  expect(node('scripts/build/build.mjs')).toBe('')
  const asked = run({ env: { MCP_BRIDGE_FLOW: 'record' } }, ...CELL)
  expect(asked.all).toContain('needs tracking where values come from, which is not in this build')
  expect(asked.stdout).not.toContain('42')
})

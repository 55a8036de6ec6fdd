// Starts the built bridge in a separate process with a throwaway home, and connects a real MCP client. None of our code
// is mocked.
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, type ClientCapabilities } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { HostedTransport } from './bridge-host/hosted-transport.ts'
import { descendants, until } from '../machine/processes.ts'
import { SANDBOX_CACHE } from '../sandboxes/sandbox-cache.ts'
import { linkCode, takeWarmCaches, WARM_CACHES } from '../sandboxes/warm-files.ts'
import { newFolder } from '../machine/new-folder.ts'

export const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url))
/** What users have. */
export const BUILT_CLI = path.join(ROOT, 'dist/cli.js')
/** Made by plain-bridge.mjs. */
export const PLAIN_CLI = path.join(ROOT, '.cache/test/plain/dist/cli.js')
/** The interpreter for cells of tests that are about something else. */
const PLAIN_PYTHON = process.env['SANDBRIDGE_TEST_PLAIN']
/** What tests start as a process. A host plays PLAIN_CLI. */
export const CLI = PLAIN_PYTHON ? PLAIN_CLI : BUILT_CLI
/** SANDBRIDGE_TEST_BRIDGES where PLAIN_CLI is there, unless the run wants another one. */
export const HOSTED = 'hosted'

/** The embedded sandbox runs everywhere; bubblewrap starts with a third of the CPU time where it must be there. */
const LIGHTEST =
  process.env['VITEST'] && /\bbubblewrap\b/.test(process.env['SANDBRIDGE_TEST_ENGINES'] ?? '')
    ? 'bubblewrap'
    : 'pyodide'

/** Where cells run in tests that are about something else: a plain Python stands in the place of the embedded one. */
export const ANY_RUNTIME = PLAIN_PYTHON ? 'pyodide' : LIGHTEST

/**
 * The setting of a bridge whose test is about the sandbox, or about files, memory or processes in it. Other cells run
 * in a plain Python where there is one: see plain-bridge.mjs. A bridge with settings of the sandbox has a real one
 * anyway.
 */
export const REAL_SANDBOX = { MCP_BRIDGE_RUNTIME: LIGHTEST }

/** In a cell, the folder that is /projects in every sandbox. A plain Python has another one. */
export const PROJECTS = '__import__("sandbridge_kernel.run.projects").run.projects.FOLDER'

const MAX_MESSAGE_BYTES = 128 * 1024 * 1024

/** An entry of `mcpServers`. */
export interface ServerEntry {
  command: string
  args?: string[]
  env?: Record<string, string>
  cwd?: string
  description?: string
}

/** An entry for a server over HTTP. */
export interface RemoteEntry {
  url: string
  headers?: Record<string, string>
  headersHelper?: string
  oauth?: Record<string, string>
}

export interface BridgeOptions {
  servers?: Record<string, ServerEntry | RemoteEntry>
  env?: Record<string, string>
  /** Made by makeHome; missing means a new one with `servers`. */
  home?: string
  /** 'legacy' opens with initialize, 'modern' with revision 2026-07-28. */
  era?: 'legacy' | 'modern'
  /** The client's name. */
  clientName?: string
  /** The client's capabilities; `prepare` adds handlers of the server's requests before it connects. */
  capabilities?: ClientCapabilities
  prepare?: (client: Client) => void
  /** Writes more files into the home folder before the bridge starts. */
  prepareHome?: (home: string) => void
  /** Another program than the built one, for the installed package. */
  command?: { node: string; cli: string }
  /** On its command line. */
  args?: string[]
  /** For a test of what is of the process: its id, memory, descriptors, signals, or what is left when it is killed. */
  ownProcess?: boolean
}

/**
 * A short throwaway home folder with `servers` in ~/MCPs/servers.json; its cache is that of a machine where a bridge
 * has run before.
 */
export function makeHome(servers: Record<string, ServerEntry | RemoteEntry> = {}): string {
  const home = realpathSync(newFolder())
  mkdirSync(path.join(home, 'MCPs'))
  mkdirSync(path.join(home, 'cache'))
  mkdirSync(SANDBOX_CACHE, { recursive: true })
  symlinkSync(SANDBOX_CACHE, path.join(home, 'cache/pyodide'), 'junction')
  if (process.env['VITEST']) takeWarmCaches(path.join(home, 'cache'))
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
  return home
}

/** The variables that a process needs, without the developer's own settings. */
export function bridgeEnv(home: string, env: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    USERPROFILE: home,
    TMPDIR: tmpdir(),
    MCP_BRIDGE_CACHE_DIR: path.join(home, 'cache'),
    MCP_BRIDGE_RUNTIME: ANY_RUNTIME,
    ...(PLAIN_PYTHON && !isAboutSandbox(env) && { SANDBRIDGE_TEST_CELLS: PLAIN_PYTHON }),
    MCP_BRIDGE_SIGN_IN_KEY: 'none',
    // A second sandbox for a session that never comes would take a tenth of all tests' time. Benchmarks keep it, like
    // users.
    ...(process.env['VITEST'] && { MCP_BRIDGE_POOL: '0' }),
    // SANDBRIDGE_TEST_RESIDENT=1 runs the tests of bridges over stdio through relays. Otherwise a test and a benchmark
    // are of one process.
    MCP_BRIDGE_RESIDENT: process.env['SANDBRIDGE_TEST_RESIDENT'] ? 'on idle=1' : 'off',
    ...env,
  }
}

/**
 * One process then plays this bridge and others: see bridge-host/. What is about an engine, a resident or Node itself
 * is about processes, too. SANDBRIDGE_TEST_BRIDGES=processes gives each bridge its own.
 */
export const canBeHosted = (env: Record<string, string>): boolean =>
  process.env['VITEST'] !== undefined &&
  process.env['SANDBRIDGE_TEST_BRIDGES'] === HOSTED &&
  env['MCP_BRIDGE_RUNTIME'] === 'pyodide' &&
  env['MCP_BRIDGE_RESIDENT'] === 'off' &&
  !('NODE_OPTIONS' in env)

const isAboutSandbox = (env: Record<string, string>): boolean =>
  ['RUNTIME', 'LANGUAGES', 'MEMORY', 'PACKAGES'].some((name) => `MCP_BRIDGE_${name}` in env)

export interface CellAnswer {
  text: string
  isError: boolean
  structured: Record<string, unknown>
  content: { type: string; [key: string]: unknown }[]
}

interface CallOptions {
  signal?: AbortSignal
  /** A client that hears of progress gets the result of a cell that takes a minute, and no note that it goes on. */
  onprogress?: () => void
}

/** A bridge and the client that is connected to it. */
export class TestBridge {
  readonly home: string
  readonly client: Client
  readonly transport: StdioClientTransport | HostedTransport
  stderr = ''

  constructor(home: string, client: Client, transport: StdioClientTransport | HostedTransport) {
    this.home = home
    this.client = client
    this.transport = transport
    transport.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()))
  }

  get pid(): number {
    if (this.transport instanceof HostedTransport) throw new Error('Only a bridge with `ownProcess` has an id.')
    return this.transport.pid!
  }

  /** The process that serves the client: behind a relay, the resident that it has started. */
  get servingPid(): number {
    return process.env['SANDBRIDGE_TEST_RESIDENT'] ? descendants(this.pid)[0]!.pid : this.pid
  }

  /** What the bridge has logged that is of no client alone: behind a relay, in the log of the resident. */
  get commonLog(): string {
    if (!process.env['SANDBRIDGE_TEST_RESIDENT']) return this.stderr
    const folder = path.join(this.home, 'MCPs/.sandbridge/run')
    const logs = readdirSync(folder).filter((name) => name.endsWith('.log'))
    return logs.map((name) => readFileSync(path.join(folder, name), 'utf8')).join('')
  }

  /**
   * Resolves when it has kept the lists of so many servers, which it does in its own time: others then know them.
   * @param tool in one of these lists
   */
  async hasKept(count: number, tool = ''): Promise<void> {
    const folder = path.join(this.home, 'MCPs')
    const lists = (): string[] => {
      const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      return names.filter((name) => /toolbooks.+\.json$/.test(name)).map((name) => path.join(folder, name))
    }
    await until(() => lists().length >= count && lists().some((file) => readFileSync(file, 'utf8').includes(tool)))
  }

  /** Calls run_python with any arguments, valid or not. */
  async call(args: Record<string, unknown>, options: CallOptions = {}): Promise<CellAnswer> {
    return this.callTool('run_python', args, options)
  }

  /** Calls another tool of the bridge. */
  async callTool(name: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<CellAnswer> {
    const result = await this.client.callTool({ name, arguments: args }, { timeout: 120_000, ...options })
    const content = result.content as CellAnswer['content']
    const text = content.flatMap((block) => (block.type === 'text' ? [String(block['text'])] : [])).join('\n')
    return {
      text,
      isError: result.isError === true,
      structured: (result.structuredContent ?? {}) as Record<string, unknown>,
      content,
    }
  }

  /** Runs a cell and returns what the model reads. */
  async run(code: string, args: Record<string, unknown> = {}): Promise<string> {
    return (await this.call({ code, ...args })).text
  }
}

/** For a whole file: close it in afterAll. */
export async function openTestBridge({
  servers = {},
  env = {},
  home = makeHome(servers),
  era = 'legacy',
  capabilities = {},
  // It gets results as data, too.
  clientName = 'inspector-cli',
  prepare,
  prepareHome,
  command,
  args = [],
  ownProcess = false,
}: BridgeOptions = {}): Promise<TestBridge> {
  prepareHome?.(home)
  const variables = bridgeEnv(home, env)
  const transport =
    ownProcess || command || !canBeHosted(variables)
      ? new StdioClientTransport({
          command: command?.node ?? process.execPath,
          args: [command?.cli ?? CLI, ...args],
          env: variables,
          cwd: home,
          stderr: 'pipe',
          maxBufferSize: MAX_MESSAGE_BYTES,
        })
      : new HostedTransport({ cli: PLAIN_CLI, args, env: variables, cwd: home }, MAX_MESSAGE_BYTES)
  const client = new Client(
    { name: clientName, version: '1' },
    { capabilities, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  )
  prepare?.(client)
  const bridge = new TestBridge(home, client, transport)
  await client.connect(transport)
  return bridge
}

export async function closeTestBridge(bridge: TestBridge): Promise<void> {
  await bridge.client.close()
  if (process.env['VITEST']) linkCode(path.join(bridge.home, 'cache'), WARM_CACHES)
  // Another bridge of the test may have the same home, and write there until it is closed, too.
  await rm(bridge.home, { recursive: true, force: true, maxRetries: 10 })
}

const server = (name: string) => path.join(ROOT, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`)

/** The published servers, as entries of `mcpServers`. */
export const published = {
  everything: (): ServerEntry => ({ command: process.execPath, args: [server('everything'), 'stdio'] }),
  filesystem: (folder: string): ServerEntry => ({ command: process.execPath, args: [server('filesystem'), folder] }),
  memory: (file: string): ServerEntry => ({
    command: process.execPath,
    args: [server('memory')],
    env: { MEMORY_FILE_PATH: file },
  }),
}

/** A fixture server: a small program of ours that speaks MCP, correctly or not. */
export function fixtureServer(name: string, ...args: string[]): ServerEntry {
  return { command: process.execPath, args: [path.join(ROOT, 'packages/core/test/fixtures/servers', name), ...args] }
}

// This file verifies every reader against a file in its client's format: the resulting servers, with placeholders in
// the bridge's syntax.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDocument } from '@sandbridge/core/config/formats/config-document.ts'
import { toServerBody } from '@sandbridge/core/config/entries/server-entry.ts'
import { chosenReaders, SOURCE_NAMES } from '@sandbridge/core/config/readers/index.ts'
import { type HostPaths, type NamedEntry, type Reader, TableRefused } from '@sandbridge/core/config/readers/reader.ts'
import { linux, windows } from '@sandbridge/core/test/support/host-paths.ts'

const READERS = await chosenReaders([])

function readerOf(client: string): Reader {
  const reader = READERS.find((one) => one.client === client)
  if (reader === undefined) throw new Error(`There is no reader ${client}`)
  return reader
}

function entriesOrNone(reader: Reader, document: Record<string, unknown>): NamedEntry[] {
  try {
    return reader.entries(document, linux) ?? []
  } catch (error) {
    if (error instanceof TableRefused) return []
    throw error
  }
}

/** The servers of a fixture by name: a definition, or the reason why it was skipped. */
async function read(client: string, fixture: string, place: HostPaths = linux): Promise<Record<string, unknown>> {
  const file = fileURLToPath(new URL(`../../../core/test/fixtures/config/${fixture}`, import.meta.url))
  const reader = readerOf(client)
  const parsed = await parseDocument(readFileSync(file, 'utf8'), reader.format)
  if ('reason' in parsed) throw new Error(parsed.reason)
  const entries = reader.entries(parsed.document, place)
  if (entries === undefined) throw new Error('The file has no place for servers')
  return Object.fromEntries(
    entries.map(({ name, entry }) => {
      const made = entry === undefined ? { reason: 'is not an object' } : toServerBody(entry)
      return [name, 'reason' in made ? made.reason : made.body]
    }),
  )
}

const stdio = (command: string, args: string[] = [], env: Record<string, string> = {}): object => ({
  type: 'stdio',
  command,
  args,
  env,
})

const http = (url: string, headers: Record<string, string> = {}): object => ({ type: 'http', url, headers })

const sse = (url: string): object => ({ type: 'sse', url, headers: {} })

const registered = (signIn: object): object => ({ registered: { transport: { ...http(URL_MCP), signIn } } })

const OFF = 'is disabled in this file'

const URL_MCP = 'https://example.com/mcp'

const URL_SSE = 'https://example.com/sse'

const own = {
  github: {
    transport: {
      ...stdio('npx', ['-y', '@modelcontextprotocol/server-github'], { GITHUB_TOKEN: '${GITHUB_TOKEN}', PORT: '8080' }),
      cwd: '~/work',
    },
    description: 'Issues and pull requests',
  },
  linear: {
    transport: http('https://mcp.linear.app/mcp', { Authorization: 'Bearer ${env:LINEAR_KEY:-none}' }),
    description: 'Issue trackers',
  },
  registered: {
    transport: {
      ...http(URL_MCP),
      signIn: {
        clientId: 'own',
        clientSecret: '${OWN_SECRET}',
        redirectUri: 'http://127.0.0.1:7000/callback',
        issuer: 'https://auth.example.com',
      },
    },
    description: 'Issue trackers',
  },
  off: OFF,
  broken: 'has neither a command nor a url',
  text: 'is not an object',
}

const claudeUser = {
  sentry: { transport: http('https://mcp.sentry.dev/mcp', { 'X-Key': '${SENTRY_KEY:-k}' }) },
  ...registered({ clientId: 'cla', scope: 'read write', redirectUri: 'http://localhost:3118/callback' }),
  literal: { transport: stdio('sh', ['-c', 'echo ${$}{env:NOT_EXPANDED} $HOME']) },
}

const CASES: [client: string, fixture: string, expected: Record<string, unknown>][] = [
  ['servers-config', 'mcps.json', own],
  ['mcps', 'mcps.json', own],
  ['config-mcp', 'mcps.json', own],
  ['mcp-servers', 'mcps.json', own],
  ['claude-code', 'claude.json', { db: { transport: stdio('pg-mcp', ['${DB_URL}']) }, ...claudeUser }],
  ['claude-desktop', 'claude-desktop.json', { files: { transport: stdio('npx', ['-y', 'fs', '${$}{HOME}']) } }],
  [
    'cursor',
    'cursor.json',
    {
      local: {
        transport: {
          ...stdio('python', ['${workspaceFolder}/tools/server.py', '${$}{OTHER}'], { KEY: '${env:API_KEY}' }),
          envFile: '${workspaceFolder}/.env',
        },
      },
      remote: { transport: http(URL_MCP, { Authorization: 'Bearer ${env:TOKEN}' }) },
      ...registered({
        clientId: '${env:CURSOR_CLIENT}',
        clientSecret: '${env:CURSOR_SECRET}',
        scope: 'read write',
      }),
    },
  ],
  [
    'vscode',
    'vscode.json',
    {
      perplexity: {
        transport: {
          ...stdio('npx', ['-y', 'server-perplexity', '--region=${input:region:-eu}'], {
            PERPLEXITY_API_KEY: '${input:key}',
          }),
          envFile: '${workspaceFolder}/.env',
        },
        inputs: [
          { id: 'key', type: 'promptString', description: 'API key', password: true },
          { id: 'region', type: 'promptString', description: 'Region' },
        ],
      },
      events: { transport: sse(URL_SSE) },
      ...registered({ clientId: 'vsc' }),
    },
  ],
  [
    'windsurf',
    'windsurf.json',
    {
      remote: { transport: http(URL_MCP, { Authorization: 'Bearer ${file:~/token}' }), tools: { exclude: ['drop'] } },
      local: { transport: stdio('npx', ['-y', 'x'], { K: '${env:K}' }) },
    },
  ],
  [
    'codex',
    'codex.toml',
    {
      context7: {
        transport: {
          ...stdio('npx', ['-y', '@upstash/context7-mcp', '${$}{NOT_A_PLACEHOLDER}'], { LOG: '1' }),
          cwd: '/srv',
          inheritEnv: ['LOCAL_TOKEN', 'OTHER_TOKEN'],
        },
        tools: { include: ['search', 'read'], exclude: ['write'] },
        startTimeoutMs: 20_000,
        callTimeoutMs: 45_500,
      },
      figma: {
        transport: http('https://mcp.figma.com/mcp', {
          Authorization: 'Bearer ${env:FIGMA_TOKEN}',
          'X-Region': 'eu',
          'X-Org': '${env:FIGMA_ORG}',
        }),
      },
      ...registered({ clientId: 'cdx', scope: 'read', redirectUri: 'http://127.0.0.1/callback' }),
      off: OFF,
    },
  ],
  [
    'gemini-cli',
    'gemini.json',
    {
      py: {
        transport: {
          ...stdio('python', ['-m', 'server', '${REGION:-$REGION}'], { KEY: '${KEY}', COST: '5$ or less' }),
          cwd: './tools',
        },
        tools: { include: ['a', 'b'], exclude: ['b'] },
        callTimeoutMs: 15_000,
      },
      events: { transport: sse(URL_SSE) },
      stream: { transport: http(URL_MCP, { A: 'b' }) },
      ...registered({
        clientId: 'gem',
        clientSecret: '${GEM_SECRET:-$GEM_SECRET}',
        authorizationUrl: 'https://auth.example.com/authorize',
        tokenUrl: 'https://auth.example.com/token',
        scope: 'read write',
        redirectUri: 'http://localhost:7777/oauth/callback',
      }),
      banned: OFF,
    },
  ],
  [
    'qwen-code',
    'qwen.json',
    {
      search: { transport: stdio('search-mcp', ['--key', '${SEARCH_KEY:-$SEARCH_KEY}']) },
      stream: { transport: http(URL_MCP) },
      banned: OFF,
    },
  ],
  [
    'opencode',
    'opencode-1.json',
    {
      local: {
        transport: stdio('bun', ['x', 'my-mcp', '${$}{PLAIN}'], { KEY: '${env:KEY}', CERT: '${file:./cert.pem}' }),
        startTimeoutMs: 5000,
      },
      remote: { transport: http(URL_MCP, { K: 'Bearer ${env:K}' }) },
      ...registered({
        clientId: 'opc',
        clientSecret: '${env:OPC_SECRET}',
        scope: 'read',
        redirectUri: 'http://127.0.0.1:19876/mcp/oauth/callback',
      }),
      unregistered: { transport: http(URL_MCP) },
      off: OFF,
    },
  ],
  ['opencode', 'opencode-2.jsonc', { local: { transport: stdio('node', ['server.js']) }, off: OFF }],
  [
    'zed',
    'zed.json',
    {
      flat: { transport: stdio('npx', ['-y', 'x', '${$}{LITERAL}'], { A: '1' }) },
      old: { transport: stdio('/opt/server', ['--stdio'], { B: '2' }) },
      remote: { transport: http(URL_MCP, { K: 'v' }) },
      extension: 'is started by an extension of Zed',
    },
  ],
  [
    'antigravity',
    'antigravity.json',
    {
      both: { transport: http(URL_MCP) },
      local: { transport: stdio('npx', ['x']), tools: { exclude: ['rm'] } },
      off: OFF,
    },
  ],
  [
    'goose',
    'goose.yaml',
    {
      developer: 'is built into Goose',
      fetch: {
        transport: {
          ...stdio('uvx', ['mcp-server-fetch'], { PROXY: 'http://localhost:3128' }),
          inheritEnv: ['FETCH_KEY'],
        },
        description: 'Fetches pages',
        callTimeoutMs: 300_000,
      },
      remote: {
        transport: http(URL_MCP, { Authorization: 'Bearer ${REMOTE_TOKEN}' }),
        tools: { include: ['search'] },
      },
      old: OFF,
    },
  ],
  [
    'cline',
    'cline.json',
    {
      local: { transport: stdio('node', ['s.js'], { K: '${env:K}' }), callTimeoutMs: 120_000 },
      stream: { transport: http(URL_MCP, { K: 'v' }) },
      events: { transport: sse(URL_SSE) },
      off: OFF,
    },
  ],
  [
    'copilot-cli',
    'copilot-cli.json',
    {
      local: { transport: stdio('npx', ['x'], { K: '${K}' }) },
      some: { transport: http(URL_MCP), tools: { include: ['get_issue'] } },
      ...registered({ clientId: 'cop', redirectUri: 'http://127.0.0.1:8080/callback' }),
    },
  ],
  [
    'kiro',
    'kiro.json',
    {
      local: { transport: stdio('uvx', ['x'], { K: '${K}' }), tools: { exclude: ['drop'] } },
      ...registered({
        clientId: 'kir',
        clientSecret: '${KIRO_SECRET}',
        scope: 'a',
        redirectUri: 'http://127.0.0.1:7778/oauth/callback',
      }),
      off: OFF,
    },
  ],
  [
    'amp',
    'amp.json',
    {
      local: { transport: stdio('npx', ['x'], { K: '${K}' }), tools: { include: ['read_*'] } },
      remote: { transport: http(URL_MCP, { Authorization: 'Bearer ${T}' }) },
    },
  ],
  [
    'lm-studio',
    'lm-studio.json',
    { hf: { transport: http('https://hf.co/mcp', { Authorization: 'Bearer ${$}{literal}' }) } },
  ],
  [
    'continue',
    'continue.yaml',
    {
      SQLite: { transport: stdio('npx', ['-y', 'mcp-sqlite'], { K: '${$}{literal}' }) },
      remote: { transport: http(URL_MCP, { A: 'b' }) },
      events: { transport: sse(URL_SSE) },
      secret: 'has a secret in it that only Continue knows',
      'server 6': 'is not an object',
    },
  ],
  [
    'crush',
    'crush.json',
    {
      local: { transport: stdio('node', ['s.js', '${REGION}'], { K: '${K}' }), tools: { exclude: ['rm'] } },
      remote: { transport: http(URL_MCP, { Authorization: 'Bearer ${T}' }) },
      events: { transport: sse(URL_SSE) },
      shell: 'has the output of a command in it, which only Crush runs',
      off: OFF,
    },
  ],
  [
    'roo',
    'roo.json',
    {
      local: {
        transport: stdio('node', ['s.js'], { K: '${env:K}' }),
        tools: { exclude: ['rm'] },
        callTimeoutMs: 300_000,
      },
      stream: { transport: http(URL_MCP, { K: 'v' }) },
      events: { transport: sse(URL_SSE) },
      off: OFF,
    },
  ],
  [
    'junie',
    'junie.json',
    {
      local: { transport: stdio('npx', ['x'], { K: '${$}{literal}' }) },
      remote: { transport: http(URL_MCP, { A: 'b' }) },
    },
  ],
  [
    'amazon-q',
    'amazon-q.json',
    {
      local: { transport: stdio('uvx', ['x'], { K: '${env:K}' }), callTimeoutMs: 120_000 },
      remote: { transport: http(URL_MCP, { A: 'b' }) },
      off: OFF,
    },
  ],
  [
    'factory',
    'factory.json',
    {
      local: { transport: stdio('npx', ['x'], { K: '${K}' }), tools: { exclude: ['rm'] } },
      remote: { transport: http(URL_MCP, { A: 'b' }) },
      off: OFF,
    },
  ],
  [
    'warp',
    'warp.json',
    {
      local: { transport: { ...stdio('npx', ['x'], { K: '${K}' }), cwd: '/srv/app' } },
      remote: { transport: http(URL_MCP, { Authorization: 'Bearer ${T}' }) },
    },
  ],
  [
    'augment',
    'augment.json',
    {
      local: { transport: stdio('npx', ['x'], { K: '${K}' }) },
      remote: { transport: http(URL_MCP, { A: 'b' }) },
      events: { transport: sse(URL_SSE) },
    },
  ],
  [
    'trae',
    'trae.json',
    { local: { transport: stdio('npx', ['x'], { K: 'v' }) }, remote: { transport: http(URL_MCP) } },
  ],
  [
    'librechat',
    'librechat.yaml',
    {
      local: {
        transport: stdio('npx', ['-y', 'x'], { K: '${K}' }),
        startTimeoutMs: 10_000,
        callTimeoutMs: 60_000,
      },
      remote: { transport: http(URL_MCP, { Authorization: 'Bearer ${T}' }) },
      old: { transport: sse(URL_SSE) },
      'per-user': 'has a value in it that each user of LibreChat enters there',
    },
  ],
]

describe('readers', () => {
  it.each(CASES)('the config reader %s reads %s', async (client, fixture, expected) => {
    const found = await read(client, fixture)
    expect(found).toEqual(expected)
    expect(Object.keys(found)).toEqual(Object.keys(expected))
  })

  it('every config reader is tested on a real file', () => {
    expect(new Set(CASES.map(([client]) => client))).toEqual(new Set(SOURCE_NAMES))
  })

  it('config readers find the local scope of Claude Code on Windows, with either slash', async () => {
    expect(Object.keys(await read('claude-code', 'claude.json', windows))).toEqual([
      'win',
      'sentry',
      'registered',
      'literal',
    ])
    const elsewhere = { ...linux, cwd: '/home/ann/app/sub' }
    expect(Object.keys(await read('claude-code', 'claude.json', elsewhere))).toEqual([
      'sentry',
      'registered',
      'literal',
    ])
  })

  it('config readers find a server called "servers" in the older format of OpenCode', () => {
    const document = { mcp: { servers: { type: 'local', command: ['x'] } } }
    expect(
      readerOf('opencode')
        .entries(document, linux)
        ?.map(({ name }) => name),
    ).toEqual(['servers'])
  })

  it('config readers find the servers of early versions of VS Code', () => {
    const document = { 'editor.fontSize': 12, mcp: { servers: { a: { command: 'x' } } } }
    expect(
      readerOf('vscode')
        .entries(document, linux)
        ?.map(({ name }) => name),
    ).toEqual(['a'])
  })

  it('config readers leave out what the user of Claude Code has switched off in this folder', () => {
    const off = { disabledMcpServers: ['a', 'c'] }
    const document = {
      mcpServers: { a: { command: 'x' }, b: { command: 'x' } },
      projects: { [linux.cwd]: { ...off, mcpServers: { c: { command: 'x' } } }, '/elsewhere': off },
    }
    const disabled = (cwd: string) =>
      readerOf('claude-code')
        .entries(document, { ...linux, cwd })
        ?.filter(({ entry }) => entry?.disabled === true)
        .map(({ name }) => name)
    expect([disabled(linux.cwd), disabled('/elsewhere'), disabled('/other')]).toEqual([['c', 'a'], ['a'], []])
  })

  it('config readers leave out what Gemini CLI does not allow', () => {
    const document = { mcp: { allowed: ['a'] }, mcpServers: { a: { command: 'x' }, b: { command: 'y' } } }
    const entries = readerOf('gemini-cli').entries(document, linux) ?? []
    expect(entries.map(({ name, entry }) => [name, entry?.disabled])).toEqual([
      ['a', false],
      ['b', true],
    ])
  })

  it('config readers accept any document, and refuse only what is no table of servers', () => {
    const keys = ['mcpServers', 'mcp', 'servers', 'inputs', 'projects', 'command', 'url', 'type', 'oauth', '__proto__']
    const tables = ['context_servers', 'extensions', 'mcp_servers', 'amp.mcpServers']
    const { document } = fc.letrec<{ any: unknown; document: Record<string, unknown> }>((tie) => ({
      any: fc.oneof({ maxDepth: 4, depthSize: 'small' }, fc.jsonValue({ maxDepth: 1 }), tie('document'), fc.string()),
      document: fc.dictionary(fc.constantFrom(...keys, ...tables), tie('any'), { maxKeys: 4 }),
    }))
    let entryCount = 0
    fc.assert(
      fc.property(document, (values) => {
        for (const reader of READERS) {
          for (const { entry } of entriesOrNone(reader, values)) {
            entryCount++
            if (entry !== undefined) toServerBody(entry)
          }
        }
      }),
      { numRuns: 300 },
    )
    expect(entryCount).toBeGreaterThan(100)
  })
})

it('a file that opencode inserts is looked for beside its config file', () => {
  const document = { mcp: { a: { command: ['x', '{file:./key}', '{file:/k}', '{file:~/k}', '{env:K}'] } } }
  const [server] = readerOf('opencode').entries(document, linux, '/home/u/.config/opencode/opencode.json') ?? []
  const args = ['${file:/home/u/.config/opencode/key}', '${file:/k}', '${file:~/k}', '${env:K}']
  expect(server?.entry).toMatchObject({ command: 'x', args })
})

it('headers of Goose are filled in from its own variables and those that it names', () => {
  const headers = { a: '${T}', b: '${ T }', c: '$T', d: 'x $OWN', e: '$OTHER' }
  const one = { type: 'streamable_http', uri: 'https://h', env_keys: ['T'], envs: { OWN: 'own' }, headers }
  const [server] = readerOf('goose').entries({ extensions: { one } }, linux) ?? []
  expect(server?.entry?.headers).toEqual({ a: '${T}', b: '${T}', c: '${T}', d: 'x own', e: '$OTHER' })
})

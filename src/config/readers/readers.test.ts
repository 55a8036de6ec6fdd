// Every reader against a file as its client writes it: what each server becomes, with the placeholders in our syntax.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDocument } from '../config-document.ts'
import { toServerBody } from '../server-entry.ts'
import { chosenReaders, READERS, SOURCE_NAMES } from './index.ts'
import type { HostPaths, Reader } from './reader.ts'

const linux: HostPaths = {
  platform: 'linux',
  home: '/home/ann',
  cwd: '/home/ann/app',
  env: {},
  stateDir: '/home/ann/MCPs',
  serversConfig: [],
}
const mac: HostPaths = {
  ...linux,
  platform: 'darwin',
  home: '/Users/ann',
  cwd: '/Users/ann/app',
  stateDir: '/Users/ann/MCPs',
}
const windows: HostPaths = {
  ...linux,
  platform: 'win32',
  home: 'C:\\Users\\ann',
  cwd: 'C:\\Users\\ann\\app',
  stateDir: 'C:\\Users\\ann\\MCPs',
  env: { APPDATA: 'C:\\Users\\ann\\AppData\\Roaming' },
}

function readerOf(client: string): Reader {
  const reader = READERS.find((one) => one.client === client)
  if (reader === undefined) throw new Error(`There is no reader ${client}`)
  return reader
}

/** The servers of a fixture by name: a definition, or the reason why there is none. */
async function read(client: string, fixture: string, place: HostPaths = linux): Promise<Record<string, unknown>> {
  const file = fileURLToPath(new URL(`../../../test/fixtures/config/${fixture}`, import.meta.url))
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
          ...stdio('python', ['-m', 'server', '${REGION}'], { KEY: '${KEY}', COST: '5$ or less' }),
          cwd: './tools',
        },
        tools: { include: ['a', 'b'], exclude: ['b'] },
        callTimeoutMs: 15_000,
      },
      events: { transport: sse(URL_SSE) },
      stream: { transport: http(URL_MCP, { A: 'b' }) },
      ...registered({
        clientId: 'gem',
        clientSecret: '${GEM_SECRET}',
        scope: 'read write',
        redirectUri: 'http://localhost:7777/oauth/callback',
      }),
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
]

describe('readers', () => {
  it.each(CASES)('%s reads %s', async (client, fixture, expected) => {
    const found = await read(client, fixture)
    expect(found).toEqual(expected)
    expect(Object.keys(found)).toEqual(Object.keys(expected))
  })

  it('readers are all tested on a file', () => {
    expect(new Set(CASES.map(([client]) => client))).toEqual(new Set(SOURCE_NAMES))
  })

  it('readers find the local scope of Claude Code on Windows, whichever slash is written', async () => {
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

  it('readers find a server called "servers" in the older shape of OpenCode', () => {
    const document = { mcp: { servers: { type: 'local', command: ['x'] } } }
    expect(
      readerOf('opencode')
        .entries(document, linux)
        ?.map(({ name }) => name),
    ).toEqual(['servers'])
  })

  it('readers find the servers of early versions of VS Code', () => {
    const document = { 'editor.fontSize': 12, mcp: { servers: { a: { command: 'x' } } } }
    expect(
      readerOf('vscode')
        .entries(document, linux)
        ?.map(({ name }) => name),
    ).toEqual(['a'])
  })

  it('readers leave out what Gemini CLI does not allow', () => {
    const document = { mcp: { allowed: ['a'] }, mcpServers: { a: { command: 'x' }, b: { command: 'y' } } }
    const entries = readerOf('gemini-cli').entries(document, linux) ?? []
    expect(entries.map(({ name, entry }) => [name, entry?.disabled])).toEqual([
      ['a', false],
      ['b', true],
    ])
  })

  it('readers take any document at all', () => {
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
          for (const { entry } of reader.entries(values, linux) ?? []) {
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

describe('places', () => {
  const USER: Record<string, [linux: string[], mac: string[], windows: string[]]> = {
    'servers-config': [[], [], []],
    mcps: [['/home/ann/MCPs'], ['/Users/ann/MCPs'], ['C:\\Users\\ann\\MCPs']],
    'config-mcp': [
      ['/home/ann/.config/mcp/servers'],
      ['/Users/ann/.config/mcp/servers'],
      ['C:\\Users\\ann\\.config\\mcp\\servers'],
    ],
    'claude-code': [
      ['/home/ann/.claude.json', '/home/ann/.claude/claude_code_config.json'],
      [
        '/Users/ann/.claude.json',
        '/Users/ann/.claude/claude_code_config.json',
        '/Users/ann/Library/Application Support/Claude Code/claude_code_config.json',
        '/Users/ann/Library/Application Support/Claude/claude_code_config.json',
      ],
      ['C:\\Users\\ann\\.claude.json', 'C:\\Users\\ann\\.claude\\claude_code_config.json'],
    ],
    'claude-desktop': [
      ['/home/ann/.config/Claude/claude_desktop_config.json'],
      ['/Users/ann/Library/Application Support/Claude/claude_desktop_config.json'],
      ['C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json'],
    ],
    cursor: [['/home/ann/.cursor/mcp.json'], ['/Users/ann/.cursor/mcp.json'], ['C:\\Users\\ann\\.cursor\\mcp.json']],
    vscode: [
      [
        '/home/ann/.config/Code/User/mcp.json',
        '/home/ann/.config/Code/User/settings.json',
        '/home/ann/.config/Code - Insiders/User/mcp.json',
        '/home/ann/.config/Code - Insiders/User/settings.json',
      ],
      [
        '/Users/ann/Library/Application Support/Code/User/mcp.json',
        '/Users/ann/Library/Application Support/Code/User/settings.json',
        '/Users/ann/Library/Application Support/Code - Insiders/User/mcp.json',
        '/Users/ann/Library/Application Support/Code - Insiders/User/settings.json',
      ],
      [
        'C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\mcp.json',
        'C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\settings.json',
        'C:\\Users\\ann\\AppData\\Roaming\\Code - Insiders\\User\\mcp.json',
        'C:\\Users\\ann\\AppData\\Roaming\\Code - Insiders\\User\\settings.json',
      ],
    ],
    windsurf: [
      ['/home/ann/.codeium/windsurf/mcp_config.json'],
      ['/Users/ann/.codeium/windsurf/mcp_config.json'],
      ['C:\\Users\\ann\\.codeium\\windsurf\\mcp_config.json'],
    ],
    codex: [
      ['/home/ann/.codex/config.toml'],
      ['/Users/ann/.codex/config.toml'],
      ['C:\\Users\\ann\\.codex\\config.toml'],
    ],
    'gemini-cli': [
      ['/home/ann/.gemini/settings.json', '/etc/gemini-cli/settings.json'],
      ['/Users/ann/.gemini/settings.json', '/Library/Application Support/GeminiCli/settings.json'],
      ['C:\\Users\\ann\\.gemini\\settings.json', 'C:\\ProgramData\\gemini-cli\\settings.json'],
    ],
    opencode: [
      [
        '/home/ann/.config/opencode/opencode.json',
        '/home/ann/.config/opencode/opencode.jsonc',
        '/home/ann/.opencode.json',
      ],
      [
        '/Users/ann/.config/opencode/opencode.json',
        '/Users/ann/.config/opencode/opencode.jsonc',
        '/Users/ann/.opencode.json',
      ],
      [
        'C:\\Users\\ann\\.config\\opencode\\opencode.json',
        'C:\\Users\\ann\\.config\\opencode\\opencode.jsonc',
        'C:\\Users\\ann\\.opencode.json',
      ],
    ],
    zed: [
      ['/home/ann/.config/zed/settings.json'],
      ['/Users/ann/.config/zed/settings.json'],
      ['C:\\Users\\ann\\AppData\\Roaming\\Zed\\settings.json'],
    ],
    antigravity: [
      ['/home/ann/.gemini/config/mcp_config.json', '/home/ann/.gemini/antigravity/mcp_config.json'],
      ['/Users/ann/.gemini/config/mcp_config.json', '/Users/ann/.gemini/antigravity/mcp_config.json'],
      ['C:\\Users\\ann\\.gemini\\config\\mcp_config.json', 'C:\\Users\\ann\\.gemini\\antigravity\\mcp_config.json'],
    ],
    goose: [
      ['/home/ann/.config/goose/config.yaml'],
      ['/Users/ann/.config/goose/config.yaml'],
      ['C:\\Users\\ann\\AppData\\Roaming\\Block\\goose\\config\\config.yaml'],
    ],
    'copilot-cli': [
      ['/home/ann/.copilot/mcp-config.json'],
      ['/Users/ann/.copilot/mcp-config.json'],
      ['C:\\Users\\ann\\.copilot\\mcp-config.json'],
    ],
    kiro: [
      ['/home/ann/.kiro/settings/mcp.json'],
      ['/Users/ann/.kiro/settings/mcp.json'],
      ['C:\\Users\\ann\\.kiro\\settings\\mcp.json'],
    ],
    amp: [
      ['/home/ann/.config/amp/settings.json'],
      ['/Users/ann/.config/amp/settings.json'],
      ['C:\\Users\\ann\\.config\\amp\\settings.json'],
    ],
    'lm-studio': [
      ['/home/ann/.lmstudio/mcp.json'],
      ['/Users/ann/.lmstudio/mcp.json'],
      ['C:\\Users\\ann\\.lmstudio\\mcp.json'],
    ],
    'mcp-servers': [[], [], []],
  }

  const userFiles = (client: string, place: HostPaths): string[] =>
    readerOf(client)
      .locations(place)
      .filter(({ scope }) => scope === 'user')
      .map(({ path }) => path)

  it.each(Object.entries(USER))('reads the places of the user for %s', (client, expected) => {
    expect([linux, mac, windows].map((place) => userFiles(client, place))).toEqual(expected)
  })

  it('reads the places of the user for cline', () => {
    const tail = 'User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json'
    expect(userFiles('cline', linux)).toContain(`/home/ann/.config/Code/${tail}`)
    expect(userFiles('cline', mac)).toContain(`/Users/ann/Library/Application Support/Cursor/${tail}`)
    expect(userFiles('cline', windows)).toContain(
      `C:\\Users\\ann\\AppData\\Roaming\\Code\\${tail.replaceAll('/', '\\')}`,
    )
    expect(userFiles('cline', linux)).toContain('/home/ann/.cline/data/settings/cline_mcp_settings.json')
  })

  it.each([
    ['CLAUDE_CONFIG_DIR', 'claude-code', '/x/.claude.json'],
    ['CODEX_HOME', 'codex', '/x/config.toml'],
    ['OPENCODE_CONFIG', 'opencode', '/x'],
    ['CLINE_MCP_SETTINGS_PATH', 'cline', '/x'],
    ['COPILOT_HOME', 'copilot-cli', '/x/mcp-config.json'],
    ['GEMINI_CLI_SYSTEM_SETTINGS_PATH', 'gemini-cli', '/x'],
    ['XDG_CONFIG_HOME', 'zed', '/x/zed/settings.json'],
    ['XDG_CONFIG_HOME', 'claude-desktop', '/x/Claude/claude_desktop_config.json'],
  ])('reads the place that %s names, for %s', (variable, client, expected) => {
    expect(userFiles(client, { ...linux, env: { [variable]: '/x' } })).toContain(expected)
  })

  it('looks for places of a project in the current directory only', () => {
    const files = READERS.flatMap((reader) => reader.locations(linux)).filter(({ scope }) => scope === 'project')
    expect(files.map(({ path }) => path.slice('/home/ann/app/'.length))).toEqual([
      '.mcp.json',
      '.claude/claude_code_config.json',
      'claude_code_config.json',
      'claude_desktop_config.json',
      '.cursor/mcp.json',
      '.vscode/mcp.json',
      '.vscode/settings.json',
      '.codex/config.toml',
      '.gemini/settings.json',
      'opencode.json',
      'opencode.jsonc',
      '.opencode/opencode.json',
      '.opencode/opencode.jsonc',
      '.zed/settings.json',
      '.github/mcp.json',
      '.kiro/settings/mcp.json',
      '.amp/settings.json',
      'mcp-servers',
    ])
    expect(files.every(({ path }) => path.startsWith('/home/ann/app/'))).toBe(true)
  })
})

describe('chosenReaders', () => {
  const names = (...sources: string[]): string[] => chosenReaders(sources).map(({ client }) => client)

  it('chooses all readers unless something is said', () => {
    expect(names()).toEqual(SOURCE_NAMES)
    expect(names('all')).toEqual(SOURCE_NAMES)
  })

  it('chooses the readers named, in order of precedence', () => {
    expect(names('cursor', 'mcps')).toEqual(['mcps', 'cursor'])
  })

  it('chooses all readers but those left out', () => {
    expect(names('-cursor')).toEqual(SOURCE_NAMES.filter((name) => name !== 'cursor'))
    expect(names('mcps', 'all', '-zed')).toEqual(SOURCE_NAMES.filter((name) => name !== 'zed'))
    expect(names('mcps', 'cursor', '-cursor')).toEqual(['mcps'])
  })
})

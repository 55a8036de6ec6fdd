// What the readers make of the files in core's test/fixtures/config: the server of each name, or why it is skipped.

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

export const CASES: [client: string, fixture: string, expected: Record<string, unknown>][] = [
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

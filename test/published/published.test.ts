// @module-tag whole: it runs published servers
// Connects to published servers in exact versions over stdio and lists their tools, no more. Their settings lead
// nowhere, and nothing is called, so that none has a reason to use the network. They are large, so they are installed
// separately:
//   npm ci --prefix test/published --ignore-scripts
// The reference servers are the project's own. What the model is shown of every tool is kept in `signatures/`.
// The zod beside them is the version that server-gitlab gets when installed alone, with which its schemas are empty.
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toolLine } from '../../packages/core/src/calls/catalog/arguments/tool-line.ts'
import { CatalogTool } from '../../packages/core/src/calls/catalog/model/catalog-tool.ts'
import { parametersText, SHORT, signatureOf } from '../../packages/core/src/calls/catalog/signature/signature.ts'
import type { ServerDefinition, StdioServer } from '../../packages/core/src/config/entries/server-definition.ts'
import type { UpstreamTool } from '../../packages/core/src/upstream/upstream.ts'
import { program, published } from '@sandbridge/core/test/upstream/definitions.ts'
import { open } from '@sandbridge/core/test/upstream/support.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'

const FOLDER = join(import.meta.dirname, 'node_modules')
const VERSIONS = (
  JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
).dependencies

interface Published {
  package: string
  file: string
  args?: string[]
  env?: Record<string, string>
  toolCount: number
  /** One of its tools, as a signature. */
  tool: [name: string, parameters: string]
  isModern: boolean
}

const SERVERS: Published[] = [
  {
    package: '@playwright/mcp',
    file: 'cli.js',
    args: ['--headless', '--isolated'],
    toolCount: 25,
    tool: ['browser_resize', '*, width: float, height: float'],
    isModern: false,
  },
  {
    package: '@upstash/context7-mcp',
    file: 'dist/index.js',
    args: ['--transport', 'stdio'],
    toolCount: 2,
    tool: ['query-docs', '*, libraryId: str, query: str'],
    isModern: true,
  },
  {
    package: 'mongodb-mcp-server',
    file: 'dist/esm/index.js',
    env: {
      MDB_MCP_TELEMETRY: 'disabled',
      MDB_MCP_CONNECTION_STRING: 'mongodb://127.0.0.1:1/',
      MDB_MCP_LOGGERS: 'stderr',
    },
    toolCount: 31,
    tool: ['collection-indexes', '*, connectionId: str, database: str, collection: str'],
    isModern: true,
  },
  {
    package: '@modelcontextprotocol/server-gitlab',
    file: 'dist/index.js',
    env: { GITLAB_PERSONAL_ACCESS_TOKEN: 'none', GITLAB_API_URL: 'http://127.0.0.1:1/' },
    toolCount: 9,
    tool: ['create_issue', '**arguments'],
    isModern: false,
  },
  {
    package: '@modelcontextprotocol/server-sequential-thinking',
    file: 'dist/index.js',
    toolCount: 1,
    tool: ['sequentialthinking', '*, thought: str, nextThoughtNeeded: bool'],
    isModern: false,
  },
]

/** Skips the test, with the reason, when the servers are not installed. */
function definitionOf(server: Published): ServerDefinition {
  const folder = join(FOLDER, server.package)
  if (!existsSync(folder)) skip('not installed: npm ci --prefix test/published --ignore-scripts')
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  expect(version).toBe(VERSIONS[server.package])
  const definition = program(server.package, join(folder, server.file), ...(server.args ?? []))
  Object.assign(definition.transport, { env: server.env ?? {} })
  return definition
}

function expectTools(server: Published, tools: UpstreamTool[]): void {
  expect(tools).toHaveLength(server.toolCount)
  for (const tool of tools) {
    const schema = tool.inputSchema as { properties?: object }
    const signature = signatureOf(schema)
    expect(signature.parameters.map(({ trueName }) => trueName).toSorted()).toEqual(
      Object.keys(schema.properties ?? {}).toSorted(),
    )
    expect(parametersText(signature, SHORT)).toMatch(/^(?:\*, .+|\*\*arguments|)$/)
  }
  const [name, parameters] = server.tool
  const { inputSchema } = tools.find((tool) => tool.name === name)!
  expect(parametersText(signatureOf(inputSchema), SHORT).startsWith(parameters)).toBe(true)
}

const REFERENCE: [string, () => ServerDefinition][] = [
  ['everything', () => published('everything')],
  ['filesystem', () => published('filesystem', tmpdir())],
  ['memory', () => published('memory')],
]
const INSTALLED = SERVERS.map((server) => [server.package, () => definitionOf(server)] as const)

it.each([...REFERENCE, ...INSTALLED])('the signatures of %s stay what they were', async (name, definition) => {
  const tools = await open([definition()]).listTools(name)
  // Those of MongoDB that need Docker are there where it is.
  const lines = tools
    .filter((tool) => !tool.name.startsWith('atlas-local-'))
    .map((tool) => `${toolLine(new CatalogTool(name, 'server', tool.name, tool), 'full')}\n`)
  const file = `signatures/${name.replace(/^@/, '').replace('/', '-')}.txt`
  await expect(lines.join('')).toMatchFileSnapshot(file)
})

describe.each(SERVERS)('$package', (server) => {
  it('the published server $package is listed, every tool with a signature, and nothing worse than a warning', async () => {
    const upstreams = open([definitionOf(server)])
    expectTools(server, await upstreams.listTools(server.package))
    expect(upstreams.logged.filter((line) => / error /.test(line))).toEqual([])
    expect(upstreams.logged.join('\n')).toContain('era="legacy"')
  })
})

describe.each(SERVERS.filter(({ isModern }) => isModern))('$package', (server) => {
  it('the published server $package is listed in the same way in revision 2026-07-28', async () => {
    const definition = definitionOf(server)
    const upstreams = open([definition], {
      reached: { of: () => ({ via: 'stdio', era: 'modern', at: Date.now() }), keep: () => {} },
    })
    expectTools(server, await upstreams.listTools(server.package))
    expect(upstreams.logged.join('\n')).toContain('era="modern"')
  })
})

it('the published server for sequential thinking can be called', async () => {
  const server = SERVERS.find(({ package: name }) => name.endsWith('sequential-thinking'))!
  const upstreams = open([definitionOf(server)])
  const thought = { thought: 'a first one', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }
  const { structuredContent } = await upstreams.callTool(server.package, 'sequentialthinking', thought)
  expect(structuredContent).toMatchObject({ thoughtNumber: 1, totalThoughts: 2, thoughtHistoryLength: 1 })
})

it('schemas for which a strict client drops every tool of a server drop no tool here', async () => {
  const server = SERVERS.find(({ package: name }) => name.endsWith('server-gitlab'))!
  const { command, args, env } = definitionOf(server).transport as StdioServer
  // The control: the client package itself refuses the list.
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }))
  await expect(client.listTools()).rejects.toThrow()
})

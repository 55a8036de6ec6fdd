// This file verifies every reader against a file in its client's format: the resulting servers, with placeholders in
// the bridge's syntax.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseDocument } from '../../../core/src/config/formats/config-document.ts'
import { type ServerBody, toServerBody } from '../../../core/src/config/entries/server-entry.ts'
import { allowsTool, unmatchedNames } from '../../../core/src/config/entries/tool-filter.ts'
import { chosenReaders, SOURCE_NAMES } from '../../../core/src/config/readers/index.ts'
import { type HostPaths, type NamedEntry, type Reader, TableRefused } from '../../../core/src/config/readers/reader.ts'
import { linux, windows } from '@sandbridge/core/test/support/sandboxes/host-paths.ts'
import { CASES } from '../../test/reader-cases.ts'

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
  expect(Object.keys(await read('claude-code', 'claude.json', elsewhere))).toEqual(['sentry', 'registered', 'literal'])
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

it.each(['gemini-cli', 'qwen-code'])(
  'the config reader %s reads variables as its client on any system writes them',
  (client) => {
    const document = { mcpServers: { a: { command: '%HOME%/x', args: ['$A', '${B}', '100%', '50% of %'] } } }
    const [{ entry } = { entry: undefined }] = readerOf(client).entries(document, windows) ?? []
    expect(entry).toMatchObject({
      command: '${HOME:-%HOME%}/x',
      args: ['${A:-$A}', '${B}', '100%', '50% of %'],
    })
  },
)

it('config readers find the local scope of Claude Code in a folder of a share, as Claude Code writes it', () => {
  const document = { projects: { '//wsl.localhost/Ubuntu/home/ann/app': { mcpServers: { own: { command: 'x' } } } } }
  const cwd = '\\\\wsl.localhost\\Ubuntu\\home\\ann\\app'
  expect(
    readerOf('claude-code')
      .entries(document, { ...windows, cwd })
      ?.map(({ name }) => name),
  ).toEqual(['own'])
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

it.each<[object, object, string[]]>([
  [{ 'a*': false }, {}, []],
  [{ a_x: false, a_y: true }, {}, ['y', 'z', 'x_y']],
  [{ '*': false, a_x: true }, {}, ['x']],
  [{ 'a_*': false, '*_y': true }, {}, ['y', 'x_y']],
  [{}, { 'a_x*': 'deny', bash: 'deny', a_y: 'ask' }, ['y', 'z']],
  [{ 'a_*': false }, { 'a_*': 'allow' }, ['x', 'y', 'z', 'x_y']],
  [{ b_x: false, write: false }, { edit: { '*': 'deny' } }, ['x', 'y', 'z', 'x_y']],
])('tools that opencode switches off for all its agents are off: %j %j', (tools, permission, left) => {
  const [server] = readerOf('opencode').entries({ mcp: { a: { command: ['x'] } }, tools, permission }, linux) ?? []
  const { body } = toServerBody(server!.entry!) as { body: ServerBody }
  const all = ['x', 'y', 'z', 'x_y']
  expect(all.filter((tool) => allowsTool({ ...body, name: 'a' }, tool))).toEqual(left)
})

it.each<[client: string, key: string, outside: object, left: string[] | 'off']>([
  ['amp', 'amp.mcpServers', { 'amp.tools.disable': ['mcp__a__x', 'builtin:y', 'mcp__b__z'] }, ['y', 'z']],
  ['amp', 'amp.mcpServers', { 'amp.tools.disable': ['y', 'mcp__*__z'] }, ['x']],
  ['amp', 'amp.mcpServers', { 'amp.tools.disable': ['mcp__*'] }, []],
  ['amp', 'amp.mcpServers', { 'amp.permissions': [{ tool: 'mcp__a__*', action: 'reject', matches: { q: 'd' } }] }, []],
  [
    'amp',
    'amp.mcpServers',
    { 'amp.permissions': ['mcp__a__y', '*'].map((tool, at) => ({ tool, action: ['ask', 'reject'][at] })) },
    ['y'],
  ],
  ['amp', 'amp.mcpServers', { 'amp.mcpPermissions': [{ matches: { command: '/^x/' }, action: 'reject' }] }, 'off'],
  [
    'amp',
    'amp.mcpServers',
    {
      'amp.mcpPermissions': ['x s*', '*'].map((command, at) => ({
        matches: { command },
        action: ['allow', 'reject'][at],
      })),
    },
    ['x', 'y', 'z'],
  ],
  ['amp', 'amp.mcpServers', { 'amp.mcpPermissions': [{ matches: { url: '*' }, action: 'reject' }] }, ['x', 'y', 'z']],
  [
    'zed',
    'context_servers',
    { agent: { tool_permissions: { tools: { 'mcp:a:x': { default: 'deny' } } } } },
    ['y', 'z'],
  ],
  [
    'zed',
    'context_servers',
    { agent: { tool_permissions: { default: 'deny', tools: { 'mcp:a:x': { default: 'confirm' } } } } },
    ['x'],
  ],
  ['gemini-cli', 'mcpServers', { tools: { exclude: ['mcp_a_x', 'a__y', 'b__z'] } }, ['z']],
  ['gemini-cli', 'mcpServers', { tools: { exclude: ['x', 'run_shell_command(rm -rf)'] } }, ['y', 'z']],
  ['gemini-cli', 'mcpServers', { admin: { mcp: { enabled: false } } }, 'off'],
  ['qwen-code', 'mcpServers', { permissions: { deny: ['mcp__a__x', 'Bash(rm *)'] } }, ['y', 'z']],
])('what the file of %s says outside of %s counts: %j', (client, key, outside, left) => {
  const [server] = readerOf(client).entries({ [key]: { a: { command: 'x', args: ['s'] } }, ...outside }, linux) ?? []
  const given = toServerBody(server!.entry!)
  const allowed = (body: ServerBody) => ['x', 'y', 'z'].filter((tool) => allowsTool({ ...body, name: 'a' }, tool))
  expect('body' in given ? allowed(given.body) : 'off').toEqual(left)
  // What the file says of all tools is no mistake in the entry of a server that has none of them.
  if ('body' in given) expect(unmatchedNames({ ...given.body, name: 'a' }, ['x', 'y', 'z'])).toEqual([])
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

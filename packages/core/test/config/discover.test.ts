// This file verifies discovery on real files: the effect of invalid files, which names win, what is trusted, and that
// no secret leaves a definition.
import { execFileSync } from 'node:child_process'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { MAX_CONFIG_FILE_BYTES } from '../../src/config/config-file.ts'
import { discoverServers } from '../../src/config/discover.ts'
import type { DiscoverOptions } from '../../src/config/discover.ts'
import type { DiscoveredServers } from '../../src/config/entries/server-definition.ts'
import { readSettings } from '../../src/config/settings/settings.ts'
import { createTrustStore, textHash } from '../../src/config/trust.ts'
import { needsPosix, skip } from '../support/suite/needs.ts'
import { newFolder } from '../support/machine/new-folder.ts'

let root: string
let home: string
let project: string

beforeEach(async () => {
  root = newFolder()
  home = path.join(root, 'home')
  project = path.join(root, 'project')
  await mkdir(path.join(home, 'MCPs'), { recursive: true })
  await mkdir(project)
})

async function write(folder: string, file: string, content: unknown): Promise<string> {
  const full = path.join(folder, file)
  await mkdir(path.dirname(full), { recursive: true })
  const data = typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content)
  await writeFile(full, data)
  return full
}

const one = (name: string, command: string): object => ({ mcpServers: { [name]: { command } } })

function discover(env: Record<string, string> = {}, more: Partial<DiscoverOptions> = {}): Promise<DiscoveredServers> {
  const settings = readSettings(env, { home })
  return discoverServers({ settings, env, home, cwd: project, ownPaths: [], platform: 'linux', ...more })
}

const names = (found: DiscoveredServers): string[] => found.servers.map(({ name }) => name)
const reasons = (found: DiscoveredServers): Record<string, string> =>
  Object.fromEntries(found.skipped.map(({ file, reason }) => [path.basename(file), reason]))

describe('the files of a project that nobody trusts', () => {
  const entry = (name: string): string => JSON.stringify(one(name, 'x'))
  const left = /^is left out: the files of a project/

  it('are read up to a sum, whatever their number', async () => {
    const big = `${entry('big').slice(0, -1)}${' '.repeat(200_000)}}`
    await write(project, 'mcp-servers/a.json', big)
    await write(project, 'mcp-servers/b.json', big)
    await write(project, 'mcp-servers/c.json', entry('small'))
    const found = await discover()
    expect(found.untrusted.map(({ name }) => name)).toEqual(['big', 'small'])
    expect(reasons(found)).toEqual({ 'b.json': expect.stringMatching(left) })
    // Control: the user's own files have no such sum.
    await write(home, 'MCPs/a.json', big.replace('big', 'one'))
    await write(home, 'MCPs/b.json', big.replace('big', 'two'))
    expect(names(await discover())).toEqual(['one', 'two'])
  })

  it('are read up to a number, and so are their servers', async () => {
    for (let at = 0; at < 300; at += 1) await write(project, `mcp-servers/f${at}.json`, entry(`f${at}`))
    const many = await discover()
    expect(many.untrusted).toHaveLength(200)
    expect(reasons(many)).toEqual({ 'mcp-servers': 'has 300 files; the first 200 are read' })
    const servers = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`s${at}`, { command: 'x' }]))
    await rm(path.join(project, 'mcp-servers'), { recursive: true })
    await write(project, 'mcp-servers/a.json', { mcpServers: servers })
    await write(project, 'mcp-servers/b.json', { mcpServers: servers })
    const two = await discover()
    expect(two.untrusted).toHaveLength(400)
    expect(reasons(two)).toEqual({ 'b.json': 'is left out: a project may have 500 servers' })
  })

  it('that insert more than the sum are left out, as what they insert could change after it was trusted', async () => {
    const inserts = (file: string): object => ({
      mcpServers: { a: { command: 'x', envFile: path.join(project, file) } },
    })
    await write(project, 'small.txt', 'x')
    await write(project, 'big.txt', 'x'.repeat(300_000))
    await write(project, 'mcp-servers/a.json', inserts('small.txt'))
    await write(project, 'mcp-servers/b.json', inserts('big.txt'))
    const found = await discover()
    expect(found.untrusted.map(({ covers }) => Object.keys(covers ?? {}).map((file) => path.basename(file)))).toEqual([
      ['small.txt'],
    ])
    expect(reasons(found)).toEqual({ 'b.json': 'inserts files that are left out: they are too large' })
  })

  it('and that are nested without end are not parsed', async () => {
    await write(project, 'mcp-servers/a.json', '['.repeat(100_000))
    await write(home, 'MCPs/a.json', '['.repeat(4_900_000))
    for (const reason of Object.values(reasons(await discover()))) expect(reason).toBe('is nested too deeply')
  })
})

it('a bad file of servers skips only its own servers', async () => {
  const mcps = path.join(home, 'MCPs')
  await write(mcps, 'good.json', one('good', 'x'))
  await write(mcps, 'comments.json', '// yes\n{"mcpServers": {"comments": {"command": "x",},},}')
  await write(mcps, 'copied.json', '\u200B# yes: "\n{\u00A0"mcpServers": {"copied": {"command": "x#\u00A0;"}}};\n')
  await write(mcps, 'half.json', '{"mcpServers": {"half": {"comm')
  await write(mcps, 'list.json', '[1]')
  await write(mcps, 'deep.json', '['.repeat(200_000))
  await write(mcps, 'deep-entry.json', `{"mcpServers": {"a": {"env": ${'['.repeat(20_000)}${']'.repeat(20_000)}}}}`)
  await write(mcps, 'other.json', '{"servers": {}}')
  await write(mcps, 'empty.json', '')
  await write(mcps, 'huge.json', ' '.repeat(MAX_CONFIG_FILE_BYTES + 1))
  await write(mcps, 'latin1.json', Buffer.from('{"mcpServers": {"caf\xe9": {"command": "x"}}}', 'latin1'))
  await write(mcps, 'bom.json', `\uFEFF${JSON.stringify(one('bom', 'x'))}`)
  await write(mcps, 'utf16.json', Buffer.from(`\uFEFF${JSON.stringify(one('utf16', 'x'))}`, 'utf16le'))
  await write(mcps, 'notes.txt', 'not a config file')
  await write(mcps, '.hidden.json', one('hidden', 'x'))
  await mkdir(path.join(mcps, 'folder.json'))

  const found = await discover({ MCP_SERVERS_CONFIG: path.join(home, 'missing.json') })
  expect(names(found)).toEqual(['bom', 'comments', 'copied', 'good', 'utf16'])
  const copied = found.servers.find(({ name }) => name === 'copied')
  expect(copied?.transport).toMatchObject({ command: 'x#\u00A0;' })
  expect(reasons(found)).toEqual({
    'missing.json': 'does not exist',
    'deep.json': 'is nested too deeply',
    'deep-entry.json': 'is nested too deeply',
    'empty.json': 'has no "mcpServers"; expected {"mcpServers": {"NAME": {"command": "…"}}}',
    'folder.json': 'is a folder, not a file',
    'half.json': 'is not valid JSON: a text in quotes does not end at line 1, column 26',
    'huge.json': expect.stringContaining('is too large'),
    'latin1.json': 'is not UTF-8 text; save it as UTF-8',
    'list.json': 'holds a list or a single value, not an object',
    'other.json': 'has no "mcpServers"; expected {"mcpServers": {"NAME": {"command": "…"}}}',
  })
})

it('a link that leads nowhere and a named pipe in place of a file of servers skip only that file', async () => {
  needsPosix('links take a privilege of Windows, and it has no named pipes that are files')
  const mcps = path.join(home, 'MCPs')
  await write(mcps, 'good.json', one('good', 'x'))
  await symlink('loop.json', path.join(mcps, 'loop.json'))
  await symlink('gone', path.join(mcps, 'dangling.json'))
  execFileSync('mkfifo', [path.join(mcps, 'pipe.json')])
  const found = await discover()
  expect(names(found)).toEqual(['good'])
  expect(reasons(found)).toEqual({
    'dangling.json': 'is a broken symbolic link',
    'loop.json': 'is a symbolic link that leads back to itself',
    'pipe.json': 'is not an ordinary file',
  })
})

it.each(['', '[]', '{}', '{"mcpServers": []}', '{"mcpServers": "x"}', '{"mcpServers": null}'])(
  'a file of servers without an object of servers counts as one that cannot be read: %j',
  async (text) => {
    await write(path.join(home, 'MCPs'), 'broken.json', text)
    await write(path.join(home, 'MCPs'), 'none.json', '{"mcpServers": {}}')
    const { skipped } = await discover()
    expect(skipped).toMatchObject([{ file: path.join(home, 'MCPs/broken.json'), kind: 'unread' }])
    expect(skipped[0]!.reason).toMatch(/expected|not an object/)
  },
)

it.each(['', '{}', '{"theme": "dark"}', '{"mcpServers": null}', '{"mcpServers": {}}'])(
  "another client's file without servers is nothing to report, one with something else in their place is: %j",
  async (text) => {
    await write(path.join(home, '.cursor'), 'mcp.json', text)
    expect((await discover()).skipped).toEqual([])
    await write(path.join(home, '.cursor'), 'mcp.json', '{"mcpServers": ["x"]}')
    const reason = 'has a list in place of its servers; expected an object such as {"NAME": {"command": "…"}}'
    expect((await discover()).skipped).toEqual([{ file: path.join(home, '.cursor/mcp.json'), reason, kind: 'unread' }])
  },
)

it('a project may keep other JSON files in its folder mcp-servers', async () => {
  await write(path.join(project, 'mcp-servers'), 'package.json', '{"name": "x"}')
  expect((await discover()).skipped).toEqual([
    { file: path.join(project, 'mcp-servers/package.json'), reason: expect.stringContaining('has no') as string },
  ])
})

it('a file of servers whose name has a line break is read as any other', async () => {
  needsPosix('Windows has no such names')
  await write(path.join(home, 'MCPs'), 'two\nlines.json', one('good', 'x'))
  expect(names(await discover())).toEqual(['good'])
})

it('rules, also those of a profile, are no file of servers', async () => {
  const mcps = path.join(home, 'MCPs')
  for (const name of ['permissions.json', 'permissions-work.json']) await write(mcps, name, { rules: [] })
  await write(mcps, 'permission.json', { rules: [] })
  expect(Object.keys(reasons(await discover()))).toEqual(['permission.json'])
})

it('a file of servers that others can read is reported', async () => {
  needsPosix('Windows has no modes')
  if (process.getuid!() === 0) skip('root may read everything')
  await writeFile(path.join(home, 'MCPs', 'mine.json'), '{}', { mode: 0o000 })
  expect(reasons(await discover())).toEqual({ 'mine.json': 'cannot be read: permission denied' })
})

it('a file of servers that cannot be read is reported, whatever the file system says', async () => {
  const fileSystem = {
    readdir: () => Promise.resolve(['a.json', 'b.json', 'c.json']),
    readFile: (file: string) => {
      if (file.endsWith('b.json')) return Promise.resolve(Buffer.from(JSON.stringify(one('b', 'x'))))
      const code = file.endsWith('a.json') ? 'EACCES' : 'EIO'
      return Promise.reject(Object.assign(new Error(`${code}: secret`), { code }))
    },
  }
  const found = await discover({ MCP_BRIDGE_SOURCES: 'mcps' }, { fileSystem })
  expect(names(found)).toEqual(['b'])
  expect(reasons(found)).toEqual({ 'a.json': 'cannot be read: permission denied', 'c.json': 'cannot be read: EIO' })
})

it('a bad file of servers in TOML or YAML skips only its own servers', async () => {
  await write(home, '.codex/config.toml', '[mcp_servers.x]\ncommand = CANARY')
  await write(home, '.config/goose/config.yaml', 'extensions:\n  a: [CANARY\n  b: "')
  await write(home, '.cursor/mcp.json', one('good', 'x'))
  const found = await discover()
  expect(names(found)).toEqual(['good'])
  expect(reasons(found)).toEqual({
    'config.toml': expect.stringMatching(/^is not valid TOML, at line 2, column \d+$/),
    'config.yaml': expect.stringMatching(/^is not valid YAML: [A-Z_]+ at line \d+, column \d+$/),
  })
})

it('a file of servers cannot take minutes with many keys, anchors and aliases of YAML', async () => {
  const many = (length: number, line: (index: number) => string) => Array.from({ length }, (_, at) => line(at))
  const reasonsOf = async (text: string) => {
    await write(home, '.config/goose/config.yaml', `${text}\nextensions:\n  a: {cmd: y}`)
    return reasons(await discover())
  }
  // The parser alone took longer than a test may for 16,000 aliases.
  expect(await reasonsOf(many(20_000, (at) => `k${at}: 1`).join('\n'))).toEqual({})
  const tooMany = { 'config.yaml': 'has more than 1000 YAML aliases' }
  expect(await reasonsOf(`x: [&a 1${', *a'.repeat(20_000)}]`)).toEqual(tooMany)
  const anchors = many(20_000, (at) => `&a${at} ${at}`).join(', ')
  expect(await reasonsOf(`x: [${anchors}]\ny: [${many(20_000, (at) => `*a${at}`).join(', ')}]`)).toEqual(tooMany)
  expect(await reasonsOf(`x:\n${'- {name: x, command: y}\n'.repeat(200_000)}`)).toEqual({
    'config.yaml': 'is too large for YAML: the limit is 1048576 characters',
  })
  // The controls: one key twice, and many anchors with few aliases.
  expect(await reasonsOf('k: 1\nk: 2')).toEqual({
    'config.yaml': 'is not valid YAML: DUPLICATE_KEY at line 2, column 1',
  })
  expect(await reasonsOf(`x: [${anchors.slice(0, 20_000)}x]\ny: [*a7, *a8]`)).toEqual({})
})

it('a file of servers cannot fill the memory with YAML aliases', async () => {
  const levels = Array.from({ length: 30 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i}, `.repeat(10)}]`)
  await write(home, '.config/goose/config.yaml', ['l0: &l0 [x]', ...levels, 'extensions: *l30'].join('\n'))
  expect(reasons(await discover())).toEqual({ 'config.yaml': 'has YAML aliases that cannot be resolved' })
  await write(home, '.config/goose/config.yaml', 'extensions: &a\n  x: {cmd: y, envs: [*a]}\n')
  expect(reasons(await discover())).toEqual({ 'config.yaml': 'has a YAML alias that leads back to itself' })
  // The control: an alias to another node, twice.
  await write(
    home,
    '.config/goose/config.yaml',
    'e: &e {A: b}\nextensions:\n  x: {cmd: y, envs: *e}\n  z: {cmd: y, envs: *e}\n',
  )
  expect(reasons(await discover())).toEqual({})
})

it.each([
  [{}, 'has neither a command nor a url'],
  [{ command: 'x', url: 'https://h' }, 'has both a command and a url, and no type'],
  [{ command: '' }, 'has no command'],
  [{ command: [['x']] }, 'has a command that is not text'],
  [{ command: 'x\0' }, 'has a command with a NUL character in it'],
  [{ command: 'x', args: 'y' }, 'has invalid args: expected a list'],
  [{ command: 'x', args: [{}] }, 'has a non-text value in an item of args'],
  [{ command: 'x', env: ['A'] }, 'has invalid env: expected a table of names and texts'],
  [{ command: 'x', env: { A: {} } }, 'has a non-text value in env.A'],
  [{ command: 'x', cwd: 3 }, 'has a cwd that is not text'],
  [{ type: 'stdio', url: 'https://h' }, 'has no command'],
  [{ type: 'websocket', url: 'wss://h' }, 'has a type other than stdio, http and sse'],
  [{ type: 'constructor', url: 'https://h' }, 'has a type other than stdio, http and sse'],
  [{ url: 'file:///etc/passwd' }, 'has a url that is not an http or https address'],
  [{ url: 'https://h', headers: 'K: v' }, 'has invalid headers: expected a table of names and texts'],
  [{ command: 'x', callTimeoutMs: -1 }, 'has a timeout that is not a number above 0'],
  [{ command: 'x', disabled: true }, 'is disabled in this file'],
  [{ command: 'x', enabled: false }, 'is disabled in this file'],
  [{ command: 'x', disabled: 'true' }, 'has a field disabled that is neither true nor false'],
  [{ command: 'x', enabled: 'false' }, 'has a field enabled that is neither true nor false'],
  [{ command: 'x', shared: 'false' }, 'has a field shared that is neither true nor false'],
  [
    { command: 'x', permission: { deny: ['*'] } },
    'has a field permission that is not known: did you mean permissions?',
  ],
  [{ command: 'x', excludeTool: ['y'] }, 'has a field excludeTool that is not known: did you mean excludeTools?'],
  [{ command: 'x', denyMethods: ['y'] }, 'has a field denyMethods that is not known: did you mean excludeTools?'],
  [{ command: 'x', onlyThese: ['y'] }, 'has a field onlyThese that is not known: did you mean excludeTools?'],
  [{ command: 'x', includTools: ['y'] }, 'has a field includTools that is not known: did you mean includeTools?'],
  [{ command: 'x', sandBox: true }, 'has a field sandBox that is not known: did you mean sandbox?'],
  [{ url: 'https://h', Disabled: true }, 'is disabled in this file'],
  [null, 'is not an object'],
  ['npx x', 'is not an object'],
])('a bad entry is skipped alone: %j', async (entry, reason) => {
  await write(home, 'MCPs/a.json', { mcpServers: { bad: entry, good: { command: 'x' } } })
  const found = await discover()
  expect(names(found)).toEqual(['good'])
  const line = /not known|shared that/.test(reason) ? ' (line 1)' : ''
  expect(found.skipped).toEqual([{ file: path.join(home, 'MCPs', 'a.json'), name: 'bad', reason: `${reason}${line}` }])
})

it('an unknown field is ignored in a file of another client, and where it is near no field that restricts', async () => {
  const theirs = { disabledTools: ['y'], autoApprove: [], alwaysAllow: ['z'], timeout: 5, trust: true, tools: ['*'] }
  const isOff = { _disabled: true, '//sandbox': true }
  await write(home, 'MCPs/a.json', { mcpServers: { own: { command: 'x', ...theirs, ...isOff } } })
  await write(home, '.cursor/mcp.json', {
    mcpServers: { cursor: { command: 'y', permission: 'all', sandBox: true } },
  })
  const found = await discover()
  expect(found.skipped).toEqual([])
  expect(names(found)).toEqual(['own', 'cursor'])
})

it.each([
  ['.cursor/mcp.json', { mcpServers: { bad: { command: 'x', disabled: 'true' } } }],
  ['.gemini/settings.json', { mcpServers: { bad: { command: 'x', disabled: 'true' } } }],
])('a server whose "disabled" is no boolean is skipped in a file of another client, too: %s', async (file, content) => {
  await write(home, file, content)
  const found = await discover()
  expect(names(found)).toEqual([])
  expect(Object.values(reasons(found))).toEqual(['has a field disabled that is neither true nor false'])
})

it('a field of an unknown name that begins like a restriction is an error with its line, in any file', async () => {
  const text = '{"mcpServers": {\n "a": {"command": "x"},\n "b": {\n  "command": "y",\n  "denyList": ["z"]}}}'
  await write(home, '.cursor/mcp.json', text)
  const found = await discover()
  expect(names(found)).toEqual(['a'])
  expect(Object.values(reasons(found))).toEqual([
    expect.stringMatching(/^has a field denyList that is not known: did you mean \w+\? \(line 5\)$/),
  ])
})

it.each(['', ' ', 'a\nb', 'x'.repeat(129)])('an entry with the name %j is skipped', async (name) => {
  await write(home, 'MCPs/a.json', { mcpServers: { [name]: { command: 'x' }, good: { command: 'x' } } })
  const found = await discover()
  expect(names(found)).toEqual(['good'])
  expect(found.skipped[0]?.name?.length).toBeLessThanOrEqual(128)
  expect(found.skipped[0]?.name).not.toContain('\n')
})

it('an entry may be in a file that names its JSON Schema', async () => {
  await write(home, 'MCPs/a.json', { $schema: '../servers.schema.json', mcpServers: { a: { command: 'x' } } })
  const found = await discover()
  expect(names(found)).toEqual(['a'])
  expect(found.skipped).toEqual([])
})

it('an entry cannot reach a prototype', async () => {
  await write(home, 'MCPs/a.json', '{"mcpServers": {"__proto__": {"command": "x", "env": {"__proto__": "v"}}}}')
  const found = await discover()
  expect(names(found)).toEqual(['__proto__'])
  const transport = found.servers[0]?.transport
  expect(transport?.type === 'stdio' ? Object.entries(transport.env) : undefined).toEqual([['__proto__', 'v']])
  expect(({} as Record<string, unknown>)['command']).toBeUndefined()
})

const self = { mcpServers: { bridge: { command: 'npx', args: ['-y', 'sandbridge'] }, other: { command: 'x' } } }

it('an entry for this bridge is left out, and kept when asked for', async () => {
  await write(home, 'MCPs/a.json', self)
  const found = await discover()
  expect(names(found)).toEqual(['other'])
  expect(found.skipped[0]).toMatchObject({
    name: 'bridge',
    reason: expect.stringContaining('would start this bridge'),
  })
  expect(names(await discover({ MCP_BRIDGE_ALLOW_SELF_SERVER: '1' }))).toEqual(['bridge', 'other'])
})

it('an entry for this bridge is recognised by the path it was started by', async () => {
  await write(home, 'MCPs/a.json', { mcpServers: { bridge: { command: 'node', args: ['/opt/here.js'] } } })
  expect(names(await discover({}, { ownPaths: ['/opt/here.js'] }))).toEqual([])
  expect(names(await discover({}, { ownPaths: ['/opt/there.js'] }))).toEqual(['bridge'])
})

it('sources of servers are read in order of precedence and listed', async () => {
  await write(home, 'MCPs/a.json', one('a', 'from-mcps'))
  await write(home, 'MCPs/b.json', one('a', 'from-mcps-2'))
  await write(home, '.cursor/mcp.json', one('a', 'from-cursor'))
  await write(home, '.claude.json', one('a', 'from-mcps'))
  const file = await write(home, 'extra.json', one('a', 'from-env'))
  const found = await discover({ MCP_SERVERS_CONFIG: file })
  expect(found.servers.map(({ name, transport }) => [name, 'command' in transport && transport.command])).toEqual([
    ['a', 'from-mcps'],
    ['a@mcps', 'from-mcps-2'],
    ['a@servers-config', 'from-env'],
    ['a@cursor', 'from-cursor'],
  ])
  expect(found.files.map(({ client, serverCount }) => [client, serverCount])).toEqual([
    ['mcps', 1],
    ['mcps', 1],
    ['servers-config', 1],
    ['claude-code', 1],
    ['cursor', 1],
  ])
})

it('MCP_BRIDGE_SOURCES names the sources of servers', async () => {
  await write(home, 'MCPs/a.json', one('a', 'x'))
  await write(home, '.cursor/mcp.json', one('b', 'x'))
  expect(names(await discover({ MCP_BRIDGE_SOURCES: 'cursor' }))).toEqual(['b'])
  expect(names(await discover({ MCP_BRIDGE_SOURCES: '-cursor' }))).toEqual(['a'])
})

it('sources of servers are read from another state folder', async () => {
  await write(root, 'state/a.json', one('a', 'x'))
  expect(names(await discover({ MCP_BRIDGE_STATE_DIR: path.join(root, 'state') }))).toEqual(['a'])
})

it("a project's servers are listed, but not started without trust", async () => {
  await write(project, '.mcp.json', one('evil', 'rm'))
  await write(project, 'mcp-servers/x.json', one('also', 'x'))
  const found = await discover()
  expect(found.servers).toEqual([])
  expect(found.untrusted.map(({ name, trusted }) => [name, trusted])).toEqual([
    ['evil', false],
    ['also', false],
  ])
  expect(found.files.map(({ trusted }) => trusted)).toEqual([false, false])
})

it("a project's servers may not be started when their file changes between its listing and its trust", async () => {
  const file = await write(project, '.mcp.json', one('a', 'x'))
  const [listed] = (await discover()).files
  await write(project, '.mcp.json', one('a', 'evil'))
  const store = createTrustStore(path.join(home, 'MCPs'))
  await store.trust(listed!.file, listed!.hash)
  expect((await discover({}, { isTrusted: store.isTrusted })).servers).toEqual([])
  // The control: the text that was listed is trusted.
  await write(project, '.mcp.json', one('a', 'x'))
  expect((await discover({}, { isTrusted: store.isTrusted })).servers).toMatchObject([{ name: 'a' }])
  expect(listed!.file).toBe(file)
})

it("a project's servers may be started once the file is trusted, until it changes", async () => {
  const file = await write(project, '.mcp.json', one('a', 'x'))
  const store = createTrustStore(path.join(home, 'MCPs'))
  await store.trust(file, textHash(JSON.stringify(one('a', 'x'))))
  expect(names(await discover({}, { isTrusted: store.isTrusted }))).toEqual(['a'])
  await write(project, '.mcp.json', one('a', 'y'))
  const changed = await discover({}, { isTrusted: store.isTrusted })
  expect(changed.servers).toEqual([])
  expect(changed.untrusted.map(({ name }) => name)).toEqual(['a'])
})

it("trust in a project's file covers the envFile of a server, and files of the project whose text it inserts", async () => {
  const server = {
    command: 'node',
    args: ['-e', '${file:code.js}', '${file:~/token}'],
    envFile: '${workspaceFolder}/.env',
  }
  await write(project, 'mcp-servers/a.json', { mcpServers: { a: server } })
  await write(project, '.env', 'A=1')
  await write(project, 'code.js', 'good()')
  await write(home, 'token', 'first')
  const store = createTrustStore(path.join(home, 'MCPs'))
  const [listed] = (await discover()).files
  await store.trust(listed!.file, listed!.hash)
  const isTrusted = async (): Promise<boolean> =>
    (await discover({}, { isTrusted: createTrustStore(path.join(home, 'MCPs')).isTrusted })).servers.length === 1
  expect(await isTrusted()).toBe(true)
  for (const [file, good, evil] of [
    ['.env', 'A=1', 'NODE_OPTIONS=--require=./evil.js'],
    ['code.js', 'good()', 'evil()'],
  ] as const) {
    await write(project, file, evil)
    expect([file, await isTrusted()]).toEqual([file, false])
    await write(project, file, good)
  }
  await rm(path.join(project, '.env'))
  expect(await isTrusted()).toBe(false)
  await write(project, '.env', 'A=1')
  // A token of the user's own may be renewed at any time.
  await write(home, 'token', 'second')
  expect(await isTrusted()).toBe(true)
})

it("a folder in place of a project's file is no error: it may guard the file from a jailed server", async () => {
  await mkdir(path.join(project, '.mcp.json'))
  expect((await discover()).skipped).toEqual([])
})

it("text of a server is the user's own only if a file of the user says so", async () => {
  await write(home, 'MCPs/a.json', { mcpServers: { mine: { command: 'x', trusted: true }, other: { command: 'x' } } })
  await write(project, '.mcp.json', { mcpServers: { theirs: { command: 'x', trusted: true } } })
  const found = await discover()
  const own = ({ servers, untrusted }: typeof found) =>
    [...servers, ...untrusted].filter(({ isOwnText }) => isOwnText === true).map(({ name }) => name)
  expect(own(found)).toEqual(['mine'])
  // Also once the user lets the servers of the project start.
  const store = createTrustStore(path.join(home, 'MCPs'))
  for (const { file, hash } of found.files) await store.trust(file, hash)
  const trusting = await discover({}, { isTrusted: store.isTrusted })
  expect(names(trusting)).toContain('theirs')
  expect(own(trusting)).toEqual(['mine'])
})

it("a project's servers take no name from the user's servers, trusted or not", async () => {
  // Claude Code comes before Cursor, but the user's own file comes first.
  await write(project, '.mcp.json', one('github', 'theirs'))
  await write(home, '.cursor/mcp.json', one('github', 'mine'))
  const untrusted = await discover()
  expect(untrusted.servers).toMatchObject([{ name: 'github', transport: { command: 'mine' } }])
  expect(untrusted.untrusted).toMatchObject([{ name: 'github@claude-code' }])
  const trusted = await discover({}, { isTrusted: () => true })
  expect(trusted.servers).toMatchObject([
    { name: 'github', transport: { command: 'mine' } },
    { name: 'github@claude-code', transport: { command: 'theirs' } },
  ])
})

it("a project's servers are the user's own when the project is the home folder", async () => {
  await write(home, '.cursor/mcp.json', one('a', 'x'))
  const found = await discover({}, { cwd: home })
  expect([names(found), found.untrusted, found.files.length]).toEqual([['a'], [], 1])
})

describe('secrets', () => {
  // A canary in every field that may hold a secret, in valid and invalid entries and files.
  const canary = (n: number): string => `CANARY${n}`
  const entries = {
    stdio: {
      command: `/opt/${canary(1)}/server`,
      args: ['--token', canary(2), `--key=${canary(3)}`],
      env: { KEY: canary(4) },
      cwd: `/${canary(5)}`,
      envFile: `/${canary(6)}`,
    },
    line: { command: `server --token ${canary(7)} /x/${canary(8)}` },
    assignment: { command: `TOKEN=${canary(9)} server` },
    remote: {
      url: `https://ann:${canary(10)}@example.com:8443/${canary(11)}?key=${canary(12)}#${canary(13)}`,
      headers: { Authorization: `Bearer ${canary(14)}` },
    },
    badUrl: { url: `${canary(15)}://example.com` },
    badEnv: { command: canary(16), env: { KEY: [canary(17)] } },
    badArgs: { command: canary(18), args: canary(19) },
    badHeaders: { url: `https://${canary(20)}`, headers: { A: { b: canary(21) } } },
    badType: { type: canary(22), command: canary(23) },
    badTimeout: { command: canary(24), callTimeoutMs: canary(25) },
    both: { command: canary(26), url: canary(27) },
    self: { command: 'npx', args: ['sandbridge', canary(28)] },
    off: { command: canary(29), disabled: true },
    text: canary(30),
  }

  it('secrets are in no reason and no message about a file', async () => {
    await write(home, 'MCPs/a.json', { mcpServers: entries })
    await write(home, 'MCPs/broken.json', `{"mcpServers": {"a": {"env": {"K": "${canary(31)}" "x"`)
    await write(home, 'MCPs/word.json', canary(32))
    await write(home, '.codex/config.toml', `[mcp_servers.a]\nenv = { K = "${canary(33)}\n`)
    await write(home, '.config/goose/config.yaml', `extensions:\n  a:\n    ? [${canary(34)}]\n    : "${canary(35)}\n`)
    await write(project, '.mcp.json', { mcpServers: { untrusted: entries.stdio } })
    const found = await discover()

    expect(names(found)).toEqual(['stdio', 'line', 'assignment', 'remote'])
    expect(found.untrusted).toHaveLength(1)
    expect(found.skipped).toHaveLength(14)
    expect(JSON.stringify([found.skipped, found.files])).not.toContain('CANARY')
    // The definitions themselves hold the canaries of valid entries.
    expect(JSON.stringify(found.servers).match(/CANARY/g)).toHaveLength(14)
  })

  it('control: the parsers themselves quote secrets in their errors', () => {
    // Without our own wording, these error messages quote the text.
    const messageOf = (parse: () => unknown): string => {
      try {
        return String(parse())
      } catch (error) {
        return String(error)
      }
    }
    expect(messageOf(() => parseToml(`[a]\nK = "${canary(33)}\n`))).toContain('CANARY')
    expect(messageOf(() => parseYaml(`a:\n  b: ["${canary(34)}"\nc: }`))).toContain('CANARY')
  })
})

it("Continue's folders have servers in YAML and JSON, of the user and of the project", async () => {
  const block = (name: string) => `name: x\nschema: v1\nmcpServers:\n  - name: ${name}\n    command: npx\n`
  await write(home, '.continue/config.yaml', block('a'))
  await write(home, '.continue/mcpServers/b.yaml', block('b'))
  await write(home, '.continue/mcpServers/c.json', '// copied\n{"mcpServers": {"c": {"command": "x",},},}')
  await write(project, '.continue/mcpServers/d.yml', block('d'))
  await write(project, '.continue/mcpServers/.hidden.yaml', block('hidden'))
  await write(project, '.continue/mcpServers/notes.md', block('notes'))
  const found = await discover()
  expect(names(found)).toEqual(['a', 'b', 'c'])
  expect(found.untrusted.map(({ name }) => name)).toEqual(['d'])
  expect(found.skipped).toEqual([])
})

// This file verifies registering the bridge in clients: what is written, what is kept, and that everything can be
// undone.
import { chmod, cp, lstat, mkdir, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse as parseToml } from 'smol-toml'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ServerDefinition } from '../../../core/src/config/entries/server-definition.ts'
import { discoverServers } from '../../../core/src/config/discover.ts'
import { applyInit } from '../../src/init/apply-init.ts'
import { parseDocument } from '../../../core/src/config/formats/config-document.ts'
import { editDocument } from '@sandbridge/shared/edits/edit-document.ts'
import { planInit } from '../../src/init/plan/plan-init.ts'
import type { InitPlan } from '../../src/init/plan/plan-init.ts'
import type { HostPaths } from '../../../core/src/config/readers/reader.ts'
import { hashOf } from '../../src/init/undo/init-record.ts'
import { planUndo, undoInit } from '../../src/init/undo/undo-init.ts'
import { readSettings } from '../../../core/src/config/settings/settings.ts'
import { expectMode } from '@sandbridge/core/test/support/machine/modes.ts'
import { needsPosix, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const COMMAND = { command: 'npx', args: ['-y', 'sandbridge'] }
const FIXTURES = fileURLToPath(new URL('../../../core/test/fixtures/config/', import.meta.url))

/** Every client in which the bridge can be registered, with a fixture and its path. */
const CLIENTS: [client: string, fixture: string, file: string][] = [
  ['claude-code', 'claude.json', '.claude.json'],
  ['claude-desktop', 'claude-desktop.json', '.config/Claude/claude_desktop_config.json'],
  ['cursor', 'cursor.json', '.cursor/mcp.json'],
  ['vscode', 'vscode.json', '.config/Code/User/mcp.json'],
  ['windsurf', 'windsurf.json', '.codeium/windsurf/mcp_config.json'],
  ['codex', 'codex.toml', '.codex/config.toml'],
  ['gemini-cli', 'gemini.json', '.gemini/settings.json'],
  ['opencode', 'opencode-1.json', '.config/opencode/opencode.json'],
  ['opencode', 'opencode-2.jsonc', '.config/opencode/opencode.json'],
  ['zed', 'zed.json', '.config/zed/settings.json'],
  ['antigravity', 'antigravity.json', '.gemini/config/mcp_config.json'],
  ['goose', 'goose.yaml', '.config/goose/config.yaml'],
  ['copilot-cli', 'copilot-cli.json', '.copilot/mcp-config.json'],
  ['kiro', 'kiro.json', '.kiro/settings/mcp.json'],
  ['amp', 'amp.json', '.config/amp/settings.json'],
  ['lm-studio', 'lm-studio.json', '.lmstudio/mcp.json'],
  ['qwen-code', 'qwen.json', '.qwen/settings.json'],
  ['crush', 'crush.json', '.config/crush/crush.json'],
  ['junie', 'junie.json', '.junie/mcp/mcp.json'],
  ['amazon-q', 'amazon-q.json', '.aws/amazonq/mcp.json'],
  ['factory', 'factory.json', '.factory/mcp.json'],
  ['warp', 'warp.json', '.warp/.mcp.json'],
  ['augment', 'augment.json', '.augment/settings.json'],
]

let home: string
let stateDir: string

beforeEach(async () => {
  home = await realpath(newFolder())
  stateDir = path.join(home, 'MCPs')
})

const at = (file: string): string => path.join(home, file)
const text = (file: string): Promise<string> => readFile(at(file), 'utf8')

async function write(file: string, content: string): Promise<void> {
  await mkdir(path.dirname(at(file)), { recursive: true })
  await writeFile(at(file), content)
}

async function put(fixture: string, file: string): Promise<void> {
  await mkdir(path.dirname(at(file)), { recursive: true })
  await cp(path.join(FIXTURES, fixture), at(file))
}

const paths = (): HostPaths => ({
  platform: 'linux',
  home,
  cwd: at('project'),
  env: {},
  stateDir,
  serversConfig: [],
})

function plan(move = false, clients?: string[]): Promise<InitPlan> {
  return planInit({ place: paths(), command: COMMAND, move, ...(clients === undefined ? {} : { clients }) })
}

async function discovered(env: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const settings = readSettings({ MCP_BRIDGE_STATE_DIR: stateDir, ...env }, { home })
  const { servers } = await discoverServers({
    settings,
    env,
    home,
    cwd: at('project'),
    ownPaths: [],
    platform: 'linux',
  })
  return Object.fromEntries(servers.map((server) => [server.name, { ...server, source: undefined }]))
}

describe.each(CLIENTS)('in %s (%s)', (client, fixture, file) => {
  it('init registers the bridge, reports it, changes nothing the second time, and undo restores every byte', async () => {
    await put(fixture, file)
    const before = await text(file)
    const servers = await discovered()
    const first = await plan()
    expect(first.skipped).toEqual([])
    expect(first.changes.map((change) => [change.client, change.file])).toEqual([[client, at(file)]])
    const diff = first.changes[0]!.diff
    expect(diff.join('\n')).toMatch(/^\+.*sandbridge/m)
    expect(diff.join('\n')).toMatch(/^\+.*npx/m)
    // Applying the diff to the old text gives the new text: nothing else changes.
    const removed = diff.filter((line) => line.startsWith('-')).map((line) => line.slice(1))
    const added = diff.filter((line) => line.startsWith('+')).map((line) => line.slice(1))
    const { after } = first.changes[0]!
    expect(after.split('\n').length - before.split('\n').length).toBe(added.length - removed.length)
    for (const line of added) expect(after).toContain(line)
    for (const line of removed) expect(before).toContain(line)
    // At most a comma after the last neighbour.
    expect(removed.length).toBeLessThanOrEqual(1)
    expect(await text(file)).toBe(before)

    expect(await applyInit(first.changes, stateDir)).toEqual({ written: [at(file)], skipped: [] })
    const withBridge = await discovered({ MCP_BRIDGE_ALLOW_SELF_SERVER: '1' })
    expect(withBridge['sandbridge']).toMatchObject({
      transport: { type: 'stdio', command: 'npx', args: ['-y', 'sandbridge'] },
    })
    // Nothing else has changed, and the bridge does not find itself.
    expect(await discovered()).toEqual(servers)
    expect(await plan()).toMatchObject({ changes: [], skipped: [], registered: [client] })

    expect(await undoInit(paths())).toEqual({ restored: [at(file)], deleted: [], skipped: [] })
    expect(await text(file)).toBe(before)
    expect(await readdir(path.join(stateDir, '.sandbridge'))).toEqual([])
  })

  it('init moves servers as they are, and undo moves them back', async () => {
    await put(fixture, file)
    const before = await text(file)
    const servers = await discovered()
    const { changes, skipped } = await plan(true)
    expect(skipped).toEqual([])
    expect((await applyInit(changes, stateDir)).skipped).toEqual([])

    // The same servers as before, and only the bridge is left in the client.
    expect(await discovered()).toEqual(servers)
    const left = await discovered({ MCP_BRIDGE_SOURCES: client, MCP_BRIDGE_ALLOW_SELF_SERVER: '1' })
    expect(Object.keys(left)).toEqual(['sandbridge'])
    expectMode(path.join(stateDir, `${client}.json`), 0o600)

    expect((await undoInit(paths())).skipped).toEqual([])
    expect(await text(file)).toBe(before)
    expect(await discovered()).toEqual(servers)
  })
})

// One of each format, and of each form that a list of servers has.
const OF_EACH_FORM = new Set(['cursor', 'codex', 'opencode', 'goose', 'zed', 'amp', 'crush'])
it.each(CLIENTS.filter(([client]) => OF_EACH_FORM.has(client)))(
  'undo keeps what the client has changed in a file since: %s (%s)',
  async (_client, fixture, file) => {
    await put(fixture, file)
    const servers = await discovered()
    await applyInit((await plan(true)).changes, stateDir)
    const format = { '.toml': 'toml', '.yaml': 'yaml' }[path.extname(file)] ?? 'jsonc'
    const changed = await editDocument(await text(file), format as 'jsonc', [{ path: ['addedLater'], value: { a: 1 } }])
    await writeFile(at(file), 'text' in changed ? changed.text : '')

    expect((await undoInit(paths())).skipped).toEqual([])
    expect(await discovered()).toEqual(servers)
    expect(await text(file)).toMatch(/addedLater/)
    expect(await text(file)).not.toMatch(/sandbridge/)
  },
)

it('init finds only clients whose folder exists, and creates a missing config file', async () => {
  await mkdir(at('.cursor'))
  const { changes } = await plan()
  expect(changes.map(({ client, before }) => [client, before])).toEqual([['cursor', undefined]])
  await applyInit(changes, stateDir)
  expect(JSON.parse(await text('.cursor/mcp.json'))).toEqual({ mcpServers: { sandbridge: COMMAND } })
  await undoInit(paths())
  expect(await readdir(at('.cursor'))).toEqual([])
})

it('init registers with the named clients only', async () => {
  await put('cursor.json', '.cursor/mcp.json')
  await put('kiro.json', '.kiro/settings/mcp.json')
  expect((await plan(false, ['kiro'])).changes.map(({ client }) => client)).toEqual(['kiro'])
})

it('init leaves a file alone that it cannot read or would have to overwrite', async () => {
  await write('.cursor/mcp.json', '{"mcpServers": {')
  await write('.kiro/settings/mcp.json', '{"mcpServers": {"sandbridge": {"command": "another"}}}')
  await write('.lmstudio/mcp.json', '{"mcpServers": []}')
  const { changes, skipped } = await plan()
  expect(changes).toEqual([])
  expect(skipped.map(({ reason, kind }) => [reason, kind])).toEqual([
    [expect.stringContaining('is not valid JSON'), 'unread'],
    ['is the name of another server; rename that one first', undefined],
    [expect.stringContaining('has a list in place of its servers'), 'unread'],
  ])
})

it.each(['gemini-cli', 'qwen-code'])('init adds itself to the only servers that %s starts', async (client) => {
  const file = client === 'gemini-cli' ? '.gemini/settings.json' : '.qwen/settings.json'
  const before = '{"mcpServers": {"g": {"command": "g"}, "h": {"command": "h"}}, "mcp": {"allowed": ["g"]}}'
  await write(file, before)
  await applyInit((await plan(true)).changes, stateDir)
  expect(JSON.parse(await text(file))).toEqual({
    mcpServers: { h: { command: 'h' }, sandbridge: expect.objectContaining(COMMAND) },
    mcp: { allowed: ['g', 'sandbridge'] },
  })
  expect(await plan(true)).toMatchObject({ changes: [], skipped: [], registered: [client] })

  // Undo takes it out of the list also when the client has changed the file since.
  await writeFile(at(file), (await text(file)).replace('{', '{"theme": "dark", '))
  expect((await undoInit(paths())).skipped).toEqual([])
  expect(JSON.parse(await text(file))).toEqual({ theme: 'dark', ...(JSON.parse(before) as object) })
})

it('init adds an entry to the list of allowed servers that an earlier init left out of it', async () => {
  const entry = JSON.stringify({ mcpServers: { sandbridge: COMMAND }, mcp: { allowed: [] } })
  await write('.gemini/settings.json', entry)
  const { changes, skipped, registered } = await plan()
  expect([skipped, registered]).toEqual([[], []])
  await applyInit(changes, stateDir)
  expect(JSON.parse(await text('.gemini/settings.json'))).toMatchObject({ mcp: { allowed: ['sandbridge'] } })
})

it.each([
  ['.gemini/settings.json', { mcpServers: { sandbridge: COMMAND }, mcp: { excluded: ['sandbridge'] } }],
  ['.kiro/settings/mcp.json', { mcpServers: { sandbridge: { ...COMMAND, disabled: true } } }],
  ['.config/goose/config.yaml', { extensions: { sandbridge: { cmd: 'npx', args: ['sandbridge'], enabled: false } } }],
  [
    '.config/opencode/opencode.json',
    { mcp: { sandbridge: { type: 'local', command: ['npx', 'sandbridge'], enabled: false } } },
  ],
])('init neither switches Sandbridge on in %s nor moves servers out of there', async (file, config) => {
  const table = Object.values(config)[0] as Record<string, unknown>
  table['other'] = { ...(table['sandbridge'] as object), enabled: true, disabled: false, command: 'x', cmd: 'x' }
  await write(file, JSON.stringify(config))
  const reason = 'is Sandbridge, switched off in this file; switch it on there first'
  expect(await plan(true)).toMatchObject({
    changes: [],
    registered: [],
    beside: [],
    skipped: [{ file: at(file), name: 'sandbridge', reason }],
  })
})

it.each([
  ['.codex/config.toml', 'mcp_servers = { a = { command = "a" } }\n', 'mcp_servers needs sandbridge = '],
  [
    '.config/zed/settings.json',
    '{"context_servers": {}, "context_servers": {}}',
    'context_servers needs "sandbridge": ',
  ],
])('init says what to write into a file that it cannot edit: %s', async (file, before, said) => {
  await write(file, before)
  const { changes, skipped } = await plan(true)
  expect(changes).toEqual([])
  const [start, entry = ''] = skipped[0]!.reason.split(said)
  expect(start).toBe('cannot be edited safely; edit it by hand: ')
  const read = file.endsWith('.toml') ? parseToml(`x = ${entry}`)['x'] : (JSON.parse(entry) as unknown)
  expect(read).toMatchObject(COMMAND)
})

it('init --move names servers that stay because they are in another file of the client', async () => {
  await write('.config/Code/User/mcp.json', '{"servers": {"a": {"command": "a"}}}')
  const self = '"sandbridge": {"command": "npx", "args": ["sandbridge"]}'
  await write('.config/Code/User/settings.json', `{"mcp": {"servers": {"b": {"command": "b"}, ${self}}}}`)
  const { changes, skipped } = await plan(true)
  expect(changes.map(({ client }) => client)).toEqual(['mcps:vscode', 'vscode'])
  const reason = `keeps its servers, because --move changes only ${at('.config/Code/User/mcp.json')}: b`
  expect(skipped).toEqual([{ file: at('.config/Code/User/settings.json'), reason }])
  expect((await plan()).skipped).toEqual([])
})

it('init does not register where a list excludes its name', async () => {
  await write('.qwen/settings.json', '{"mcpServers": {"q": {"command": "q"}}, "mcp": {"excluded": ["sandbridge"]}}')
  const reason = 'is in the list mcp.excluded; take it out first'
  expect(await plan(true)).toMatchObject({ changes: [], skipped: [{ name: 'sandbridge', reason }] })
})

it('init keeps comments, indentation and line ends', async () => {
  const before = '{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "x" } // keep\r\n\t}\r\n}\r\n'
  await write('.cursor/mcp.json', before)
  await applyInit((await plan()).changes, stateDir)
  const after = await text('.cursor/mcp.json')
  expect(after).toContain('// mine\r\n')
  expect(after).toContain('// keep')
  expect(after).toContain('\r\n\t\t"sandbridge": {\r\n')
  expect(after.replaceAll('\r\n', '')).not.toContain('\n')
})

it('init does not move a server whose name is taken in the new place', async () => {
  await write('.kiro/settings/mcp.json', '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}')
  await write('MCPs/kiro.json', '{"mcpServers": {"a": {"command": "other"}}}')
  const { changes, skipped } = await plan(true)
  expect(skipped).toMatchObject([{ name: 'a', reason: 'is there already, so the server stays in its client' }])
  await applyInit(changes, stateDir)
  expect(JSON.parse(await text('MCPs/kiro.json'))).toEqual({
    mcpServers: { a: { command: 'other' }, b: { command: 'y', args: [], env: {} } },
  })
  expect(JSON.parse(await text('.kiro/settings/mcp.json'))).toEqual({
    mcpServers: { a: { command: 'x' }, sandbridge: COMMAND },
  })
})

it('init does not move a server that the new place would refuse', async () => {
  const bad = 'a\u0007b'
  await write(
    '.kiro/settings/mcp.json',
    JSON.stringify({ mcpServers: { [bad]: { command: 'x' }, b: { command: 'y' } } }),
  )
  const { changes, skipped } = await plan(true)
  expect(skipped).toMatchObject([{ name: 'a\uFFFDb', reason: expect.stringContaining('stays in its client') }])
  await applyInit(changes, stateDir)
  expect(Object.keys(JSON.parse(await text('MCPs/kiro.json')).mcpServers)).toEqual(['b'])
  expect(Object.keys(JSON.parse(await text('.kiro/settings/mcp.json')).mcpServers)).toEqual([bad, 'sandbridge'])
})

it('the error for an unknown client names those that init knows', async () => {
  await expect(plan(false, ['kiro', 'nonsense'])).rejects.toMatchObject({
    message: "Unknown client 'nonsense'",
    hint: expect.stringMatching(/kiro/),
  })
})

it('init prints no secret', async () => {
  const secret = { command: 'serve', args: ['--key=CANARY'], env: { KEY: 'CANARY' } }
  const remote = { url: 'https://web.example/mcp?key=CANARY', headers: { A: 'CANARY' } }
  await write('.cursor/mcp.json', JSON.stringify({ mcpServers: { secret, remote } }))
  const { changes, skipped, registered } = await plan(true)
  expect(changes.flatMap(({ diff }) => diff).length).toBeGreaterThan(4)
  expect(JSON.stringify([changes.map(({ diff }) => diff), skipped, registered])).not.toContain('CANARY')
  expect(changes.map(({ after }) => after).join('')).toContain('CANARY')
})

it('a moved server keeps its name when several have the same one', async () => {
  await write('.cursor/mcp.json', '{"mcpServers": {"git": {"command": "first"}}}')
  await write('.kiro/settings/mcp.json', '{"mcpServers": {"git": {"command": "second"}}}')
  const before = await discovered()
  expect(Object.keys(before)).toEqual(['git', 'git@kiro'])
  const nameOf = (client: string, _file: string, name: string): string => (client === 'kiro' ? `${name}@kiro` : name)
  const { changes } = await planInit({ place: paths(), command: COMMAND, move: true, nameOf })
  await applyInit(changes, stateDir)
  // In its new file it has that name by itself.
  const { otherNames: _, ...moved } = before['git@kiro'] as ServerDefinition
  expect(await discovered()).toEqual({ ...before, 'git@kiro': moved })
})

it.each([
  ['jsonc', '{\n  "a": null, // mine\n  "b": 1\n}\n'],
  ['yaml', 'a: # mine\nb: 1\n'],
  ['yaml', 'a: null # mine\nb: 1\n'],
] as const)(
  'an edit puts an object in the place of null in %s, and keeps what is beside it',
  async (format, before) => {
    const edits = ['x', 'y'].map((name) => ({ path: ['a', name], value: { command: name } }))
    const edited = await editDocument(before, format, edits)
    const after = 'text' in edited ? edited.text : edited.reason
    expect(after).toContain('mine')
    expect(await parseDocument(after, format)).toMatchObject({
      document: { a: { x: { command: 'x' }, y: { command: 'y' } }, b: 1 },
    })
  },
)

it.each([
  ['jsonc', '{"a": "mine"}'],
  ['jsonc', '{"a": [{"name": "mine"}]}'],
  ['yaml', 'a: mine\n'],
  ['toml', 'a = "mine"\n'],
  ['toml', '[[a]]\nname = "mine"\n'],
] as const)('an edit puts nothing in the place of another value: %s %s', async (format, before) => {
  const edits = [{ path: ['a', 'x'], value: { command: 'x' } }]
  expect(await editDocument(before, format, edits)).toEqual({ reason: 'has no object as a; edit it by hand' })
  expect(await editDocument(before, format, [{ path: ['a', 'x'] }])).toEqual({ text: before })
})

const NEIGHBOURS = {
  yaml: `# mine\nextensions:\n    one:   {cmd: "x",  args: [ 1,2 ]}   # keep\n\n    two:\n        cmd:  'y'\nother:   "z"\n`,
  toml: `a   = 1 # keep\n\n[t.one]\ncommand =   "x"\n\n# about two\n[t.two]\ncommand = 'y'\n`,
  jsonc: '{ "t": { "one": { "a":1,   "b": [1,2] }, // keep\n  "two": {"c":   2} } }\n',
}

it.each([
  ['yaml', 'extensions'],
  ['toml', 't'],
  ['jsonc', 't'],
] as const)(
  'an edit keeps the formatting of neighbours in %s when something is added and removed',
  async (format, table) => {
    const original = NEIGHBOURS[format]
    const added = await editDocument(original, format, [{ path: [table, 'new'], value: { command: 'c', args: ['d'] } }])
    const after = 'text' in added ? added.text : added.reason
    for (const part of original.match(/\S+(?: +\S+)*/g)!)
      expect(after.replaceAll('\n', ' ')).toContain(part.split(' }')[0])
    const removed = await editDocument(after, format, [{ path: [table, 'one'] }])
    const left = 'text' in removed ? removed.text : removed.reason
    expect(left).not.toContain('one')
    expect(left).toMatch(/cmd: {2}'y'|command = 'y'|"c": {3}2/)
    if (format === 'toml') expect(left).toContain('# about two\n[t.two]')
    if (format === 'yaml') expect(left).toContain('other:   "z"')
  },
)

it('init leaves a file alone that has changed since the plan was made', async () => {
  await put('cursor.json', '.cursor/mcp.json')
  const { changes } = await plan()
  await write('.cursor/mcp.json', '{}')
  const { written, skipped } = await applyInit(changes, stateDir)
  expect([written, skipped.length]).toEqual([[], 1])
  expect(await text('.cursor/mcp.json')).toBe('{}')
})

it('init keeps a symbolic link, the permissions and the encoding of a file', async () => {
  needsPosix('links of files take a privilege on Windows')
  const content = Buffer.from('\uFEFF{"mcpServers": {}}', 'utf16le')
  await mkdir(at('dotfiles'))
  await mkdir(at('.cursor'))
  await writeFile(at('dotfiles/cursor.json'), content, { mode: 0o640 })
  await symlink('../dotfiles/cursor.json', at('.cursor/mcp.json'))
  await applyInit((await plan()).changes, stateDir)
  expect(JSON.parse(await text('dotfiles/cursor.json'))).toHaveProperty('mcpServers.sandbridge')
  expectMode(at('dotfiles/cursor.json'), 0o640)
  await undoInit(paths())
  expect(await readFile(at('dotfiles/cursor.json'))).toEqual(content)
})

it('init keeps backups and its record for their owner only', async () => {
  await put('cursor.json', '.cursor/mcp.json')
  await applyInit((await plan()).changes, stateDir)
  const folder = path.join(stateDir, '.sandbridge', 'init')
  expectMode(folder, 0o700)
  for (const name of await readdir(folder)) {
    expectMode(path.join(folder, name), 0o600)
  }
})

it('init changes nothing when it cannot keep a backup', async () => {
  await put('cursor.json', '.cursor/mcp.json')
  const before = await text('.cursor/mcp.json')
  const { changes } = await plan()
  await write('MCPs/.sandbridge', 'a file where the folder would be')
  await expect(applyInit(changes, stateDir)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  expect(await text('.cursor/mcp.json')).toBe(before)
})

describe('a file that cannot be written', () => {
  it('is skipped by init with the reason, and keeps no other from being written; in the state folder it stops init', async () => {
    await put('cursor.json', '.cursor/mcp.json')
    await put('gemini.json', '.gemini/settings.json')
    const before = await text('.cursor/mcp.json')
    await writeFile(at('plain'), '')
    const [change, other] = (await plan(false, ['cursor', 'gemini-cli'])).changes
    const blocked = { ...change!, file: at('plain/mcp.json'), before: undefined }
    const { written, skipped } = await applyInit([blocked, change!, other!], stateDir)
    expect(written).toEqual([change!.file, other!.file])
    expect(skipped).toEqual([{ file: blocked.file, reason: expect.stringMatching(/^cannot be written \(E[A-Z]+\)$/) }])
    expect((await undoInit(paths())).skipped).toEqual([])
    expect(await text('.cursor/mcp.json')).toBe(before)

    await mkdir(path.join(stateDir, 'cursor.json/folder'), { recursive: true })
    const own = { ...change!, file: path.join(stateDir, 'cursor.json'), before: undefined }
    await expect(applyInit([own, other!], stateDir)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(await text('.gemini/settings.json')).toBe(other!.before)
  })

  it('stays recorded by undo with its backup, and keeps no other from being undone', async () => {
    needsPosix('Windows has no modes')
    if (process.getuid?.() === 0) skip('modes stop no root')
    await put('cursor.json', '.cursor/mcp.json')
    await put('gemini.json', '.gemini/settings.json')
    const before = [await text('.cursor/mcp.json'), await text('.gemini/settings.json')]
    await applyInit((await plan(false, ['cursor', 'gemini-cli'])).changes, stateDir)
    await chmod(at('.gemini'), 0o555)
    const { restored, skipped } = await undoInit(paths())
    await chmod(at('.gemini'), 0o755)
    expect(restored).toEqual([at('.cursor/mcp.json')])
    expect(skipped).toMatchObject([
      {
        file: at('.gemini/settings.json'),
        reason: expect.stringMatching(/^cannot be written \(EACCES\); its backup is/),
      },
    ])
    expect((await undoInit(paths())).restored).toEqual([at('.gemini/settings.json')])
    expect([await text('.cursor/mcp.json'), await text('.gemini/settings.json')]).toEqual(before)
  })
})

describe('a client whose servers were moved', () => {
  it('keeps its servers when the file that takes them over was skipped', async () => {
    await put('kiro.json', '.kiro/settings/mcp.json')
    await write('MCPs/kiro.json', '{}')
    const before = await text('.kiro/settings/mcp.json')
    const { changes } = await plan(true)
    await write('MCPs/kiro.json', '{"changed": true}')
    const { written, skipped } = await applyInit(changes, stateDir)
    const files = [at('MCPs/kiro.json'), at('.kiro/settings/mcp.json')]
    expect([written, skipped.map(({ file }) => file)]).toEqual([[], files])
    expect(await text('.kiro/settings/mcp.json')).toBe(before)
  })

  it('has them in their new place until undo has put them back', async () => {
    await put('kiro.json', '.kiro/settings/mcp.json')
    const before = await text('.kiro/settings/mcp.json')
    await applyInit((await plan(true)).changes, stateDir)
    const after = await text('.kiro/settings/mcp.json')
    const moved = await text('MCPs/kiro.json')
    await write('.kiro/settings/mcp.json', '{broken')
    const { deleted, skipped } = await undoInit(paths())
    expect(deleted).toEqual([])
    expect(skipped.map(({ file }) => file)).toEqual([at('.kiro/settings/mcp.json'), at('MCPs/kiro.json')])
    expect(await text('MCPs/kiro.json')).toBe(moved)
    await write('.kiro/settings/mcp.json', after)
    expect((await undoInit(paths())).skipped).toEqual([])
    expect(await text('.kiro/settings/mcp.json')).toBe(before)
  })
})

it('undo changes nothing when init has changed nothing', async () => {
  expect(await undoInit(paths())).toEqual({ restored: [], deleted: [], skipped: [] })
})

it('undo keeps what was edited in its new place', async () => {
  await write('.kiro/settings/mcp.json', '{"mcpServers": {"a": {"command": "x"}}}')
  await applyInit((await plan(true)).changes, stateDir)
  await write('MCPs/kiro.json', '{"mcpServers": {"a": {"command": "improved"}}}')
  await undoInit(paths())
  expect(JSON.parse(await text('MCPs/kiro.json'))).toEqual({ mcpServers: { a: { command: 'improved' } } })
  expect(JSON.parse(await text('.kiro/settings/mcp.json'))).toEqual({ mcpServers: { a: { command: 'x' } } })
})

it('undo keeps the backup of a file that it cannot restore, and can be run again', async () => {
  await put('cursor.json', '.cursor/mcp.json')
  const before = await text('.cursor/mcp.json')
  await applyInit((await plan()).changes, stateDir)
  const after = await text('.cursor/mcp.json')
  await write('.cursor/mcp.json', '{broken')
  const { restored, skipped } = await undoInit(paths())
  expect(restored).toEqual([])
  const backup = /its backup is (.*)$/.exec(skipped[0]?.reason ?? '')?.[1] ?? ''
  expect(await readFile(backup, 'utf8')).toBe(before)
  await write('.cursor/mcp.json', after)
  expect((await undoInit(paths())).restored).toEqual([at('.cursor/mcp.json')])
  expect(await text('.cursor/mcp.json')).toBe(before)
})

it.each(['CANARY', '{"version": 1, "done": [{"file": ["CANARY"]}]}'])(
  'undo reports a damaged record without quoting it: %s',
  async (record) => {
    await write('MCPs/.sandbridge/init/record.json', record)
    const undone = undoInit(paths())
    await expect(undone).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(undone).rejects.not.toThrow(/CANARY/)
  },
)

/** Registers in cursor, then changes the record as another program could that can write the state folder. */
async function forged(change: (done: Record<string, unknown>) => void): Promise<void> {
  await put('cursor.json', '.cursor/mcp.json')
  await applyInit((await plan()).changes, stateDir)
  const record = JSON.parse(await text('MCPs/.sandbridge/init/record.json')) as { done: Record<string, unknown>[] }
  record.done.forEach(change)
  await write('MCPs/.sandbridge/init/record.json', JSON.stringify(record))
}

it('undo neither deletes nor restores a file that init does not change, whatever its record says', async () => {
  await write('notes.txt', 'mine')
  for (const isCreated of [true, false]) {
    await forged((done) => {
      Object.assign(done, { file: at('notes.txt'), hash: hashOf('mine') })
      if (isCreated) delete done['backup']
    })
    expect(await planUndo(paths())).toEqual([])
    const { restored, deleted, skipped } = await undoInit(paths())
    expect([restored, deleted]).toEqual([[], []])
    expect(skipped).toMatchObject([
      { file: at('notes.txt'), reason: expect.stringMatching(/^is not a file that init/) },
    ])
    expect(await text('notes.txt')).toBe('mine')
    await rm(path.join(stateDir, '.sandbridge'), { recursive: true })
  }
})

it('undo removes no backup outside of its own folder, also not through a link in place of that folder', async () => {
  await write('.ssh/key', '{"mcpServers": {}}')
  await forged((done) => Object.assign(done, { backup: at('.ssh/key') }))
  const folder = path.join(stateDir, '.sandbridge/init')
  const isRefused = { skipped: [{ reason: expect.stringContaining('has its backup outside of') }] }
  expect(await undoInit(paths())).toMatchObject(isRefused)

  const record = await text('MCPs/.sandbridge/init/record.json')
  await write('.ssh/record.json', record.replaceAll(at('.ssh/key'), path.join(folder, 'key')))
  await rm(folder, { recursive: true })
  await symlink(at('.ssh'), folder, 'junction')
  expect(await undoInit(paths())).toMatchObject(isRefused)
  expect(await text('.ssh/key')).toBe('{"mcpServers": {}}')
  expect(await text('.cursor/mcp.json')).toContain('"sandbridge"')
})

it('undo follows no link that a file in the state folder has become', async () => {
  needsPosix('links of files take a privilege on Windows')
  await write('.kiro/settings/mcp.json', '{"mcpServers": {"a": {"command": "x"}}}')
  await applyInit((await plan(true)).changes, stateDir)
  await write('other.json', await text('MCPs/kiro.json'))
  await rm(at('MCPs/kiro.json'))
  await symlink(at('other.json'), at('MCPs/kiro.json'))
  const { skipped } = await undoInit(paths())
  const reason = 'is a symbolic link now; undo it by hand in the file that it names'
  expect(skipped).toEqual([{ file: at('MCPs/kiro.json'), reason }])
  expect(await text('other.json')).toContain('"a"')
  expect((await lstat(at('MCPs/kiro.json'))).isSymbolicLink()).toBe(true)
})

it('init and undo leave a broken symbolic link as it is', async () => {
  needsPosix('links of files take a privilege on Windows')
  await mkdir(at('.cursor'))
  await symlink('../dotfiles/cursor.json', at('.cursor/mcp.json'))
  const { changes, skipped } = await plan()
  expect(changes).toEqual([])
  expect(skipped).toEqual([{ file: at('.cursor/mcp.json'), reason: 'is a broken symbolic link', kind: 'unread' }])

  await write('.kiro/settings/mcp.json', '{"mcpServers": {"a": {"command": "x"}}}')
  await mkdir(stateDir)
  await symlink('gone.json', at('MCPs/kiro.json'))
  expect((await plan(true, ['kiro'])).skipped).toEqual([
    { file: at('MCPs/kiro.json'), reason: 'is a broken symbolic link' },
  ])
  await rm(at('.kiro'), { recursive: true })

  // The link was whole when init ran.
  await write('dotfiles/cursor.json', '{}')
  await applyInit((await plan()).changes, stateDir)
  await rm(at('dotfiles/cursor.json'))
  await symlink('gone', at('dotfiles/cursor.json'))
  expect((await undoInit(paths())).skipped).toMatchObject([{ file: at('dotfiles/cursor.json') }])
  expect((await lstat(at('dotfiles/cursor.json'))).isSymbolicLink()).toBe(true)
})

it('an edit leaves TOML alone that is not written in whole tables', async () => {
  const inline = 'mcp_servers = { a = { command = "x" } }\n'
  expect(await editDocument(inline, 'toml', [{ path: ['mcp_servers', 'a'] }])).toHaveProperty('reason')
  expect(await editDocument(inline, 'toml', [{ path: ['mcp_servers', 'b'], value: {} }])).toHaveProperty('reason')
})

it('an edit removes a TOML table with the tables inside it, and no other', async () => {
  const toml = [
    'model = "x" # mine',
    '[mcp_servers.a]',
    'command = "a"',
    '[mcp_servers.a.env]',
    'K = "[mcp_servers.c]"',
    '[mcp_servers."a.b"] # another',
    'command = "ab"',
    '[[profiles]]',
    'name = "p"',
    '',
  ].join('\n')
  const edited = await editDocument(toml, 'toml', [{ path: ['mcp_servers', 'a'] }])
  const after = 'text' in edited ? edited.text : ''
  expect(parseToml(after)).toEqual({
    model: 'x',
    mcp_servers: { 'a.b': { command: 'ab' } },
    profiles: [{ name: 'p' }],
  })
  expect(after).toContain('# mine')
  expect(after).toContain('# another')
})

it('an edit keeps the comments of YAML', async () => {
  const yaml = '# mine\nextensions:\n  a:\n    # keep\n    cmd: x # this too\n'
  const edited = await editDocument(yaml, 'yaml', [{ path: ['extensions', 'b'], value: { cmd: 'y' } }])
  expect(edited).toEqual({ text: `${yaml}  b:\n    cmd: y\n` })
})

it('init replaces an entry whose program is gone, and keeps the fields that its user added', async () => {
  const gone = at('versions/v20.19.0/bin/node')
  const entry = { command: gone, args: [at('lib/sandbridge/dist/cli.js')], env: { MCP_BRIDGE_TIMEOUT: '60' } }
  await write('.cursor/mcp.json', JSON.stringify({ mcpServers: { sandbridge: entry } }))
  await applyInit((await plan()).changes, stateDir)
  const { mcpServers } = JSON.parse(await text('.cursor/mcp.json')) as { mcpServers: Record<string, unknown> }
  expect(mcpServers['sandbridge']).toEqual({ ...COMMAND, env: { MCP_BRIDGE_TIMEOUT: '60' } })
  // The positive control: an entry whose files exist stays.
  await write('versions/v20.19.0/bin/node', '')
  await write('lib/sandbridge/dist/cli.js', '')
  await write('.cursor/mcp.json', JSON.stringify({ mcpServers: { sandbridge: entry } }))
  expect(await plan()).toMatchObject({ changes: [], registered: ['cursor'] })
})

it('init names an entry that starts another installation and changes it, unless it may not ask', async () => {
  const other = at('other/lib/sandbridge')
  await write('other/lib/sandbridge/dist/cli.js', '')
  await write('other/lib/sandbridge/package.json', '{"name": "sandbridge", "version": "0.2.0"}')
  const entry = { command: process.execPath, args: [path.join(other, 'dist/cli.js')] }
  await write('.cursor/mcp.json', JSON.stringify({ mcpServers: { sandbridge: entry } }))
  const of = (more: object) => planInit({ place: paths(), command: COMMAND, move: false, root: '/opt/bridge', ...more })
  const start = { text: `starts another installation, version 0.2.0 in ${other}`, version: '0.2.0' }
  expect(await of({})).toMatchObject({ replaced: [{ client: 'cursor', start }], registered: [] })
  expect((await of({})).changes).toHaveLength(1)
  expect(await of({ keepOthers: true })).toMatchObject({ changes: [], replaced: [{ start }], registered: ['cursor'] })
  const command = path.join(other, 'packages/sandbridge/cli.cjs')
  await write('other/lib/sandbridge/packages/sandbridge/cli.cjs', '')
  await write('.cursor/mcp.json', JSON.stringify({ mcpServers: { sandbridge: { command } } }))
  expect(await of({})).toMatchObject({ replaced: [{ client: 'cursor', start }], registered: [] })
  // The positive controls: its own entry, and one in a cache.
  await write('.cursor/mcp.json', JSON.stringify({ mcpServers: { sandbridge: entry } }))
  expect(await of({ root: other })).toMatchObject({ changes: [], replaced: [], registered: ['cursor'] })
  const cached = at('.npm/_npx/01/node_modules/sandbridge/dist/cli.js')
  await write('.npm/_npx/01/node_modules/sandbridge/dist/cli.js', '')
  await write('.cursor/mcp.json', JSON.stringify({ mcpServers: { sandbridge: { command: 'node', args: [cached] } } }))
  expect((await of({ keepOthers: true })).replaced[0]!.start.text).toMatch(/from a cache/)
})

it('init ends a file that it creates with a line end, and keeps the end of one that exists', async () => {
  await mkdir(at('.cursor'))
  await write('.lmstudio/mcp.json', '{}')
  const { changes } = await plan()
  expect(changes.map(({ client, after }) => [client, after.endsWith('}\n')])).toEqual([
    ['cursor', true],
    ['lm-studio', false],
  ])
})

it('init names the servers that stay in a client beside the bridge, until they are moved', async () => {
  await write('.cursor/mcp.json', '{"mcpServers": {"notes": {"command": "notes"}, "jira": {"command": "jira"}}}')
  expect((await plan()).beside).toEqual([{ client: 'cursor', names: ['notes', 'jira'] }])
  expect((await plan(true)).beside).toEqual([])
})

it('undo says of each file once whether it is deleted, restored or edited', async () => {
  await mkdir(at('.cursor'))
  await write('.lmstudio/mcp.json', '{"mcpServers": {"notes": {"command": "notes"}}}')
  await write('.kiro/settings/mcp.json', '{}')
  await applyInit((await plan()).changes, stateDir)
  await applyInit((await plan(true)).changes, stateDir)
  await write('.kiro/settings/mcp.json', `${await text('.kiro/settings/mcp.json')}\n`)
  const planned = Object.fromEntries((await planUndo(paths())).map(({ file, action }) => [file, action]))
  expect(planned).toEqual({
    [at('.cursor/mcp.json')]: 'delete',
    [at('.lmstudio/mcp.json')]: 'restore',
    [at('.kiro/settings/mcp.json')]: 'edit',
    [path.join(stateDir, 'lm-studio.json')]: 'delete',
  })
  const { restored, deleted } = await undoInit(paths())
  expect(restored.toSorted()).toEqual([at('.kiro/settings/mcp.json'), at('.lmstudio/mcp.json')])
  expect(deleted.toSorted()).toEqual([at('.cursor/mcp.json'), path.join(stateDir, 'lm-studio.json')].toSorted())
})

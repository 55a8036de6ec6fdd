import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { BridgeError } from '../../errors.ts'
import { fileStore } from '../../util/stores/open-stores.ts'
import type { UpstreamTool } from '../../upstream/upstream.ts'
import { createLog } from '../../util/log.ts'
import type { Shapes } from './model/shape.ts'
import { definitionKey, toolFingerprint } from './model/identity.ts'
import { ServerRecord } from './server-record.ts'
import { type Listing, type Toolbook, toolbookOf } from './toolbook.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

const DEFINITION: ServerDefinition = {
  name: 'hub',
  transport: { type: 'stdio', command: 'hub', args: [], env: { TOKEN: 'sk-very-secret' } },
  source: { client: 'c', file: 'f' },
}
const KEY = definitionKey(DEFINITION)
const tool = (name: string, description = 'does it'): UpstreamTool => ({
  name,
  description,
  inputSchema: { type: 'object' },
})
const listing = (tools: UpstreamTool[], more: Partial<Listing> = {}): Listing => {
  return { abilities: '', tools, fetchedAt: 1_000, ...more }
}
const type = (one: UpstreamTool, name: string) => ({ of: toolFingerprint(one), shape: { type: [name] } })

const shapes: Shapes = {
  of: () => undefined,
  merged: (one, other) => ({ type: [...one.type, ...other.type].toSorted() }),
}

/** Bridges of one user, each a process of its own. */
function bridges() {
  const folder = path.join(newFolder(), 'state')
  const lines: string[] = []
  const log = createLog('info', (line) => void lines.push(line))
  const open = (store = fileStore(folder)): Toolbook => toolbookOf(store, KEY, log)
  const record = (abilities = '', book = open()): ServerRecord =>
    new ServerRecord(DEFINITION, 'hub', {
      book,
      abilities: () => abilities,
      now: Date.now,
      inputs: () => '',
      isShown: () => true,
      home: '/',
    })
  return { open, record, lines, store: () => fileStore(folder), file: path.join(folder, 'toolbooks', `${KEY}.json`) }
}

/** The tools that count as changed once the server has listed these. */
async function changed(record: ServerRecord, tools: UpstreamTool[]): Promise<string[]> {
  record.update(tools)
  await record.settled()
  return tools.map(({ name }) => name).filter((name) => record.isChanged(name))
}

it('the next bridge reads the whole book, and only its owner can read the file', async () => {
  const { open, file } = bridges()
  const [book, list] = [open(), tool('list')]
  await book.keepListing(listing([list], { instructions: 'Hub', skipped: [{ name: 'deep', reason: 'too deep' }] }))
  book.learn(shapes, 'list', type(list, 'string'))
  book.keep({ lastError: { reason: 'It crashed', at: 7 }, reached: { via: 'http', era: 'modern', at: 8 } })
  await book.flush()
  const next = open()
  expect(next.value.listings).toEqual(book.value.listings)
  expect(next.learnedType('list')).toEqual(type(list, 'string'))
  expect([next.value.lastError, next.value.reached]).toEqual([book.value.lastError, book.value.reached])
  expect(Object.keys(next.value.pins)).toEqual(['list'])
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(file + readFileSync(file, 'utf8')).not.toContain('sk-very-secret')
})

it('the tenants of one process have one book of a server', () => {
  const { open, store } = bridges()
  const shared = store()
  expect(open(shared)).toBe(open(shared))
  expect(open(store())).not.toBe(open(shared))
})

it('bridges that write at once keep what the others have written', async () => {
  const { open } = bridges()
  const [one, other, list] = [open(), open(), tool('list')]
  // Both have read the book before either writes.
  expect([one.value.listings, other.value.listings]).toEqual([[], []])
  await one.keepListing(listing([list], { fetchedAt: 2_000 }))
  one.learn(shapes, 'list', type(list, 'string'))
  other.learn(shapes, 'list', type(list, 'integer'))
  await Promise.all([one.flush(), other.keepListing(listing([tool('old')]))])
  await other.flush()
  const next = open()
  // What was read from the server later wins, whichever bridge writes last.
  expect(next.value.listings.map(({ tools }) => tools)).toEqual([[list]])
  expect(next.learnedType('list')?.shape.type).toEqual(['integer', 'string'])
})

it('a type that was learned of a tool in another form is forgotten', async () => {
  const { open } = bridges()
  const [book, list] = [open(), tool('list')]
  await book.keepListing(listing([list, tool('get')]))
  for (const one of [list, tool('get')]) book.learn(shapes, one.name, type(one, 'string'))
  await book.keepListing(listing([list, tool('get', 'gets another thing')]))
  expect([open().learnedType('list')?.shape.type, open().learnedType('get')]).toEqual([['string'], undefined])
})

it('each kind of client finds what the server listed for it, otherwise what it listed for others', async () => {
  const { open } = bridges()
  const book = open()
  await book.keepListing(listing([tool('ask')], { abilities: 'roots' }))
  expect(book.listingFor('')?.tools).toEqual([tool('ask')])
  await book.keepListing(listing([tool('list')]))
  expect(['', 'roots', 'sampling'].map((kind) => open().listingFor(kind)?.tools[0]?.name)).toEqual([
    'list',
    'ask',
    'list',
  ])
})

it.each([
  ['empty', ''],
  ['torn', '{"format":3,"listi'],
  ['not JSON', '\u0000\u0001garbage SECRET'],
  ['not an object', '[1]'],
  ['of another format', '{"format":2,"tools":[]}'],
  ['without pins', JSON.stringify({ format: 3, listings: [], pinnedFor: [], learned: {} })],
])('a book that is %s stays as it is, is reported once, and lets all tools count as changed', async (_, text) => {
  const { record, lines, file } = bridges()
  expect(await changed(record(), [tool('list')])).toEqual([])
  writeFileSync(file, text)
  const next = record()
  expect(next.tools).toBeUndefined()
  expect(await changed(next, [tool('list')])).toEqual(['list'])
  expect(next.tools?.map(({ name }) => name)).toEqual(['list'])
  expect(readFileSync(file, 'utf8')).toBe(text)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain(file)
  expect(lines[0]).not.toContain('SECRET')
  // Control: without the file, the tools are taken as they are now.
  rmSync(file)
  expect(await changed(record(), [tool('list', 'does another thing')])).toEqual([])
})

it('a folder that cannot be written costs one warning, and everything else works', async () => {
  const { record, lines, file } = bridges()
  writeFileSync(path.dirname(path.dirname(file)), '')
  const one = record()
  one.update([tool('list')])
  await one.flush()
  one.update([tool('list'), tool('get')])
  await one.flush()
  expect(one.tools).toHaveLength(2)
  expect(lines).toHaveLength(1)
})

it('a store that fails for some time has everything later', async () => {
  const { open, lines, store } = bridges()
  const failing = store()
  let isAway = true
  const document = failing.document.bind(failing)
  failing.document = (name) => {
    const working = document(name)
    const refuse = () => Promise.reject(new BridgeError('STATE_UNWRITABLE', 'PostgreSQL cannot be reached'))
    return {
      place: working.place,
      read: () => (isAway ? refuse() : working.read()),
      update: (change) => (isAway ? refuse() : working.update(change)),
    }
  }
  const book = open(failing)
  await book.ready()
  await book.keepListing(listing([tool('list')]))
  expect(book.value.listings).toHaveLength(1)
  expect(lines).toHaveLength(1)
  isAway = false
  await book.flush()
  const elsewhere = open(failing)
  await elsewhere.ready()
  expect(open().value.listings).toEqual(book.value.listings)
})

it('a tool that is described differently, or is new, is changed until one bridge accepts it', async () => {
  const { record } = bridges()
  const [one, other] = [record(), record()]
  expect(await changed(one, [tool('a')])).toEqual([])
  const later = [tool('a', 'does another thing'), tool('b')]
  expect(await changed(one, later)).toEqual(['a', 'b'])
  expect(await changed(other, later)).toEqual(['a', 'b'])
  await other.accept(later)
  await one.settled()
  expect(['a', 'b'].filter((name) => one.isChanged(name))).toEqual([])
  // A call does not wait for what is known.
  expect(one.settled()).toBeUndefined()
})

it('a tool whose keys and sets are in another order is the same', async () => {
  const { record } = bridges()
  const of = (inputSchema: UpstreamTool['inputSchema']): UpstreamTool[] => [{ ...tool('a'), inputSchema }]
  const [state, number] = [{ enum: ['open', 'closed'], default: ['x', 'y'] }, { type: 'number' }]
  const first = of({ type: 'object', properties: { state, number }, required: ['state', 'number'] })
  expect(await changed(record(), first)).toEqual([])
  const turned = { default: ['y', 'x'], enum: ['closed', 'open'] }
  const second = of({ required: ['number', 'state'], properties: { number, state: turned }, type: 'object' })
  expect(await changed(record(), second)).toEqual([])
  // Control: another value.
  const other = { ...turned, enum: ['closed', 'all'] }
  const third = of({ type: 'object', properties: { state: other, number }, required: ['state', 'number'] })
  expect(await changed(record(), third)).toEqual(['a'])
})

it('tools that a server has only for clients that can be asked are new once, and others stay as they were', async () => {
  const { record } = bridges()
  expect(await changed(record(), [tool('a')])).toEqual([])
  expect(await changed(record('asked'), [tool('a', 'does another thing'), tool('ask')])).toEqual(['a'])
  expect(await changed(record('asked'), [tool('a'), tool('ask')])).toEqual([])
  // Only the first listing counts.
  expect(await changed(record('asked'), [tool('a'), tool('ask'), tool('more')])).toEqual(['more'])
  expect(await changed(record(), [tool('a'), tool('more')])).toEqual(['more'])
})

it('bridges that list at once agree', async () => {
  const { record } = bridges()
  const lists = [[tool('a')], [tool('a'), tool('b')], [tool('a'), tool('b'), tool('c')]]
  await Promise.all(lists.map((tools, kind) => changed(record(String(kind)), tools)))
  for (const [kind, tools] of lists.entries()) expect(await changed(record(String(kind)), tools)).toEqual([])
})

it('a definition has the same book until what is started changes', () => {
  const withEnv = (env: Record<string, string>, name = 'hub'): ServerDefinition => {
    return { ...DEFINITION, name, transport: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env } }
  }
  const key = definitionKey(withEnv({ TOKEN: 'a', MODE: 'b' }))
  expect(definitionKey(withEnv({ MODE: 'b', TOKEN: 'a' }, 'other name'))).toBe(key)
  expect(definitionKey(withEnv({ TOKEN: 'other', MODE: 'b' }))).not.toBe(key)
})

it('a book that many changes wait for holds them all in one write', async () => {
  const { open, file } = bridges()
  const book = open()
  await book.keepListing(listing(Array.from({ length: 50 }, (_, at) => tool(`tool_${at}`))))
  for (let at = 0; at < 50; at += 1) book.learn(shapes, `tool_${at}`, type(tool(`tool_${at}`), 'string'))
  await book.flush()
  expect(open().learnedType('tool_49')).toBeDefined()
  expect(readdirSync(path.dirname(file))).toEqual([path.basename(file)])
})

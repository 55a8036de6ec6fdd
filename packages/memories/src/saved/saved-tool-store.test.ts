import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { type SavedToolContent, savedToolLine } from './saved-tool.ts'
import { parseSavedTool, SavedToolStore } from './saved-tool-store.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

let folder: string
let store: SavedToolStore
beforeEach(() => {
  folder = newFolder()
  store = new SavedToolStore(fileStore(path.join(folder, '.sandbridge')))
})

const tool = (extra: Partial<SavedToolContent> = {}): SavedToolContent => ({
  name: 'add',
  source: 'def add(a, b):\n    return a + b\n',
  imports: [],
  servers: [],
  signature: '(a, b)',
  description: 'Add two numbers.',
  isAsync: false,
  ...extra,
})
const fine = async () => {}

it('a saved tool has versions, and gets no new one when it is the same', async () => {
  expect(await store.save(tool(), fine)).toMatchObject({ version: 1 })
  expect(await store.save(tool(), fine)).toMatchObject({ version: 1 })
  expect(await store.save(tool({ source: 'def add(): pass\n' }), fine)).toMatchObject({ version: 2 })
  expect((await store.find('add', 1)).source).toContain('a + b')
  expect((await new SavedToolStore(fileStore(path.join(folder, '.sandbridge'))).find('add')).version).toBe(2)
  expect(await store.versions('add')).toEqual([1, 2])
})

it('a tool that does not load is not saved', async () => {
  await expect(store.save(tool(), () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await store.list()).toEqual({ tools: [], broken: [] })
})

it('a named pipe in the place of a saved tool keeps nobody waiting', async () => {
  needsPosix('named pipes')
  await store.save(tool(), fine)
  const place = path.join(folder, '.sandbridge/tools/piped/1')
  mkdirSync(place, { recursive: true })
  execFileSync('mkfifo', [path.join(place, 'tool.json')])
  expect((await store.list()).tools.map((one) => one.name)).toEqual(['add'])
  await expect(store.find('piped')).rejects.toMatchObject({ code: 'STATE_NOT_FOUND' })
})

it('a damaged saved tool is reported, and the others still work', async () => {
  await store.save(tool(), fine)
  for (const [name, text] of [
    ['torn', '{"name": "torn"'],
    ['swapped', JSON.stringify({ ...tool(), createdAt: '' })],
  ] as const) {
    const place = path.join(folder, '.sandbridge/tools', name, '1')
    mkdirSync(place, { recursive: true })
    writeFileSync(path.join(place, 'tool.json'), text)
  }
  const { tools, broken } = await store.list()
  expect(tools.map((one) => one.name)).toEqual(['add'])
  expect(broken.map((one) => one.name)).toEqual(['swapped', 'torn'])
  expect(broken[0]!.problem).toMatch(/damaged/)
  await expect(store.find('torn')).rejects.toMatchObject({
    code: 'STATE_NOT_FOUND',
    message: expect.stringContaining('damaged'),
  })
})

it('the error for an unknown saved tool names similar ones', async () => {
  await store.save(tool({ name: 'weekly_report' }), fine)
  await expect(store.find('weekly_reprot')).rejects.toMatchObject({ hint: 'Did you mean weekly_report?' })
  await expect(store.find('weekly_report', 9)).rejects.toMatchObject({ hint: 'Its versions: 1' })
  await expect(store.find('../../x')).rejects.toMatchObject({ code: 'STATE_NOT_FOUND' })
})

it('a saved tool is deleted with all versions', async () => {
  await store.save(tool(), fine)
  await store.remove('add')
  await expect(store.find('add')).rejects.toMatchObject({ code: 'STATE_NOT_FOUND' })
  await expect(store.remove('add')).rejects.toMatchObject({ code: 'STATE_NOT_FOUND' })
  await expect(store.remove('..')).rejects.toMatchObject({ code: 'STATE_REFUSED' })
})

it.each([
  ['no object', 5],
  ['a name that is a path', tool({ name: '../x' })],
  ['a name that is two statements', tool({ name: 'a; import os' })],
  ['a private name', tool({ name: '_x' })],
  ['a name of 65 letters', tool({ name: 'x'.repeat(65) })],
  ['source of a megabyte', tool({ source: 'x'.repeat(1 << 20) })],
  ['no source', tool({ source: '' })],
  ['two import lines in one', tool({ imports: ['import os\nimport sys'] })],
  ['a signature of two lines', tool({ signature: '()\n' })],
  ['101 imports', tool({ imports: Array.from({ length: 101 }, () => 'import os') })],
  ['a variable that is none', tool({ servers: [{ variable: 'a.b', name: 'x', alias: 'x' }] })],
])('a saved tool of a hostile sandbox is refused: %s', (_, value) => {
  expect(() => parseSavedTool(value)).toThrow(expect.objectContaining({ code: 'STATE_REFUSED' }))
})

it('a saved tool of a hostile sandbox is shown without characters that hide text from people', () => {
  const line = savedToolLine(tool({ signature: '(a\u202e)', description: 'Add\u200b it.\nIgnore all' }))
  expect(line).toBe('from user_tools import add; add(a)  # saved; Add it')
})

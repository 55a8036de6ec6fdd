// This file verifies that files of `/projects` stay in their folder and within their limits, whatever a sandbox
// requests.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { needsLinks } from '@sandbridge/core/test/support/suite/needs.ts'
import { type ProjectLimits, ProjectStore } from './project-store.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const LIMITS: ProjectLimits = { fileBytes: 100, totalBytes: 150, entryCount: 4, depth: 3 }

function newStore(limits?: ProjectLimits): { store: ProjectStore; outside: string } {
  const folder = newFolder()
  const outside = path.join(folder, 'outside')
  mkdirSync(outside)
  writeFileSync(path.join(outside, 'secret'), 'host')
  return { store: new ProjectStore(path.join(folder, 'state'), limits), outside }
}

const none = { files: [], folders: [], removed: [] }
const write = (store: ProjectStore, file: string, data: string | Buffer) =>
  store.keep({ ...none, files: [{ path: file, data: Buffer.from(data) }] })
const text = async (store: ProjectStore, file: string) =>
  (await store.read(file, { offset: 0, length: 1000 })).data.toString()

it('a project keeps files and folders, and reports changes', async () => {
  const { store } = newStore()
  const empty = store.revision()
  await write(store, 'app/src/a.py', 'x = 1')
  await store.keep({ ...none, folders: ['app/empty'] })
  expect(store.list().map((entry) => entry.path)).toEqual(['app', 'app/empty', 'app/src', 'app/src/a.py'])
  const first = store.revision()
  expect(first).not.toBe(empty)
  expect(store.revision()).toBe(first)
  await write(store, 'app/src/a.py', 'x = 22')
  expect(store.revision()).not.toBe(first)
  expect(await text(store, 'app/src/a.py')).toBe('x = 22')
  await store.keep({ ...none, removed: ['app', 'app/src/a.py', 'app/src', 'app/empty'] })
  expect(store.list()).toEqual([])
})

it('a project keeps a file that is called __proto__, and says so', async () => {
  const { store } = newStore()
  expect(Object.keys((await write(store, '__proto__', 'x')).kept)).toEqual(['__proto__'])
  expect(await text(store, '__proto__')).toBe('x')
})

it.each(['../x', '/etc/x', 'a/../../x', 'a//x', '.', '..', 'a/..', 'a\\x', 'C:x', 'a\0b', '', 'con', 'x\n', 'a/'])(
  'a project refuses the path %j',
  async (wanted) => {
    const { store, outside } = newStore()
    const { refused } = await write(store, wanted, 'x')
    expect(Object.keys(refused)).toEqual([wanted])
    await expect(store.read(wanted, { offset: 0, length: 1 })).rejects.toThrow()
    expect(existsSync(path.join(outside, '../x'))).toBe(false)
  },
)

it('a project follows no symbolic link, neither to read nor to write nor to delete', async () => {
  needsLinks()
  const { store, outside } = newStore()
  mkdirSync(store.folder, { recursive: true })
  symlinkSync(outside, path.join(store.folder, 'out'))
  symlinkSync(path.join(outside, 'secret'), path.join(store.folder, 'file'))
  expect(store.list()).toEqual([])
  await expect(text(store, 'out/secret')).rejects.toThrow(/symbolic link/)
  await expect(text(store, 'file')).rejects.toThrow(/symbolic link/)
  const { refused } = await store.keep({
    files: [{ path: 'out/secret', data: Buffer.from('x') }],
    folders: ['out/new'],
    removed: ['out/secret', 'file'],
  })
  expect(Object.keys(refused)).toHaveLength(3)
  expect(readFileSync(path.join(outside, 'secret'), 'utf8')).toBe('host')
  expect(existsSync(path.join(outside, 'new'))).toBe(false)
})

it('a project is limited in bytes, in number and in depth', async () => {
  const { store } = newStore(LIMITS)
  const refusal = async (file: string, data: string) => Object.values((await write(store, file, data)).refused)[0]
  expect(await refusal('a', 'x'.repeat(101))).toMatch(/the limit of a file is/)
  expect(await refusal('a', 'x'.repeat(100))).toBeUndefined()
  expect(await refusal('b', 'x'.repeat(60))).toMatch(/limit of all files/)
  expect(await refusal('a', 'x'.repeat(50))).toBeUndefined()
  expect(await refusal('b', 'x'.repeat(60))).toBeUndefined()
  expect(await refusal('d/e/f/g', '')).toMatch(/deep/)
  expect(await refusal('d/e/f', '')).toMatch(/4 files and folders/)
  expect(store.list().length).toBeLessThanOrEqual(4)
})

it("a project lists no more of the user's files than a sandbox has room for", () => {
  const { store } = newStore(LIMITS)
  mkdirSync(store.folder, { recursive: true })
  for (let n = 0; n < 9; n++) writeFileSync(path.join(store.folder, `f${n}`), 'x'.repeat(60))
  expect(store.list().map((entry) => entry.path)).toEqual(['f0', 'f1'])
  for (let n = 0; n < 9; n++) writeFileSync(path.join(store.folder, `f${n}`), '')
  expect(store.list().map((entry) => entry.path)).toEqual(['f0', 'f1', 'f2', 'f3'])
})

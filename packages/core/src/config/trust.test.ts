import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { createTrustStore, textHash } from './trust.ts'
import { newFolder } from '../../test/support/machine/new-folder.ts'

/** Windows puts the letter of a disk in front. */
const [A, B, FILE] = ['/a', '/b', '/p/.mcp.json'].map((file) => path.resolve(file))

let stateDir: string

beforeEach(async () => {
  stateDir = newFolder()
})

const record = (): string => path.join(stateDir, '.sandbridge', 'trust.json')

it('a trust store trusts nothing by default', async () => {
  expect(await createTrustStore(stateDir).isTrusted('/p/.mcp.json', '{}')).toBe(false)
  expect(await readdir(stateDir)).toEqual([])
})

it('a trust store compares paths of Windows as Windows does', async () => {
  const store = createTrustStore(stateDir)
  const resolve = vi.spyOn(path, 'resolve').mockImplementation((...parts) => path.win32.resolve(...parts))
  onTestFinished(() => resolve.mockRestore())
  await store.trust('C:\\Work\\.mcp.json', textHash('{}'))
  for (const file of ['c:\\Work\\.mcp.json', 'C:/work/.MCP.json', '\\\\?\\C:\\Work\\.mcp.json'])
    expect(await store.isTrusted(file, '{}')).toBe(true)
  for (const file of ['D:\\Work\\.mcp.json', 'C:\\Work\\x\\.mcp.json'])
    expect(await store.isTrusted(file, '{}')).toBe(false)
  await store.trust('c:\\work\\.mcp.json', textHash('{"a":1}'))
  expect(await store.list()).toEqual(['C:\\Work\\.mcp.json'])
  expect(await store.untrust('c:/work/.mcp.json')).toBe(true)
  await store.trust('\\\\nas\\work\\.mcp.json', textHash('{}'))
  for (const file of ['//NAS/Work/.mcp.json', '\\\\?\\UNC\\nas\\work\\.mcp.json'])
    expect(await store.isTrusted(file, '{}')).toBe(true)
})

it('a trust store trusts one text at one path', async () => {
  await createTrustStore(stateDir).trust('/p/.mcp.json', textHash('{"a":1}'))
  const store = createTrustStore(stateDir)
  expect(await store.isTrusted('/p/.mcp.json', '{"a":1}')).toBe(true)
  expect(await store.isTrusted('/p/../p/.mcp.json', '{"a":1}')).toBe(true)
  expect(await store.isTrusted('/p/.mcp.json', '{"a":2}')).toBe(false)
  expect(await store.isTrusted('/q/.mcp.json', '{"a":1}')).toBe(false)
  expect(await store.list()).toEqual([FILE])
})

it('a trust store forgets a file that is no longer trusted', async () => {
  const store = createTrustStore(stateDir)
  await store.trust('/p/.mcp.json', textHash('x'))
  expect(await store.untrust('/p/.mcp.json')).toBe(true)
  expect(await store.untrust('/p/.mcp.json')).toBe(false)
  expect(await store.isTrusted('/p/.mcp.json', 'x')).toBe(false)
})

it('a trust store keeps what another process has added', async () => {
  const one = createTrustStore(stateDir)
  await one.isTrusted('/a', 'a')
  await createTrustStore(stateDir).trust('/b', textHash('b'))
  await one.trust('/a', textHash('a'))
  expect(await createTrustStore(stateDir).list()).toEqual([A, B])
})

it('a trust store writes hashes only, to a file that only its owner can read, and leaves no temporary file', async () => {
  await createTrustStore(stateDir).trust('/p/.mcp.json', textHash('CANARY'))
  if (process.platform !== 'win32') expect((await stat(record())).mode & 0o777).toBe(0o600)
  expect(await readFile(record(), 'utf8')).not.toContain('CANARY')
  expect(await readdir(path.dirname(record()))).toEqual(['trust.json'])
})

it.each(['{half', '[]', '{"version":2,"files":{}}', '{"version":1}'])(
  'a trust store trusts nothing when its file is damaged, and leaves the file as it is: %s',
  async (text) => {
    await mkdir(path.dirname(record()))
    await writeFile(record(), text)
    const store = createTrustStore(stateDir)
    expect(await store.isTrusted('/a', 'a')).toBe(false)
    await expect(store.trust('/a', textHash('a'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(await readFile(record(), 'utf8')).toBe(text)
  },
)

it('a trust store reports that its file cannot be written', async () => {
  await writeFile(path.dirname(record()), 'a file where the folder would be')
  await expect(createTrustStore(stateDir).trust('/a', textHash('a'))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  })
})

it('a trust store ignores an entry that is not a hash', async () => {
  await mkdir(path.dirname(record()))
  await writeFile(record(), '{"version":1,"files":{"/a":true,"/b":null}}')
  expect(await createTrustStore(stateDir).isTrusted('/a', 'a')).toBe(false)
})

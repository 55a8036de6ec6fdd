import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import type { Log } from '../../util/log.ts'
import { definitionKey, DiskCache, type CachedServer } from './disk-cache.ts'

const KEY = 'a'.repeat(64)
const ENTRY: CachedServer = {
  tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
  instructions: 'Hi',
  fetchedAt: 1000,
}

let folder: string
let warnings: string[]
let log: Log

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'catalog-')), 'cache')
  warnings = []
  const ignore = (): void => {}
  log = {
    debug: ignore,
    info: ignore,
    error: ignore,
    warning: (message, fields) => warnings.push(`${message} ${JSON.stringify(fields)}`),
  }
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

function server(env: Record<string, string>, name = 'github'): ServerDefinition {
  return {
    name,
    transport: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env },
    source: { client: 'c', file: 'f' },
  }
}

it('a cached entry is read again, and only its owner can read the file', () => {
  const cache = new DiskCache(folder, log)
  cache.write(KEY, ENTRY)
  expect(new DiskCache(folder, log).read(KEY)).toEqual(ENTRY)
  expect(readdirSync(folder)).toEqual([`${KEY}.json`])
  if (process.platform !== 'win32') {
    expect(statSync(join(folder, `${KEY}.json`)).mode & 0o777).toBe(0o600)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  }
})

it('who reads an entry again gets one of its own, and what the file contains by then', () => {
  const cache = new DiskCache(folder, log)
  cache.write(KEY, ENTRY)
  cache.read(KEY)!.instructions = 'changed by its reader'
  expect(cache.read(KEY)).toEqual(ENTRY)
  new DiskCache(folder, log).write(KEY, { ...ENTRY, instructions: 'Hello' })
  expect(cache.read(KEY)).toEqual({ ...ENTRY, instructions: 'Hello' })
  rmSync(join(folder, `${KEY}.json`))
  expect(cache.read(KEY)).toBeUndefined()
})

it('a missing cache file is an empty entry without a warning', () => {
  expect(new DiskCache(folder, log).read(KEY)).toBeUndefined()
  expect(warnings).toEqual([])
})

it.each([
  ['empty', ''],
  ['torn', JSON.stringify({ format: 2, ...ENTRY }).slice(0, 40)],
  ['not JSON', '\u0000\u0001garbage SECRET'],
  ['not an object', '[1]'],
  ['of an older format', JSON.stringify({ format: 1, ...ENTRY })],
  ['of a newer format', JSON.stringify({ format: 3, ...ENTRY })],
])('a cache file that is %s is not used, reported once, and replaced', (_, text) => {
  const cache = new DiskCache(folder, log)
  cache.write(KEY, ENTRY)
  writeFileSync(join(folder, `${KEY}.json`), text)
  expect(cache.read(KEY)).toBeUndefined()
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).not.toContain('SECRET')
  cache.write(KEY, ENTRY)
  expect(cache.read(KEY)).toEqual(ENTRY)
  expect(warnings).toHaveLength(1)
})

it('invalid parts of a cache file are left out', () => {
  const cache = new DiskCache(folder, log)
  cache.write(KEY, ENTRY)
  const text = JSON.stringify({
    format: 2,
    tools: [null, 3, { name: 'good' }, { name: 4 }],
    fetchedAt: 5,
    instructions: {},
    learned: { good: { of: 'x', shape: { type: ['string'] } }, bad: { shape: 'x' } },
    failure: 'x',
  })
  writeFileSync(join(folder, `${KEY}.json`), text)
  expect(cache.read(KEY)).toEqual({
    tools: [{ name: 'good' }],
    fetchedAt: 5,
    learned: { good: { of: 'x', shape: { type: ['string'] } } },
  })
})

it('two bridges that share a cache folder keep what the other learned', () => {
  const [one, other] = [new DiskCache(folder, log), new DiskCache(folder, log)]
  one.write(KEY, {
    ...ENTRY,
    learned: { a: { of: '1', shape: { type: ['string'] } }, b: { of: '1', shape: { type: ['string'] } } },
  })
  other.write(KEY, {
    ...ENTRY,
    learned: { a: { of: '1', shape: { type: ['integer'] } }, c: { of: '1', shape: { type: ['null'] } } },
  })
  const learned = one.read(KEY)?.learned ?? {}
  expect(learned['a']?.shape.type).toEqual(['integer', 'string'])
  expect(Object.keys(learned).toSorted()).toEqual(['a', 'b', 'c'])
})

it('each client finds what the server listed for those that can be asked the same', () => {
  const [able, unable] = [new DiskCache(folder, log, undefined, () => 'roots'), new DiskCache(folder, log)]
  const more = { ...ENTRY, tools: [{ name: 'ask', inputSchema: { type: 'object' } }], abilities: 'roots' }
  able.write(KEY, more)
  // Better than nothing, and marked as what others were told.
  expect(unable.read(KEY)).toEqual(more)
  unable.write(KEY, ENTRY)
  able.write(KEY, { ...more, lastError: { reason: 'It crashed', at: 7 } })
  expect(able.read(KEY)?.tools).toEqual(more.tools)
  expect(unable.read(KEY)).toMatchObject({ tools: ENTRY.tools, lastError: { reason: 'It crashed', at: 7 } })
  expect(unable.read(KEY)).not.toHaveProperty('abilities')
})

it('a cache folder that cannot be written causes one warning', () => {
  writeFileSync(join(folder, '..', 'file'), '')
  const cache = new DiskCache(join(folder, '..', 'file', 'cache'), log)
  cache.write(KEY, ENTRY)
  cache.write(KEY, ENTRY)
  expect(cache.read(KEY)).toBeUndefined()
  expect(warnings.filter((line) => line.startsWith('The catalog cannot be saved'))).toHaveLength(1)
})

it('the cache key of a definition changes only with what is started', () => {
  const key = definitionKey(server({ TOKEN: 'a', MODE: 'b' }))
  expect(definitionKey(server({ MODE: 'b', TOKEN: 'a' }, 'other name'))).toBe(key)
  expect(definitionKey(server({ TOKEN: 'other', MODE: 'b' }))).not.toBe(key)
})

it('the cache holds no secret of a definition, neither in a file name nor in a file', () => {
  const definition = server({ TOKEN: 'sk-very-secret' })
  new DiskCache(folder, log).write(definitionKey(definition), ENTRY)
  const [file] = readdirSync(folder)
  expect(file + readFileSync(join(folder, file!), 'utf8')).not.toContain('sk-very-secret')
})

// Here the package index is a folder of wheels that pip's configuration names, so that no test needs a network.
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import { makeWheel, type WheelOptions } from '@sandbridge/core/test/support/servers/make-wheel.ts'
import { needsIndex, needsPip } from '@sandbridge/core/test/support/suite/needs.ts'
import { packageFiles } from './package-files.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const TAG = 'cp314-cp314-pyemscripten_2026_0_wasm32'

/** A distribution of one package, whose file is in the cache already, beside an index with these packages. */
function setUp(...ofIndex: WheelOptions[]) {
  const cache = newFolder()
  const index = newFolder()
  vi.stubEnv('PIP_NO_INDEX', '1')
  vi.stubEnv('PIP_FIND_LINKS', index)
  vi.stubEnv('PIP_CONFIG_FILE', '/dev/null')
  for (const one of ofIndex) {
    const { fileName, data } = makeWheel(one)
    writeFileSync(path.join(index, fileName), data)
  }
  const figures = makeWheel({ name: 'figures', version: '2.0', tag: TAG, files: { 'figures.py': 'A = 1\n' } })
  mkdirSync(path.join(cache, 'wheels'))
  writeFileSync(path.join(cache, 'wheels', figures.fileName), figures.data)
  const sha256 = createHash('sha256').update(figures.data).digest('hex')
  const locked = { name: 'figures', version: '2.0', file_name: figures.fileName, sha256, depends: [] }
  const lock = { info: { python: '3.14.2', abi_version: '2026_0' }, packages: { figures: locked } }
  const distribution = { lock, baseUrl: 'http://127.0.0.1:9/' }
  const get = async (...words: string[]) => {
    const { files, missing } = await packageFiles(words, cache, distribution)
    return { paths: files.map((file) => file.path).filter((name) => name.endsWith('.py')), missing }
  }
  return { cache, index, get }
}

beforeEach(needsPip)

it('a package of the index comes with what it needs of the index and of the distribution', async () => {
  const { get, index } = setUp(
    { name: 'table', requires: ['figures', 'fast'], files: { 'table.py': '' } },
    { name: 'fast', tag: TAG, files: { 'fast.py': '' } },
    { name: 'fast', version: '9.0', tag: 'cp314-cp314-manylinux_2_28_x86_64', files: { 'other.py': '' } },
  )
  expect(await get('table')).toEqual({ paths: ['fast.py', 'figures.py', 'table.py'], missing: [] })
  // What was chosen is kept: the index is not needed again.
  rmSync(index, { recursive: true })
  expect((await get('table')).paths).toHaveLength(3)
})

it('a folder with wheels of the distribution needs neither its address nor an index', async () => {
  const { get, index } = setUp()
  const folder = newFolder()
  for (const one of [
    { name: 'figures', version: '2.0', tag: TAG, requires: ['fast'], files: { 'figures.py': 'A = 2\n' } },
    { name: 'fast', tag: TAG, files: { 'fast.py': '' } },
  ]) {
    const { fileName, data } = makeWheel(one)
    writeFileSync(path.join(folder, fileName), data)
  }
  rmSync(index, { recursive: true })
  expect(await get(folder)).toEqual({ paths: ['fast.py', 'figures.py'], missing: [] })
})

it('a kept file that was changed is not used', async () => {
  const { get, cache } = setUp({ name: 'table', files: { 'table.py': '' } })
  expect((await get('table')).paths).toEqual(['table.py'])
  const changed = makeWheel({ name: 'table', files: { 'evil.py': '' } })
  writeFileSync(path.join(cache, 'wheels', changed.fileName), changed.data)
  expect((await get('table')).paths).toEqual(['table.py'])
})

it('a package that the index lacks does not keep others out, and says why', async () => {
  const { get } = setUp({ name: 'table', files: { 'table.py': '' } })
  const { paths, missing } = await get('figures', 'no-such', 'table')
  expect(paths).toEqual(['figures.py', 'table.py'])
  expect(missing).toEqual([{ word: 'no-such', name: 'no-such', reason: 'No matching distribution found for no-such' }])
})

it('without an index, packages of the distribution are there', async () => {
  const { get } = setUp()
  vi.stubEnv('PIP_NO_INDEX', '')
  vi.stubEnv('PIP_INDEX_URL', 'http://127.0.0.1:9/simple')
  vi.stubEnv('PIP_RETRIES', '1')
  const { paths, missing } = await get('figures', 'table')
  expect(paths).toEqual(['figures.py'])
  expect(missing).toMatchObject([{ word: 'table', reason: expect.stringMatching(/package index cannot be reached/) }])
})

it('a real index has a wheel for the platform of WebAssembly, and a pure one', async () => {
  needsIndex()
  const words = ['pydantic-core', 'tabulate']
  const { files, missing } = await packageFiles(words, newFolder(), undefined)
  expect(missing).toEqual([])
  const paths = files.map((file) => file.path).join('\n')
  expect(paths).toMatch(/pydantic_core.*wasm32-emscripten\.so/)
  expect(paths).toMatch(/^tabulate/m)
})

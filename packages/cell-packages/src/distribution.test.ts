import { createHash } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { makeExtension } from '../test/support/make-extension.ts'
import { makeWheel } from '@sandbridge/core/test/support/servers/make-wheel.ts'
import {
  type Distribution,
  fetchWheels,
  fitsPython,
  installedDistribution,
  type LockFile,
  resolvePackages,
} from './distribution.ts'
import { packageFiles } from './package-files.ts'
import { PyodideProvider } from '../../core/src/isolation/pyodide/provider.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const TAG = 'cp314-cp314-pyemscripten_2026_0_wasm32'
const info = { python: '3.14.2', abi_version: '2026_0' }

function lockOf(wheels: Record<string, { fileName: string; data: Buffer; depends?: string[] }>): LockFile {
  const packages = Object.entries(wheels).map(([name, { fileName, data, depends = [] }]) => {
    const sha256 = createHash('sha256').update(data).digest('hex')
    return [name, { name, version: '1.0', file_name: fileName, sha256, depends }] as const
  })
  return { info, packages: Object.fromEntries(packages) }
}

/** A compiled package, and a pure Python package that it needs. */
const compiled = makeWheel({
  name: 'outer',
  tag: TAG,
  files: {
    'outer/__init__.py': 'from tinypkg import ANSWER\nfrom . import fast\n',
    'outer/fast.cpython-314-wasm32-emscripten.so': makeExtension('fast'),
  },
})
const lock = lockOf({ outer: { ...compiled, depends: ['tinypkg'] }, tinypkg: makeWheel() })

/** Serves these files, and counts the requests. */
function serve(files: Record<string, Buffer>): Promise<Pick<Distribution, 'baseUrl'> & { asked: string[] }> {
  return listen((name, response) => {
    if (files[name]) response.end(files[name])
    else response.writeHead(404).end()
  })
}

/** A mirror that answers requests for files in its own way, and counts them. */
async function listen(answer: (name: string, response: ServerResponse) => void) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const name = path.basename(request.url ?? '')
    asked.push(name)
    answer(name, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/full/`, asked }
}

it('packages by name come with what they need', () => {
  expect(resolvePackages(['Outer==1.0'], lock).map(({ name }) => name)).toEqual(['outer', 'tinypkg'])
})

it.each([
  ['nothing', /no nothing for its Python/],
  ['__proto__', /by name/],
  ['constructor', /no constructor/],
  ['outer==2.0', /has only outer 1\.0/],
  ['outer>=1', /by name, such as/],
])('packages by name are refused: %s', (requirement, why) => {
  expect(() => resolvePackages([requirement], lock)).toThrow(why)
})

it('packages by name are fetched once, and have to be what the lock file says', async () => {
  const folder = newFolder()
  const { baseUrl, asked } = await serve({ [compiled.fileName]: compiled.data })
  const [outer] = resolvePackages(['outer'], lock)
  const told: string[] = []
  const options = { baseUrl, folder, onProgress: (message: string) => void told.push(message) }
  expect((await fetchWheels([outer!], options))[0]?.data).toEqual(compiled.data)
  expect((await fetchWheels([outer!], options))[0]?.data).toEqual(compiled.data)
  expect(asked).toEqual([compiled.fileName])
  expect(told).toEqual(['Downloading outer for the embedded sandbox'])
  writeFileSync(path.join(folder, compiled.fileName), 'damaged')
  await fetchWheels([outer!], options)
  expect(asked).toHaveLength(2)
  const forged = await serve({ [compiled.fileName]: Buffer.from('something else') })
  await expect(fetchWheels([outer!], { ...forged, folder: newFolder() })).rejects.toThrow(/wrong checksum/)
  const empty = await serve({})
  await expect(fetchWheels([outer!], { ...empty, folder: newFolder() })).rejects.toThrow(
    /cannot be downloaded: HTTP 404/,
  )
})

it('a mirror may redirect, and what it redirects to has to be what the lock file says', async () => {
  const redirectTo = ({ baseUrl }: Pick<Distribution, 'baseUrl'>) =>
    listen((name, response) => response.writeHead(302, { location: baseUrl + name }).end())
  const [outer] = resolvePackages(['outer'], lock)
  const storage = await serve({ [compiled.fileName]: compiled.data })
  const good = await redirectTo(storage)
  const folder = newFolder()
  expect((await fetchWheels([outer!], { ...good, folder }))[0]?.data).toEqual(compiled.data)
  expect([good.asked, storage.asked]).toEqual([[compiled.fileName], [compiled.fileName]])
  const forged = await redirectTo(await serve({ [compiled.fileName]: makeWheel({ name: 'outer' }).data }))
  const empty = newFolder()
  await expect(fetchWheels([outer!], { ...forged, folder: empty })).rejects.toThrow(/wrong checksum/)
  expect(readdirSync(empty)).toEqual([])
})

it('a download that breaks off keeps nothing, and the next one starts again', async () => {
  const [outer] = resolvePackages(['outer'], lock)
  let cuts = 1
  const mirror = await listen((_, response) => {
    response.writeHead(200, { 'content-length': compiled.data.length })
    const isCut = cuts > 0
    cuts -= 1
    if (isCut) response.write(compiled.data.subarray(0, compiled.data.length >> 1), () => response.destroy())
    else response.end(compiled.data)
  })
  const folder = newFolder()
  await expect(fetchWheels([outer!], { ...mirror, folder })).rejects.toMatchObject({
    message: expect.stringMatching(/^outer-.*\.whl cannot be downloaded: ./),
    hint: expect.stringContaining('mirror=URL'),
  })
  expect(readdirSync(folder)).toEqual([])
  expect((await fetchWheels([outer!], { ...mirror, folder }))[0]?.data).toEqual(compiled.data)
})

// It builds an embedded sandbox. package-files.test.ts tells which files it gets.
it('packages by name are imported in a cell, compiled code and all', { tags: ['whole'] }, async () => {
  const { baseUrl } = await serve({ [compiled.fileName]: compiled.data })
  const tiny = makeWheel()
  const file = path.join(newFolder(), tiny.fileName)
  writeFileSync(file, tiny.data)
  const cacheFolder = newFolder()
  const provider = new PyodideProvider({
    cacheFolder,
    packages: (onProgress) => packageFiles(['outer', file], cacheFolder, { lock, baseUrl }, onProgress),
  })
  const cells = await startCells(provider)
  expect((await cells.run('import outer\n(outer.ANSWER, outer.fast)')).value).toBe(
    "(42, <module 'outer.fast' from '/usr/lib/site-packages/outer/fast.cpython-314-wasm32-emscripten.so'>)",
  )
})

it.each([
  ['numpy-2.4.6-cp314-cp314-pyemscripten_2026_0_wasm32.whl', true],
  ['stable-1.0-cp312-abi3-pyemscripten_2026_0_wasm32.whl', true],
  ['pure-1.0-py3-none-any.whl', true],
  ['numpy-2.4.6-cp313-cp313-pyemscripten_2026_0_wasm32.whl', false],
  ['later-1.0-cp315-abi3-pyemscripten_2026_0_wasm32.whl', false],
  ['other-1.0-cp314-cp314-pyemscripten_2026_5_wasm32.whl', false],
  ['native-1.0-cp314-cp314-manylinux_2_28_x86_64.whl', false],
])('a package file fits: %s, %s', (name, fits) => {
  expect(fitsPython(name, lock)).toBe(fits)
})

it('the installed distribution has the packages for data, and says where it lies', async () => {
  const { lock: installed, baseUrl } = await installedDistribution()
  expect(await installedDistribution('http://mirror/')).toMatchObject({ baseUrl: 'http://mirror/' })
  expect(baseUrl).toMatch(/^https:\/\/[^${}]+\/v\d+\.\d+\.\d+\/full\/$/)
  const names = resolvePackages(['numpy', 'pandas', 'scipy', 'matplotlib', 'scikit-learn', 'pillow'], installed)
  expect(names.length).toBeGreaterThan(10)
})

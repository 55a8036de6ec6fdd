import { spawnSync } from 'node:child_process'
import { chown, mkdir, readFile, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { ensureBundle, findDamagedBundle, type BundleOptions } from './bundle.ts'
import { packFiles } from './snapshot.ts'
import { needsPosix, needsRoot } from '../../../test/support/suite/needs.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

let cacheFolder: string
let kernelFolder: string
let builds: number

beforeEach(async () => {
  cacheFolder = newFolder()
  kernelFolder = newFolder()
  await mkdir(join(kernelFolder, 'sandbridge_kernel', '__pycache__'), { recursive: true })
  await writeFile(join(kernelFolder, 'sandbridge_kernel', 'a.py'), 'a = 1\n')
  await writeFile(join(kernelFolder, 'sandbridge_kernel', '__pycache__', 'a.py'), 'no source\n')
  builds = 0
})

// Does not start Python: these tests are about the files.
const options = (more: Partial<BundleOptions> = {}): BundleOptions => ({
  cacheFolder,
  kernelFolder,
  readableByAll: false,
  build: async () => {
    builds += 1
    return { snapshot: Buffer.alloc(1 << 20, 7), codeCache: Buffer.from('cache'), compiled: packFiles([]) }
  },
  ...more,
})

it('compiled files of packages follow the files that were there', async () => {
  const codeCache = Buffer.from('cache')
  const compiled = packFiles([
    { path: '/a.pyc', data: Buffer.from('aa') },
    { path: '/b.pyc', data: Buffer.from('b') },
  ])
  const folder = await ensureBundle(
    options({ build: () => Promise.resolve({ snapshot: Buffer.alloc(9, 7), codeCache, compiled }) }),
  )
  expect(JSON.parse(await readFile(join(folder, 'files.json'), 'utf8'))).toEqual([
    ['/usr/lib/sandbridge/sandbridge_kernel/a.py', 0, 6],
    ['/a.pyc', 6, 8],
    ['/b.pyc', 8, 9],
  ])
  expect(await readFile(join(folder, 'files.bin'), 'utf8')).toBe('a = 1\naab')
})

it('ensureBundle builds a bundle once, and finds it again', async () => {
  const first = await ensureBundle(options())
  expect(await ensureBundle(options())).toBe(first)
  expect(builds).toBe(1)
  expect(await readdir(cacheFolder)).toHaveLength(1)
  expect(JSON.parse(await readFile(join(first, 'files.json'), 'utf8'))).toEqual([
    ['/usr/lib/sandbridge/sandbridge_kernel/a.py', 0, 6],
  ])
  expect(await readFile(join(first, 'files.bin'), 'utf8')).toBe('a = 1\n')
})

it('ensureBundle makes another bundle for another kernel', async () => {
  const first = await ensureBundle(options())
  await writeFile(join(kernelFolder, 'sandbridge_kernel', 'a.py'), 'a = 2\n')
  expect(await ensureBundle(options())).not.toBe(first)
})

it('ensureBundle removes bundles that were not used for weeks when it makes a new one', async () => {
  const recent = await ensureBundle(options())
  const unused = join(cacheFolder, 'pyodide-of-an-older-version')
  const foreign = join(cacheFolder, 'not-ours')
  for (const folder of [unused, foreign]) {
    await mkdir(folder)
    await utimes(folder, 0, 0)
  }
  await utimes(recent, 0, 0)
  await ensureBundle(options()) // used, so it is kept
  await writeFile(join(kernelFolder, 'sandbridge_kernel', 'a.py'), 'a = 2\n')
  const newer = await ensureBundle(options())
  const left = [recent, newer, foreign].map((folder) => basename(folder))
  expect((await readdir(cacheFolder)).toSorted()).toEqual(left.toSorted())
})

it('ensureBundle removes what a killed builder left an hour ago, and leaves a builder at work alone', async () => {
  const left = join(cacheFolder, 'pyodide-x.1-00.tmp')
  const atWork = join(cacheFolder, 'pyodide-x.2-00.tmp')
  for (const folder of [left, atWork]) await mkdir(folder)
  const twoHoursAgo = Date.now() / 1000 - 7_200
  await utimes(left, twoHoursAgo, twoHoursAgo)
  const made = await ensureBundle(options())
  expect((await readdir(cacheFolder)).toSorted()).toEqual([basename(made), basename(atWork)].toSorted())
})

it('ensureBundle names its folder before it checks the files, and again after it has rebuilt a damaged bundle', async () => {
  const named: string[] = []
  const naming = { ...options(), onFolder: (folder: string) => named.push(folder) }
  const folder = await ensureBundle(naming)
  expect(named).toEqual([folder])
  await ensureBundle(naming)
  expect(named).toEqual([folder, folder])
  await writeFile(join(folder, 'boot.js'), 'damaged')
  await ensureBundle(naming)
  expect(named).toEqual([folder, folder, folder, folder])
})

it('ensureBundle makes one whole bundle for any number of builders at once', async () => {
  const folders = await Promise.all(Array.from({ length: 5 }, () => ensureBundle(options())))
  expect(new Set(folders).size).toBe(1)
  expect(await readdir(cacheFolder)).toEqual([folders[0]!.slice(cacheFolder.length + 1)])
  const before = builds
  await ensureBundle(options())
  expect(builds).toBe(before)
})

it('ensureBundle reports a damaged bundle, and not a whole or missing one', async () => {
  expect(await findDamagedBundle(options())).toBeUndefined()
  const folder = await ensureBundle(options())
  expect(await findDamagedBundle(options())).toBeUndefined()
  await truncate(join(folder, 'snapshot.bin'), 1000)
  expect(await findDamagedBundle(options())).toBe(folder)
})

it.each([
  ['a truncated snapshot', (folder: string) => truncate(join(folder, 'snapshot.bin'), 1000)],
  ['a flipped byte', (folder: string) => writeFile(join(folder, 'snapshot.bin'), Buffer.alloc(1 << 20, 8))],
  ['a changed program', (folder: string) => writeFile(join(folder, 'child.cjs'), 'process.exit()')],
  ['a missing file', (folder: string) => rm(join(folder, 'pump.cjs'))],
  ['a broken manifest', (folder: string) => writeFile(join(folder, 'manifest.json'), '{')],
  ['an empty manifest', (folder: string) => writeFile(join(folder, 'manifest.json'), '{}')],
  ['an empty folder', (folder: string) => rm(folder, { recursive: true }).then(() => mkdir(folder))],
])('ensureBundle notices and repairs %s', async (_, damage) => {
  const folder = await ensureBundle(options())
  await damage(folder)
  expect(await ensureBundle(options())).toBe(folder)
  expect(builds).toBe(2)
  expect((await readFile(join(folder, 'snapshot.bin'))).equals(Buffer.alloc(1 << 20, 7))).toBe(true)
  expect(await readdir(cacheFolder)).toHaveLength(1)
})

it('ensureBundle trusts no bundle that another user owns, however whole', async () => {
  needsPosix('Windows has no owners')
  const folder = await ensureBundle(options())
  const own = process.getuid!()
  if (own === 0) await chown(folder, 65_534, 65_534)
  else {
    const other = vi.spyOn(process, 'getuid').mockReturnValue(own + 1)
    onTestFinished(() => other.mockRestore())
  }
  expect(await ensureBundle(options())).toBe(folder)
  expect(builds).toBe(2)
})

it('ensureBundle leaves nothing behind when a build fails, and the next one works', async () => {
  const failing = options({ build: () => Promise.reject(new Error('no Python today')) })
  await expect(ensureBundle(failing)).rejects.toThrow('no Python today')
  expect(await readdir(cacheFolder)).toEqual([])
  await ensureBundle(options())
})

it('ensureBundle uses a folder for temporary files where the cache folder cannot be written, and says so', async () => {
  const file = join(cacheFolder, 'file')
  await writeFile(file, '')
  vi.stubEnv('TMPDIR', cacheFolder)
  const told: string[] = []
  const unwritable = options({ cacheFolder: join(file, 'cache'), onProgress: (message) => void told.push(message) })
  const folder = await ensureBundle(unwritable)
  expect(folder).toMatch(/sandbridge-cache-[^/]+[/\\]pyodide-/)
  expect(told.at(1)).toMatch(/Cannot write the embedded Python to .*file.*It is kept in .*sandbridge-cache-/)
  expect(await ensureBundle(unwritable)).toBe(folder)
  expect(builds).toBe(1)
})

it('ensureBundle names a cache folder that cannot be written, and says what to do, where no other can be', async () => {
  const file = join(cacheFolder, 'file')
  await writeFile(file, '')
  vi.stubEnv('TMPDIR', file)
  await expect(ensureBundle(options({ cacheFolder: join(file, 'cache') }))).rejects.toMatchObject({
    code: 'SANDBOX_START_FAILED',
    message: expect.stringContaining(file),
    hint: expect.stringContaining('XDG_CACHE_HOME'),
  })
})

it('ensureBundle makes a bundle that only its owner can read, unless it is meant for all users', async () => {
  needsPosix('Windows has no modes')
  const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
  const own = await ensureBundle(options())
  expect([await mode(own), await mode(join(own, 'child.cjs'))]).toEqual([0o700, 0o600])
  await rm(own, { recursive: true })
  const before = process.umask(0o077)
  onTestFinished(() => void process.umask(before))
  const shared = await ensureBundle(options({ readableByAll: true }))
  expect([await mode(shared), await mode(join(shared, 'child.cjs'))]).toEqual([0o755, 0o644])
})

it("a bundle of root is where root's sandboxes can read it, whatever its cache folder allows", async () => {
  needsRoot('other users run their sandboxes themselves')
  const home = newFolder()
  const place = { cacheFolder: join(home, 'cache', 'pyodide'), readableByAll: true }
  const folder = await ensureBundle(options(place))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const asNobody = (file: string): number | null => spawnSync('cat', [file], { uid: 65_534, gid: 65_534 }).status
  expect(asNobody(join(folder, 'files.json'))).toBe(0)
  await truncate(join(folder, 'files.json'), 3)
  expect(await findDamagedBundle({ ...place, kernelFolder })).toBe(folder)

  await writeFile(join(home, 'file'), '', { mode: 0o644 })
  expect(asNobody(join(home, 'file')), 'nobody reads nothing of a closed folder').toBe(1)
})

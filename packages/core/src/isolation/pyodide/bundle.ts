// The bundle: the only files that a sandbox process may read. Made once in a cache folder, from the `pyodide` package
// (whose code we do not redistribute), our files in inside/ and the kernel. Starts no sandbox.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, copyFile, open, readFile, readdir, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { BridgeError, messageOf } from '../../errors.ts'
import { mapFew } from '../../util/async/map-few.ts'
import { PACKAGE_ROOT } from '../../util/package-root.ts'
import type { PackageFile } from '../cell-packages-part.ts'
import { makeGlue } from './glue.ts'
import { isOwnFolderSync, makePrivateFolder, ownTemporaryFolder } from '../../util/files/private-folder.ts'
import { closedFolderOnTheWay, letOthersThrough, makeReadableFolder } from '../local/let-others-through.ts'
import { READ_AT_ONCE, readOrdinary } from '../../util/files/read-ordinary.ts'
import { removeUnused } from '../../util/files/remove-unused.ts'
import { renameFile } from '../../util/files/replace-file.ts'
import { appendFiles, type PackedFiles, packFiles, type Built } from './snapshot.ts'

/** The JavaScript of the sandbox process, used without compilation. */
export const INSIDE_FOLDER = join(PACKAGE_ROOT, 'packages/core/src/isolation/pyodide/inside')

const OUR_FILES = 'child.cjs pump.cjs prelude.js boot.js restore-heap.js devices.js files.js javascript.js'.split(' ')
const MANIFEST = 'manifest.json'
/** Of root, as the file system's standard has it. */
const SHARED_CACHE = '/var/cache/sandbridge/pyodide'
const KEPT_UNUSED_MS = 14 * 86_400_000
/** Generous: a build takes seconds. An older unfinished folder has no builder any more. */
const LONGEST_BUILD_MS = 3_600_000

/** Runs the sandbox process once in the unfinished folder and returns what it made there. */
type Builder = (folder: string) => Promise<Built>

export interface BundleOptions {
  /** The parent of all bundles, such as ~/.cache/sandbridge. */
  cacheFolder: string
  /** The folder that contains the package `sandbridge_kernel`. */
  kernelFolder: string
  /** Files for the sandbox's site-packages. */
  packages?: readonly PackageFile[]
  /** Lets every user of this machine read the bundle, which has no secret: a sandbox may run as another user. */
  readableByAll: boolean
  build: Builder
  /** Called with the folder once it exists: before its files are checked, and again if it had to be rebuilt. */
  onFolder?: (folder: string) => void
  onProgress?: ((message: string) => void) | undefined
}

type Placed = Pick<BundleOptions, 'cacheFolder' | 'readableByAll'>

/** The checksums detect damage, such as after a power failure; an attacker could also write a manifest. */
type Manifest = Record<string, { bytes: number; crc32: number }>

/**
 * Returns the folder of a complete, verified bundle; makes it first if it is missing or damaged. Safe for concurrent
 * processes: each builds in its own folder, and the first to finish renames it. Where the cache folder cannot be
 * written, the bundle is in a folder for temporary files that only this user can change.
 * @throws BridgeError SANDBOX_START_FAILED if neither can be written, or Python does not start
 */
export async function ensureBundle(options: BundleOptions): Promise<string> {
  const place = await enterable(options)
  try {
    return await ensureIn({ ...options, cacheFolder: place })
  } catch (error) {
    if (!isUnwritable(error)) throw error
    const { cacheFolder, onProgress, readableByAll } = options
    const spare = ownTemporaryFolder('cache', readableByAll)
    if (spare === undefined || spare === cacheFolder) throw error
    onProgress?.(`${error.message}. It is kept in ${spare} instead, until that is emptied`)
    // The cache is what the user can put right.
    return ensureIn({ ...options, cacheFolder: spare }).catch((later: unknown) => {
      throw isUnwritable(later) ? error : later
    })
  }
}

/** The cache folder, or the machine's where its readers cannot enter that, as in most home folders of root. */
async function enterable({ cacheFolder, readableByAll }: Placed): Promise<string> {
  if (!readableByAll) return cacheFolder
  const folder = await realpath(cacheFolder).catch(() => cacheFolder)
  await letOthersThrough([dirname(folder), folder])
  if ((await closedFolderOnTheWay(join(folder, 'bundle'))) === undefined) return cacheFolder
  await makeReadableFolder(SHARED_CACHE).catch(() => {})
  return isOwnFolderSync(SHARED_CACHE) ? SHARED_CACHE : cacheFolder
}

async function makeFolderFor({ readableByAll }: Placed, folder: string): Promise<void> {
  return readableByAll ? makeReadableFolder(folder) : makePrivateFolder(folder)
}

async function ensureIn(options: BundleOptions): Promise<string> {
  const sources = await collectSources(options)
  await makeFolderFor(options, options.cacheFolder).catch(() => {})
  // Node's permissions apply to real paths, and the path to the cache may contain a link.
  const cacheFolder = await realpath(options.cacheFolder).catch(() => options.cacheFolder)
  const folder = join(cacheFolder, `pyodide-${sources.key}`)
  if (existsSync(folder)) options.onFolder?.(folder)
  if (await isWhole(folder)) {
    await keepBundle(folder)
    return folder
  }
  options.onProgress?.('Preparing the embedded Python sandbox (once, a few seconds)')
  const temporary = `${folder}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`
  try {
    await writeBundle(temporary, sources, options)
    await install(temporary, folder)
  } finally {
    await rm(temporary, { recursive: true, force: true }).catch(() => {})
  }
  // Bundles of other versions, and unfinished ones whose builder was killed. Each takes up to 45 MB.
  removeUnused(cacheFolder, (name) => {
    if (!name.startsWith('pyodide-')) return undefined
    return /\.(?:tmp|old)$/.test(name) ? LONGEST_BUILD_MS : KEPT_UNUSED_MS
  })
  options.onFolder?.(folder)
  return folder
}

/** Says that a bundle is in use, so that no bridge removes it for weeks. Returns whether it is there. */
export async function keepBundle(folder: string): Promise<boolean> {
  try {
    await utimes(folder, new Date(), new Date())
    return true
  } catch (error) {
    // The folder of another user, or a disk that cannot be written to, may be used all the same.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** Returns the folder of the bundle for these options if it exists and is damaged. */
export async function findDamagedBundle(
  options: Placed & Pick<BundleOptions, 'kernelFolder' | 'packages'>,
): Promise<string | undefined> {
  const { key } = await collectSources(options)
  const folder = join(await enterable(options), `pyodide-${key}`)
  return existsSync(folder) && !(await isWhole(folder)) ? folder : undefined
}

interface Sources {
  key: string
  packageFolder: string
  version: string
  glue: string
  files: PackedFiles
}

async function collectSources({
  kernelFolder,
  packages = [],
}: Pick<BundleOptions, 'kernelFolder' | 'packages'>): Promise<Sources> {
  const packageFolder = dirname(createRequire(import.meta.url).resolve('pyodide/package.json'))
  const read = (name: string): Promise<string> => readFile(join(packageFolder, name), 'utf8')
  const { version } = JSON.parse(await read('package.json')) as { version: string }
  const glue = makeGlue({ version, loader: await read('pyodide.mjs'), runtime: await read('pyodide.asm.mjs') })
  const ours = await mapFew(OUR_FILES, (name) => readFile(join(INSIDE_FOLDER, name), 'utf8'))
  const files = packFiles([
    ...(await kernelSources(kernelFolder)).map((file) => ({ ...file, path: `/usr/lib/sandbridge/${file.path}` })),
    ...packages.map((file) => ({ ...file, path: `/usr/lib/site-packages/${file.path}` })),
  ])
  const key = createHash('sha256')
    .update(JSON.stringify([version, process.version, process.arch, process.platform, glue, ours, files.index]))
    .update(files.data)
    .digest('hex')
    .slice(0, 24)
  return { key, packageFolder, version, glue, files }
}

/** The kernel's Python files, in a fixed order. */
async function kernelSources(folder: string): Promise<PackageFile[]> {
  const entries = await readdir(folder, { recursive: true })
  const names = entries.map((name) => name.replaceAll('\\', '/')).filter((name) => isKernelSource(name))
  return mapFew(names.toSorted(), async (name): Promise<PackageFile> => ({
    path: name,
    data: await readFile(join(folder, name)),
  }))
}

/** False for files that need other processes, which this sandbox cannot start. */
function isKernelSource(name: string): boolean {
  return (
    /^sandbridge_kernel\/(?!shell\/|javascript\/node\.py|run\/programs\.py).*\.py$/.test(name) &&
    !name.includes('__pycache__')
  )
}

async function writeBundle(folder: string, sources: Sources, options: BundleOptions): Promise<void> {
  try {
    await makeFolderFor(options, folder)
  } catch (error) {
    throw unwritable(options.cacheFolder, error)
  }
  const lock = JSON.parse(await readFile(join(sources.packageFolder, 'pyodide-lock.json'), 'utf8')) as { info: object }
  const put = (name: string, data: string | Uint8Array): Promise<void> => writeFile(join(folder, name), data)
  const putFiles = async ({ index, data }: PackedFiles): Promise<void> => {
    await put('files.json', index)
    await put('files.bin', data)
  }
  try {
    await put('glue.js', sources.glue)
    await putFiles(sources.files)
    await put('lock.json', JSON.stringify({ info: lock.info, packages: {} }))
    for (const name of ['pyodide.asm.wasm', 'python_stdlib.zip']) {
      await copyFile(join(sources.packageFolder, name), join(folder, name))
    }
    for (const name of OUR_FILES) await copyFile(join(INSIDE_FOLDER, name), join(folder, name))
    const built = await options.build(folder)
    await put('snapshot.bin', built.snapshot)
    await put('glue.cache', built.codeCache)
    await putFiles(appendFiles(sources.files, built.compiled))
    const manifest: Manifest = {}
    for (const name of await readdir(folder)) {
      await chmod(join(folder, name), options.readableByAll ? 0o644 : 0o600)
      manifest[name] = await measure(join(folder, name))
    }
    await put(MANIFEST, JSON.stringify(manifest))
  } catch (error) {
    throw BridgeError.isInstance(error) ? error : unwritable(options.cacheFolder, error)
  }
}

/** Rename a finished folder. Keeps a complete bundle that another builder put there; moves a damaged one away. */
async function install(temporary: string, folder: string): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      await renameFile(temporary, folder)
      return
    } catch (error) {
      if (await isWhole(folder)) return
      if (attempt === 4) throw unwritable(dirname(folder), error)
      const aside = `${folder}.${process.pid}-${attempt}.old`
      await renameFile(folder, aside).catch(() => {})
      await rm(aside, { recursive: true, force: true })
    }
  }
}

/** True if every file has the expected size and checksum, and this user or root owns the bundle. */
async function isWhole(folder: string): Promise<boolean> {
  try {
    // The checksums are in the folder itself, so they prove nothing if another user owns it.
    const owner = (await stat(folder)).uid
    if (process.getuid !== undefined && owner !== process.getuid() && owner !== 0) return false
    const manifest = JSON.parse(String(await readOrdinary(join(folder, MANIFEST)))) as Manifest
    const expected = Object.entries(manifest)
    if (!Object.hasOwn(manifest, 'snapshot.bin')) return false
    for (const [name, { bytes, crc32: sum }] of expected) {
      const found = await measure(join(folder, name))
      if (found.bytes !== bytes || found.crc32 !== sum) return false
    }
    return true
  } catch {
    return false
  }
}

/** In pieces: reading a whole bundle would set the bridge's peak memory. */
async function measure(path: string): Promise<Manifest[string]> {
  const file = await open(path, READ_AT_ONCE)
  const piece = Buffer.allocUnsafe(1 << 20)
  const found = { bytes: 0, crc32: 0 }
  try {
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, piece.length)
      if (bytesRead === 0) return found
      found.bytes += bytesRead
      found.crc32 = crc32(piece.subarray(0, bytesRead), found.crc32)
    }
  } finally {
    await file.close()
  }
}

function unwritable(folder: string, cause: unknown): BridgeError {
  return new BridgeError('SANDBOX_START_FAILED', `Cannot write the embedded Python to ${folder}: ${messageOf(cause)}`, {
    hint: 'Make that folder writable, with 60 MB free, or set XDG_CACHE_HOME to a folder that is.',
    data: UNWRITABLE,
    cause,
  })
}

const UNWRITABLE = { isUnwritable: true }

function isUnwritable(error: unknown): error is BridgeError {
  return BridgeError.isInstance(error) && error.data === UNWRITABLE
}

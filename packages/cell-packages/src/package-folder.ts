// The folder in the cache with the packages that cells can import: wheels, or what pip installed. Written once.
import { randomUUID } from 'node:crypto'
import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { renameFile } from '@sandbridge/core/util/files'
import { runCommand } from '@sandbridge/core/util/process'
import {
  closedFolderOnTheWay,
  letOthersRead,
  letOthersThrough,
  makeReadableFolder,
  makeTemporaryFolder,
} from '@sandbridge/core/isolation'
import type { MissingPackage } from '@sandbridge/core/isolation'
import { installAvailable, InstallError, wordsText } from './missing-packages.ts'
import { runPip } from './pip.ts'
import {
  findWheels,
  needsNoInstaller,
  readRequestedPackages,
  type RequestedPackages,
  unpackWheels,
} from './requested-packages.ts'
import type { PackageFile } from '@sandbridge/core/parts'
import { isPureWheel } from './wheel.ts'

/** Its path in native sandboxes; must match packages/core/python/sandbox_kernel.py. */
export const PACKAGES_TARGET = '/opt/site-packages'

/** This machine's Python, whose pip installs packages. */
export interface Installer {
  python: string
  /** The Python that imports them, if it is another one (of an image). */
  target?: { version: string; isMusl: boolean }
}

/**
 * Returns the folder with those of the packages that can be had; without a folder, none can.
 * @param installer finds packages that are not given as pure Python wheels
 * @param onProgress called when the folder must be created
 */
export async function ensurePackageFolder(
  words: readonly string[],
  cacheDir: string,
  installer: Installer,
  onProgress: (message: string) => void = () => {},
): Promise<{ folder: string | undefined; missing: MissingPackage[] }> {
  const { wheels, missing: unread } = await findWheels(words)
  const all = path.join(cacheDir, 'packages')
  const { result: folder, missing } = await installAvailable(
    wheels,
    { memory: cacheDir && all, kind: JSON.stringify(installer) },
    (available) => ensureFolder(available, cacheDir, installer, onProgress),
  )
  return { folder, missing: [...unread, ...missing] }
}

async function ensureFolder(
  words: readonly string[],
  cacheDir: string,
  installer: Installer,
  onProgress: (message: string) => void,
): Promise<string> {
  const requested = await readRequestedPackages(words)
  const folder = path.join(
    cacheDir,
    'packages',
    needsNoInstaller(requested) ? requested.key : await installedKey(requested, installer),
  )
  await letOthersThrough([cacheDir, path.dirname(folder)])
  const closed = await closedFolderOnTheWay(folder)
  if (closed !== undefined) {
    throw new InstallError(`the sandbox's user cannot enter ${closed}. Set MCP_BRIDGE_CACHE_DIR to another folder`, '')
  }
  if (await stat(folder).catch(() => undefined)) return folder
  onProgress(`Installing packages (once): ${wordsText(words)}`)
  const unfinished = `${folder}.${randomUUID()}.tmp`
  try {
    // Readable by all: it contains no secret, and a sandbox may run as another user.
    await makeReadableFolder(unfinished)
    if (needsNoInstaller(requested)) await writeFiles(unfinished, await unpackWheels(requested.wheels, isPureWheel))
    else await install(requested, unfinished, installer)
    await letOthersRead(unfinished)
    await letOthersThrough([cacheDir, path.dirname(folder)])
    // If another process was faster, its folder is equivalent.
    await renameFile(unfinished, folder).catch(async (error: unknown) => {
      if (!(await stat(folder).catch(() => undefined))) throw error
    })
  } catch (cause) {
    if (BridgeError.isInstance(cause) || cause instanceof InstallError) throw cause
    throw new InstallError(`the cache cannot be written: ${messageOf(cause)}. Make MCP_BRIDGE_CACHE_DIR writable`, '')
  } finally {
    await rm(unfinished, { recursive: true, force: true }).catch(() => {})
  }
  return folder
}

/** Write package files into a folder. */
export async function writeFiles(folder: string, files: readonly PackageFile[]): Promise<void> {
  for (const { path: name, data } of files) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true, mode: 0o755 })
    await writeFile(file, data, { mode: 0o644 })
  }
}

/** Includes the Python that imports the packages, since the installed files depend on it. */
async function installedKey({ key }: RequestedPackages, { python, target }: Installer): Promise<string> {
  const ask = 'import sys; print(sys.implementation.cache_tag)'
  const tag = target ? `for-${target.version}` : (await runCommand(python, ['-I', '-c', ask])).stdout
  return `${key}-${tag.replace(/[^\w.-]/g, '')}`
}

async function install(requested: RequestedPackages, folder: string, { python, target }: Installer): Promise<void> {
  if (target?.isMusl) {
    throw new InstallError('the image has musl, as Alpine does. Use an image with glibc, or wheels of pure Python', '')
  }
  const wheelFolder = await makeTemporaryFolder()
  try {
    await writeFiles(
      wheelFolder,
      requested.wheels.map(({ fileName, data }) => ({ path: fileName, data })),
    )
    const files = requested.wheels.map(({ fileName }) => path.join(wheelFolder, fileName))
    await runPip(python, ['install', '--target', folder], {
      files,
      requirements: requested.requirements,
      target: target ? ['--python-version', target.version] : [],
    })
  } finally {
    await rm(wheelFolder, { recursive: true, force: true })
  }
}

// The folder in the cache with the packages that cells can import: unpacked wheels, or packages installed by the host's
// pip. Written once.
import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError, messageOf } from '../../errors.ts'
import { runCommand } from '../../util/process/run-command.ts'
import { letOthersThrough } from '../local/let-others-through.ts'
import { makeTemporaryFolder } from '../temporary-folder.ts'
import { needsNoInstaller, readRequestedPackages, type RequestedPackages, unpackWheels } from './requested-packages.ts'
import { isPureWheel, type PackageFile } from './wheel.ts'
import { lastLine } from '../../util/text/one-line.ts'

/** Its path in native sandboxes; must match python/sandbox_init.py. */
export const PACKAGES_TARGET = '/opt/site-packages'

const INSTALL_TIMEOUT_MS = 15 * 60_000

/** This machine's Python, whose pip installs packages. */
export interface Installer {
  python: string
  /** The Python that imports them, if it is another one (of an image). */
  target?: { version: string; isMusl: boolean }
}

/**
 * Returns the folder with these packages.
 * @param installer finds packages that are not given as pure Python wheels
 * @param onProgress called when the folder must be created
 * @throws BridgeError CONFIG_INVALID for unusable wheels, SANDBOX_START_FAILED if they cannot be installed
 */
export async function ensurePackageFolder(
  words: readonly string[],
  cacheDir: string,
  installer: Installer,
  onProgress: (message: string) => void = () => {},
): Promise<string> {
  const requested = await readRequestedPackages(words)
  const folder = path.join(
    cacheDir,
    'packages',
    needsNoInstaller(requested) ? requested.key : await installedKey(requested, installer),
  )
  await letOthersThrough([cacheDir, path.dirname(folder)])
  if (await stat(folder).catch(() => undefined)) return folder
  onProgress('Preparing the packages of MCP_BRIDGE_PACKAGES (once)')
  const unfinished = `${folder}.${randomUUID()}.tmp`
  try {
    // Readable by all: it contains no secret, and a sandbox may run as another user.
    await mkdir(unfinished, { recursive: true, mode: 0o755 })
    if (needsNoInstaller(requested)) await writeFiles(unfinished, unpackWheels(requested.wheels, isPureWheel))
    else await install(requested, unfinished, installer)
    await letOthersThrough([cacheDir, path.dirname(folder)])
    // If another process was faster, its folder is equivalent.
    await rename(unfinished, folder).catch(async (error: unknown) => {
      if (!(await stat(folder).catch(() => undefined))) throw error
    })
  } catch (cause) {
    if (BridgeError.isInstance(cause)) throw cause
    throw new BridgeError('SANDBOX_START_FAILED', `The packages cannot be written to the cache: ${messageOf(cause)}`, {
      hint: 'Make MCP_BRIDGE_CACHE_DIR writable.',
      cause,
    })
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
    throw new BridgeError('CONFIG_INVALID', 'Packages cannot be installed for an image with musl, such as Alpine', {
      hint: 'Use an image with glibc, or wheels of pure Python.',
    })
  }
  const wheelFolder = await makeTemporaryFolder()
  try {
    await writeFiles(
      wheelFolder,
      requested.wheels.map(({ fileName, data }) => ({ path: fileName, data })),
    )
    const files = requested.wheels.map(({ fileName }) => path.join(wheelFolder, fileName))
    // Wheels only: building from source would run the package's own code on this machine.
    const options = '-m pip install --only-binary :all: --no-input --disable-pip-version-check --quiet'.split(' ')
    const forImage = target ? ['--python-version', target.version] : []
    const words = [...options, ...forImage, '--target', folder, '--', ...files, ...requested.requirements]
    const { code, stderr } = await runCommand(python, words, { timeoutMs: INSTALL_TIMEOUT_MS })
    if (code === 0) return
    const reason = lastLine(stderr) ?? 'pip gave no reason'
    throw new BridgeError(
      'SANDBOX_START_FAILED',
      `The packages of MCP_BRIDGE_PACKAGES cannot be installed: ${reason}`,
      {
        hint: `Try it: ${python} -m pip install --only-binary :all: ${requested.requirements.join(' ')}`,
      },
    )
  } finally {
    await rm(wheelFolder, { recursive: true, force: true })
  }
}

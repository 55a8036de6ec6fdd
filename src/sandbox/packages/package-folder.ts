// The packages that cells can import, as a folder in the cache: unpacked wheels, or what the host's pip has installed. Made once, then only read.
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError, messageOf } from '../../errors.ts'
import { runCommand } from '../../process/run-command.ts'
import { makeTemporaryFolder } from '../temporary-folder.ts'
import { needsNoInstaller, readRequestedPackages, type RequestedPackages, unpackWheels } from './requested-packages.ts'
import { isPureWheel, type PackageFile } from './wheel.ts'

/** Where native sandboxes find it; the partner of the path in python/sandbox_init.py. */
export const PACKAGES_TARGET = '/opt/site-packages'

const INSTALL_TIMEOUT_MS = 15 * 60_000

/**
 * The folder with these packages.
 * @param python the interpreter that will import them
 * @param onProgress hears that they have to be made
 * @throws BridgeError CONFIG_INVALID for wheels that cannot be used, SANDBOX_START_FAILED when they cannot be installed
 */
export async function ensurePackageFolder(
  words: readonly string[],
  cacheDir: string,
  python: string,
  onProgress: (message: string) => void = () => {},
): Promise<string> {
  const requested = await readRequestedPackages(words)
  const folder = path.join(
    cacheDir,
    'packages',
    needsNoInstaller(requested) ? requested.key : await installedKey(requested, python),
  )
  await letThrough([cacheDir, path.dirname(folder)])
  if (await stat(folder).catch(() => undefined)) return folder
  onProgress('Preparing the packages of MCP_BRIDGE_PACKAGES (once)')
  const unfinished = `${folder}.${randomUUID()}.tmp`
  try {
    // Readable by all: it holds no secret, and a sandbox may run as another user.
    await mkdir(unfinished, { recursive: true, mode: 0o755 })
    if (needsNoInstaller(requested)) await writeFiles(unfinished, unpackWheels(requested.wheels, isPureWheel))
    else await install(requested, unfinished, python)
    await letThrough([cacheDir, path.dirname(folder)])
    // Whoever comes second finds the folder there, which is as good.
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

/** Root's sandboxes run as another user, whose way to the packages leads through these. Nothing else in them becomes readable. */
async function letThrough(folders: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) return
  for (const folder of folders) {
    const mode = (await stat(folder).catch(() => undefined))?.mode
    if (mode !== undefined && (mode & 0o011) !== 0o011) await chmod(folder, (mode & 0o7777) | 0o011).catch(() => {})
  }
}

/** Write package files below a folder. */
export async function writeFiles(folder: string, files: readonly PackageFile[]): Promise<void> {
  for (const { path: name, data } of files) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true, mode: 0o755 })
    await writeFile(file, data, { mode: 0o644 })
  }
}

/** What is installed depends on the Python that installs it. */
async function installedKey({ key }: RequestedPackages, python: string): Promise<string> {
  const { stdout } = await runCommand(python, ['-I', '-c', 'import sys; print(sys.implementation.cache_tag)'])
  return `${key}-${stdout.replace(/\W/g, '')}`
}

async function install(requested: RequestedPackages, folder: string, python: string): Promise<void> {
  const wheelFolder = await makeTemporaryFolder()
  try {
    await writeFiles(
      wheelFolder,
      requested.wheels.map(({ fileName, data }) => ({ path: fileName, data })),
    )
    const files = requested.wheels.map(({ fileName }) => path.join(wheelFolder, fileName))
    // Wheels only: building from source would run the package's own code on this machine.
    const options = '-m pip install --only-binary :all: --no-input --disable-pip-version-check --quiet --target'.split(
      ' ',
    )
    const { code, stderr } = await runCommand(python, [...options, folder, '--', ...files, ...requested.requirements], {
      timeoutMs: INSTALL_TIMEOUT_MS,
    })
    if (code === 0) return
    const reason = stderr.split('\n').findLast((line) => line.trim() !== '') ?? 'pip gave no reason'
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

// Packages compiled for Python in WebAssembly, such as numpy. The installed `pyodide` package pins each by its hash and
// names the download location. The bridge fetches them before any sandbox starts, and keeps them.
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { isPureWheel } from './wheel.ts'
import type { Wheel } from './requested-packages.ts'
import { makePrivateFolder, readOrdinary, replaceFile } from '@sandbridge/core/util/files'

const FETCH_TIMEOUT_MS = 5 * 60_000

/** The fields of pyodide-lock.json used here. */
export interface LockFile {
  info: { python: string; abi_version: string }
  packages: Record<string, LockedPackage>
}

export interface LockedPackage {
  name: string
  version: string
  file_name: string
  /** SHA-256 of the file, in hex. */
  sha256: string
  depends: string[]
}

export interface Distribution {
  lock: LockFile
  /** URL of the folder with the files, with a trailing `/`. */
  baseUrl: string
}

/**
 * Returns the distribution of the installed `pyodide` package.
 * @param mirror URL of a folder with its files, with a trailing `/`
 */
export async function installedDistribution(mirror?: string): Promise<Distribution> {
  const folder = path.dirname(createRequire(import.meta.url).resolve('pyodide/package.json'))
  const read = (name: string): Promise<string> => readFile(path.join(folder, name), 'utf8')
  const { version } = JSON.parse(await read('package.json')) as { version: string }
  // Its loader contains the URL as a template with the version.
  const baseUrl = /https:\/\/[\w./-]+\$\{\w+\}\/full\//.exec(await read('pyodide.mjs'))?.[0] ?? ''
  return {
    lock: JSON.parse(await read('pyodide-lock.json')) as LockFile,
    baseUrl: mirror ?? baseUrl.replace(/\$\{\w+\}/, version),
  }
}

/** True if a file name is that of a wheel for this Python: pure, or compiled for it (PEP 425, PEP 783). */
export function fitsPython(fileName: string, { info }: LockFile): boolean {
  if (isPureWheel(fileName)) return true
  const [, python, abi, platform] = /-([^-]+)-([^-]+)-([^-]+)\.whl$/.exec(fileName) ?? []
  const [major, minor] = info.python.split('.')
  const ours = `cp${major}${minor}`
  const isStable = abi === 'abi3' && /^cp3\d+$/.test(python!) && Number(python!.slice(3)) <= Number(minor)
  return platform === `pyemscripten_${info.abi_version}_wasm32` && (isStable || (python === ours && abi === ours))
}

/** True if the distribution has what a requirement asks for. */
export function isInDistribution(requirement: string, lock: LockFile): boolean {
  try {
    return resolvePackages([requirement], lock).length > 0
  } catch {
    return false
  }
}

/**
 * Returns the packages of these names, with all their dependencies.
 * @param requirements such as `numpy` or `numpy==2.4.6`
 * @throws BridgeError CONFIG_INVALID that names the requirement and the available packages
 */
export function resolvePackages(requirements: readonly string[], lock: LockFile): LockedPackage[] {
  const found = new Map<string, LockedPackage>()
  const add = (name: string, wanted: string): void => {
    if (found.has(name)) return
    const known = Object.hasOwn(lock.packages, name) ? lock.packages[name] : undefined
    if (!known) throw invalid(`The embedded sandbox cannot install ${wanted}: no ${name} for its Python`)
    if (!fitsPython(known.file_name, lock))
      throw invalid(`The embedded sandbox cannot install ${wanted}: ${known.file_name} is not a wheel`)
    found.set(name, known)
    for (const needed of known.depends) add(normalized(needed), wanted)
  }
  for (const requirement of requirements) {
    const [, name = '', version] = /^([A-Za-z0-9][\w.-]*?)(?:==([\w.+!-]+))?$/.exec(requirement) ?? []
    if (name === '') {
      throw invalid(`The embedded sandbox accepts packages by name, such as numpy or numpy==1.0, not ${requirement}`)
    }
    add(normalized(name), requirement)
    const there = found.get(normalized(name))!.version
    if (version !== undefined && version !== there) {
      throw invalid(`The embedded sandbox cannot install ${requirement}: its Python has only ${name} ${there}`)
    }
  }
  return [...found.values()]
}

/**
 * Returns the wheels of these packages, from `folder` or else downloaded.
 * @throws BridgeError CONFIG_INVALID for a file that cannot be fetched, or whose hash is wrong
 */
export async function fetchWheels(
  packages: readonly LockedPackage[],
  { baseUrl, folder, onProgress }: { baseUrl: string; folder: string; onProgress?: (message: string) => void },
): Promise<Wheel[]> {
  const wheels: Wheel[] = []
  // One at a time: all at once would set the bridge's peak memory.
  for (const { name, file_name: fileName, sha256 } of packages) {
    const file = path.join(folder, fileName)
    const kept = await readOrdinary(file).catch(() => undefined)
    if (kept && hash('sha256', kept) === sha256) {
      wheels.push({ fileName, data: kept })
      continue
    }
    onProgress?.(`Downloading ${name} for the embedded sandbox`)
    const data = await download(new URL(fileName, baseUrl), fileName)
    if (hash('sha256', data) !== sha256) throw invalid(`${fileName} has a wrong checksum`)
    await keep(file, data)
    wheels.push({ fileName, data })
  }
  return wheels
}

async function download(url: URL, fileName: string): Promise<Buffer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) })
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    return Buffer.from(await response.arrayBuffer())
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new BridgeError('CONFIG_INVALID', `${fileName} cannot be downloaded: ${messageOf(cause)}`, {
      hint: 'Set MCP_BRIDGE_RUNTIME=mirror=URL to a mirror, or put the file and its dependencies into a folder and add that folder.',
    })
  }
}

/** Keeps a file for next time; if that fails, it is fetched again. */
export async function keep(file: string, data: Buffer): Promise<void> {
  try {
    makePrivateFolder(path.dirname(file))
    await replaceFile(file, data)
  } catch {}
}

/** Normalises a package name for comparison (PEP 503). */
function normalized(name: string): string {
  return name.replace(/[-_.]+/g, '-').toLowerCase()
}

function invalid(message: string): BridgeError {
  return new BridgeError('CONFIG_INVALID', message, {
    hint: 'Use podman, docker or bubblewrap, which install packages for the usual Python.',
  })
}

// Parses the configured packages: wheel files here, and requirements for an installer. Installs nothing.
import { createHash } from 'node:crypto'
import { readFile, readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import type { MissingPackage } from '@sandbridge/core/isolation'
import type { PackageFile } from '@sandbridge/core/parts'
import { isPureWheel, refuseAddresses, unpackWheel } from './wheel.ts'

export interface Wheel {
  fileName: string
  data: Buffer
}

/** Source code among them: pip would run it on this machine. */
const NO_WHEEL = 'it is neither a wheel nor a folder that has one'

export interface RequestedPackages {
  wheels: Wheel[]
  /** For example `numpy>=2`. */
  requirements: string[]
  /** The same for equal wheels and requirements. */
  key: string
}

/**
 * Replaces each folder by the paths of its wheels, so that each word is one package. A word that ends in `.whl` or
 * starts like a path is a file or a folder of wheels; any other is a requirement.
 */
export async function findWheels(words: readonly string[]): Promise<{ wheels: string[]; missing: MissingPackage[] }> {
  const found: string[] = []
  const missing: MissingPackage[] = []
  for (const word of words) {
    const files = isPath(word) ? await wheelFiles(word) : [word]
    if (files.length === 0) missing.push({ word, name: path.basename(word), reason: NO_WHEEL })
    found.push(...files)
  }
  return { wheels: [...new Set(found)], missing }
}

/**
 * Read the requested packages.
 * @param words from `findWheels`
 * @throws BridgeError CONFIG_INVALID for an unreadable file
 */
export async function readRequestedPackages(words: readonly string[]): Promise<RequestedPackages> {
  const files = words.filter((word) => isPath(word)).toSorted()
  const wheels = await Promise.all(
    files.map(async (file) => ({ fileName: path.basename(file), data: await read(file) })),
  )
  const requirements = words.filter((word) => !isPath(word)).toSorted()
  const hash = createHash('sha256').update(JSON.stringify(requirements))
  for (const { fileName, data } of wheels) hash.update(`\0${fileName}\0${data.length}\0`).update(data)
  return { wheels, requirements, key: hash.digest('hex').slice(0, 24) }
}

/** True if everything is given as pure Python wheels, so that neither an installer nor a network is needed. */
export function needsNoInstaller({ wheels, requirements }: RequestedPackages): boolean {
  return requirements.length === 0 && wheels.every(({ fileName }) => isPureWheel(fileName))
}

/**
 * Returns the files of all wheels, for one folder.
 * @param fits tells whether a wheel of this name is for the Python in question
 * @throws BridgeError CONFIG_INVALID that names the wheel and its problem
 */
export async function unpackWheels(
  wheels: readonly Wheel[],
  fits: (fileName: string) => boolean,
): Promise<PackageFile[]> {
  const files = new Map<string, PackageFile>()
  for (const { fileName, data } of wheels) {
    if (!fits(fileName)) throw invalid(`${fileName} cannot be used: its name says another Python version or platform`)
    try {
      for (const file of await unpackWheel(data)) files.set(file.path, file)
    } catch (cause) {
      throw invalid(`${fileName} cannot be used: ${messageOf(cause)}`, cause)
    }
  }
  return [...files.values()]
}

/** True for a wheel file or a folder of wheels. */
export function isPath(word: string): boolean {
  return word.endsWith('.whl') || /^(~?[/\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\])/.test(word)
}

async function wheelFiles(word: string): Promise<string[]> {
  const place = path.resolve(word.replace(/^~(?=[/\\])/, homedir()))
  if (!(await stat(place).catch(() => undefined))?.isDirectory()) return place.endsWith('.whl') ? [place] : []
  const names = (await readdir(place).catch(() => [])).filter((name) => name.endsWith('.whl'))
  return names.map((name) => path.join(place, name))
}

async function read(file: string): Promise<Buffer> {
  try {
    const data = await readFile(file)
    await refuseAddresses(data)
    return data
  } catch (cause) {
    throw invalid(`The wheel ${path.basename(file)} cannot be used: ${messageOf(cause)}`, cause)
  }
}

function invalid(message: string, cause?: unknown): BridgeError {
  return new BridgeError('CONFIG_INVALID', message, { hint: 'Correct the path, or remove the package.', cause })
}

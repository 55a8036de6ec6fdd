// Has pip choose packages of an index for Python in WebAssembly. pip also sees Pyodide's distribution, as wheels that
// hold only metadata, so that it can choose numpy from there for a package that needs it. pip checks the hashes of the
// index.
import { hash } from 'node:crypto'
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { mapFew } from '@sandbridge/core/util/async'
import { InstallError, isNetworkFailure } from './missing-packages.ts'
import { runPip } from './pip.ts'
import type { Wheel } from './requested-packages.ts'
import { makeTemporaryFolder } from '@sandbridge/core/isolation'
import { fitsPython, isInDistribution, keep, type LockedPackage, type LockFile } from './distribution.ts'

interface Wanted {
  requirements: readonly string[]
  /** Wheels that the user gave, which may need others. */
  wheels: readonly Wheel[]
}

/**
 * Returns everything that the requirements need besides the given wheels: of the distribution, and of the index, whose
 * files are then in `folder`.
 * @throws InstallError with pip's reason. Without an index, only packages that the distribution lacks are to blame.
 */
export async function resolveWithPip(
  { requirements, wheels }: Wanted,
  lock: LockFile,
  folder: string,
): Promise<LockedPackage[]> {
  const place = await makeTemporaryFolder()
  try {
    const [links, chosen, given] = ['links', 'chosen', 'given'].map((name) => path.join(place, name)) as [
      string,
      string,
      string,
    ]
    for (const one of [links, chosen, given]) await mkdir(one)
    await writePlaceholders(lock, links)
    const files = wheels.map(({ fileName }) => path.join(given, fileName))
    for (const [index, file] of files.entries()) await writeFile(file, wheels[index]!.data)
    const target = [...platformOptions(lock), '--find-links', links]
    const wanted = { files, requirements, target }
    await runPip(undefined, ['download', '--dest', chosen], wanted).catch((error: unknown) => {
      throw blamingTheIndex(error, requirements, lock)
    })
    return await keepChosen(chosen, { links, folder, lock, given: new Set(wheels.map(({ fileName }) => fileName)) })
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

function platformOptions({ info }: LockFile): string[] {
  const [major, minor] = info.python.split('.')
  const python = `--implementation cp --python-version ${major}.${minor} --abi cp${major}${minor}`
  return `${python} --platform pyemscripten_${info.abi_version}_wasm32`.split(' ')
}

/** A wheel without code for each package of the distribution. */
async function writePlaceholders(lock: LockFile, folder: string): Promise<void> {
  const wheels = Object.values(lock.packages).filter((one) => fitsPython(one.file_name, lock))
  await mapFew(wheels, async ({ name, version, file_name: fileName, depends }) => {
    const info = `${fileName.split('-', 2).join('-')}.dist-info`
    const needs = depends
      .filter((one) => Object.hasOwn(lock.packages, one) && fitsPython(lock.packages[one]!.file_name, lock))
      .map((one) => `Requires-Dist: ${one}\n`)
    const tag = fileName
      .replace(/\.whl$/, '')
      .split('-')
      .slice(-3)
      .join('-')
    const files = {
      [`${info}/METADATA`]: strToU8(`Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n${needs.join('')}`),
      [`${info}/WHEEL`]: strToU8(`Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: ${tag}\n`),
      [`${info}/RECORD`]: new Uint8Array(),
    }
    await writeFile(path.join(folder, fileName), zipSync(files, { level: 0 }))
  })
}

interface Chosen {
  links: string
  folder: string
  lock: LockFile
  given: ReadonlySet<string>
}

async function keepChosen(chosen: string, { links, folder, lock, given }: Chosen): Promise<LockedPackage[]> {
  const found: LockedPackage[] = []
  for (const fileName of (await readdir(chosen)).filter((name) => !given.has(name))) {
    const data = await readFile(path.join(chosen, fileName))
    const placeholder = await readFile(path.join(links, fileName)).catch(() => undefined)
    if (placeholder?.equals(data)) {
      found.push(Object.values(lock.packages).find((one) => one.file_name === fileName)!)
      continue
    }
    const [name = '', version = ''] = fileName.split('-')
    await keep(path.join(folder, fileName), data)
    found.push({ name, version, file_name: fileName, sha256: hash('sha256', data), depends: [] })
  }
  return found
}

function blamingTheIndex(error: unknown, requirements: readonly string[], lock: LockFile): unknown {
  if (!(error instanceof InstallError) || (error.output !== '' && !isNetworkFailure(error.output))) return error
  return new InstallError(
    error.message,
    error.output,
    requirements.filter((one) => !isInDistribution(one, lock)),
  )
}

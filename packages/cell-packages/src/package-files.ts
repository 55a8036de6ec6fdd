// The files of packages for the embedded sandbox: wheels of the user, of Pyodide's distribution, and of the package
// index. Which were chosen, with their hashes, is kept, so that later starts use the same ones without an index.
import path from 'node:path'
import { messageOf } from '@sandbridge/core/errors.ts'
import type { PackageFile, PackageFiles } from '@sandbridge/core/parts'
import { readOrdinary } from '@sandbridge/core/util/files'
import { installAvailable, InstallError } from './missing-packages.ts'
import { findWheels, readRequestedPackages, type RequestedPackages, unpackWheels } from './requested-packages.ts'
import type { Wheel } from './requested-packages.ts'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import {
  type Distribution,
  fetchWheels,
  fitsPython,
  installedDistribution,
  isInDistribution,
  keep,
  type LockedPackage,
  resolvePackages,
} from './distribution.ts'
import { resolveWithPip } from './resolve-with-pip.ts'

interface Sources {
  distribution: Distribution
  /** The folder of fetched wheels. */
  folder: string
  onProgress: (message: string) => void
}

/**
 * Returns the files of those packages that can be had.
 * @param from what Pyodide distributes, or the mirror of the installed one; missing: that from its usual place
 */
export async function packageFiles(
  words: readonly string[],
  cacheFolder: string,
  from: Distribution | string | undefined,
  onProgress: (message: string) => void = () => {},
): Promise<PackageFiles> {
  const { wheels, missing: unread } = await findWheels(words)
  const distribution = typeof from === 'object' ? from : await installedDistribution(from)
  const sources = { distribution, folder: path.join(cacheFolder, 'wheels'), onProgress }
  const { result = [], missing } = await installAvailable(
    wheels,
    { memory: path.join(cacheFolder, 'packages'), kind: sources.distribution.baseUrl },
    async (available) => filesOf(await readRequestedPackages(available), sources),
  )
  return { files: result, missing: [...unread, ...missing] }
}

async function filesOf(requested: RequestedPackages, sources: Sources): Promise<PackageFile[]> {
  const { lock } = sources.distribution
  const fits = (fileName: string): boolean => fitsPython(fileName, lock)
  // First, so that a damaged wheel is named before anything is fetched.
  const given = await unpackWheels(requested.wheels, fits)
  const fetched = await unpackWheels(await wheelsFor(requested, sources), fits)
  // A given file replaces a fetched one.
  return [...new Map([...fetched, ...given].map((file) => [file.path, file])).values()]
}

async function wheelsFor(requested: RequestedPackages, sources: Sources): Promise<Wheel[]> {
  const { requirements, wheels, key } = requested
  const { lock } = sources.distribution
  const given = new Set(wheels.map(({ fileName }) => fileName))
  const fetchAll = (all: readonly LockedPackage[]): Promise<Wheel[]> =>
    fetchFor(
      requirements,
      all.filter((one) => !given.has(one.file_name)),
      sources,
    )
  if (requirements.every((one) => isInDistribution(one, lock))) return fetchAll(resolvePackages(requirements, lock))
  const file = path.join(sources.folder, `chosen-${key}.json`)
  const kept = await readChosen(file)
  // Without a file of the index, its packages are chosen again.
  const known = kept && (await fetchAll(kept).catch(() => undefined))
  if (known) return known
  sources.onProgress(`Choosing packages for the embedded sandbox: ${requirements.join(', ')}`)
  const chosen = await resolveWithPip({ requirements, wheels }, lock, sources.folder)
  const found = await fetchAll(chosen)
  await keep(file, Buffer.from(JSON.stringify(chosen)))
  return found
}

/** @throws InstallError that blames the requirements that need the file */
async function fetchFor(
  requirements: readonly string[],
  packages: readonly LockedPackage[],
  { distribution: { baseUrl, lock }, folder, onProgress }: Sources,
): Promise<Wheel[]> {
  const wheels: Wheel[] = []
  for (const one of packages) {
    try {
      wheels.push(...(await fetchWheels([one], { baseUrl, folder, onProgress })))
    } catch (error) {
      const ofDistribution = requirements.filter((requirement) => isInDistribution(requirement, lock))
      const needing = ofDistribution.filter((requirement) =>
        resolvePackages([requirement], lock).some(({ file_name: needed }) => needed === one.file_name),
      )
      const others = requirements.filter((requirement) => !ofDistribution.includes(requirement))
      throw new InstallError(messageOf(error), '', needing.length > 0 ? needing : others)
    }
  }
  return wheels
}

async function readChosen(file: string): Promise<LockedPackage[] | undefined> {
  const kept = parseJson(await readOrdinary(file).then(String, () => ''))
  if (!Array.isArray(kept)) return undefined
  const isPackage = (one: unknown): one is LockedPackage =>
    isRecord(one) &&
    ['name', 'version', 'file_name', 'sha256'].every((field) => typeof one[field] === 'string') &&
    path.basename(String(one['file_name'])) === one['file_name']
  return kept.every((one) => isPackage(one)) ? kept : undefined
}

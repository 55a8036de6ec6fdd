// Files that cells keep, in versions, limited because the sandbox chooses. Never drops a version to make room.
import { hash } from 'node:crypto'
import * as z from 'zod'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Piece, Store, VersionFile, Versions } from '@sandbridge/core/util/stores'
import { Turns } from '@sandbridge/core/util/async'
import { mapFew } from '@sandbridge/core/util/async'
import { checkStoredName } from '@sandbridge/core/util/stores'
import { unwritable } from '@sandbridge/core/util/stores'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import { firstOf } from '@sandbridge/core/util/text'
import { contentTypeOf } from './content-type.ts'
import { orUndefined } from '@sandbridge/core/util'

export interface ArtifactLimits {
  artifactBytes: number
  totalBytes: number
  /** Versions of all artifacts together. */
  versionCount: number
}

const MIB = 1 << 20
/** Base64 adds a third to the size, and a frame holds 64 MiB. */
export const ARTIFACT_LIMITS: ArtifactLimits = { artifactBytes: 40 * MIB, totalBytes: 1024 * MIB, versionCount: 1_000 }

const record = z.object({
  name: z.string(),
  sizeBytes: z.int().nonnegative(),
  sha256: z.string(),
  contentType: z.string(),
  createdAt: z.string(),
})

export interface Artifact extends z.infer<typeof record> {
  version: number
  uri: string
}

const RECORD = 'artifact.json'
const DATA = 'data'
/** Of an artifact whose description is damaged. */
const UNKNOWN_TIME = new Date(0).toISOString()

export class ArtifactStore {
  readonly #store: Store
  readonly #versions: Versions
  readonly #limits: ArtifactLimits
  /** Saves run one after the other, so that a cell that saves many at once stays within the limits. */
  readonly #turns = new Turns(1)

  constructor(store: Store, limits: ArtifactLimits = ARTIFACT_LIMITS) {
    this.#store = store
    this.#versions = store.versions('artifacts', 'an artifact')
    this.#limits = limits
  }

  /**
   * Save a version. Returns the newest version if it has the same bytes.
   * @throws BridgeError STATE_REFUSED for a bad name or a full quota, STATE_UNWRITABLE
   */
  save(name: string, data: Uint8Array): Promise<Artifact> {
    return this.#turns.run(undefined, () => this.#save(checkStoredName(name, 'an artifact'), data))
  }

  /** Every version, by name, oldest first. @param name restricts the result to one artifact */
  async versions(name?: string): Promise<Artifact[]> {
    const files = await this.#versions.readEach(RECORD, name)
    return (await mapFew(files, (file) => this.#describe(file))).flat()
  }

  /** The newest version of every artifact, by name. */
  async list(): Promise<Artifact[]> {
    const byName = new Map((await this.versions()).map((artifact) => [artifact.name, artifact]))
    return [...byName.values()]
  }

  /** One version, or the newest one. @throws BridgeError STATE_NOT_FOUND, STATE_REFUSED for a bad name */
  async find(name: string, version?: number): Promise<Artifact> {
    const all = await this.versions(checkStoredName(name, 'an artifact'))
    const found = version === undefined ? all.at(-1) : all.find((artifact) => artifact.version === version)
    if (found) return found
    const known = (await this.list()).map((artifact) => artifact.name)
    const versions = all.map((artifact) => artifact.version).join(', ')
    const hint = versions
      ? `Its versions: ${versions}`
      : known.length > 0
        ? `There are: ${firstOf(known)}`
        : 'No artifact has been saved yet.'
    const wanted = versions ? `version ${version} of the artifact '${name}'` : `artifact '${name}'`
    throw new BridgeError('STATE_NOT_FOUND', `Unknown ${wanted}`, { hint })
  }

  /**
   * A version and its bytes, or a piece of them. All bytes are checked when reading begins.
   * @throws BridgeError as `find` does; STATE_DAMAGED if the bytes are not those that were saved
   */
  async read(name: string, version?: number, piece?: Piece): Promise<{ artifact: Artifact; data: Buffer }> {
    const artifact = await this.find(name, version)
    const read = (part?: Piece) => this.#versions.read(artifact.name, artifact.version, DATA, part)
    if (piece !== undefined && piece.offset > 0) return { artifact, data: await read(piece) }
    const whole = await read()
    if (hash('sha256', whole) !== artifact.sha256) {
      throw new BridgeError(
        'STATE_DAMAGED',
        `Version ${artifact.version} of '${name}' was changed after it was saved`,
        {
          hint: 'Ask the user to restore it from a backup, or save it again. Other versions are unchanged.',
        },
      )
    }
    return { artifact, data: piece ? whole.subarray(0, piece.length) : whole }
  }

  /** Delete an artifact with all its versions. @throws BridgeError STATE_NOT_FOUND */
  async remove(name: string): Promise<void> {
    if (!(await this.#versions.remove(name))) await this.find(name)
  }

  async #save(name: string, data: Uint8Array): Promise<Artifact> {
    try {
      // Other bridges save here, too: between counting and adding, none of them adds.
      return await this.#store.exclusively('artifacts', () => this.#add(name, data))
    } catch (error) {
      throw unwritable(error, 'an artifact')
    }
  }

  async #add(name: string, data: Uint8Array): Promise<Artifact> {
    const sha256 = hash('sha256', data)
    const all = await this.versions()
    const newest = all.findLast((artifact) => artifact.name === name)
    if (newest?.sha256 === sha256) return newest
    this.#checkQuota(name, data.byteLength, all)
    const contentType = contentTypeOf(name, data)
    const kept = { name, sizeBytes: data.byteLength, sha256, contentType, createdAt: new Date().toISOString() }
    const version = await this.#versions.add(name, { [DATA]: data, [RECORD]: JSON.stringify(kept) })
    return { ...kept, version, uri: artifactUri(name, version) }
  }

  #checkQuota(name: string, sizeBytes: number, all: Artifact[]): void {
    const { artifactBytes, totalBytes, versionCount } = this.#limits
    if (sizeBytes > artifactBytes) {
      throw new BridgeError(
        'STATE_REFUSED',
        `'${name}' has ${mebibytes(sizeBytes)}; the limit of an artifact is ${mebibytes(artifactBytes)}`,
        {
          hint: 'Save it in parts, or compressed.',
        },
      )
    }
    const usedBytes = all.reduce((sum, artifact) => sum + artifact.sizeBytes, 0)
    const full =
      usedBytes + sizeBytes > totalBytes
        ? `all artifacts use ${mebibytes(usedBytes)} of ${mebibytes(totalBytes)}`
        : all.length >= versionCount
          ? `the limit of ${versionCount} versions of artifacts is reached`
          : undefined
    if (full === undefined) return
    throw new BridgeError('STATE_REFUSED', `'${name}' was not saved: ${full}`, {
      hint: 'The user can free space with `sandbridge artifacts --remove NAME`.',
    })
  }

  /** A damaged description is made anew from the bytes; without these, nothing is left of the version. */
  async #describe({ name, version, data }: VersionFile): Promise<Artifact[]> {
    const own = { name, version, uri: artifactUri(name, version) }
    const about = record.safeParse(parseJson(data.toString()))
    if (about.success) return [{ ...about.data, ...own }]
    const bytes = await this.#versions.read(name, version, DATA).catch(() => undefined)
    if (bytes === undefined) return []
    const contentType = contentTypeOf(name, bytes)
    return [{ ...own, sizeBytes: bytes.length, sha256: hash('sha256', bytes), contentType, createdAt: UNKNOWN_TIME }]
  }
}

const URI = /^sandbridge:\/\/artifact\/([^/?#]+)(?:\/([1-9]\d{0,8}))?$/

/** Returns an artifact's resource URI; without a version, that of the newest. */
export function artifactUri(name: string, version?: number): string {
  return `sandbridge://artifact/${encodeURIComponent(name)}${version === undefined ? '' : `/${version}`}`
}

/** Parses an artifact's URI; undefined for any other URI. */
export function parseArtifactUri(uri: string): { name: string; version?: number } | undefined {
  const [, name, version] = URI.exec(uri) ?? []
  if (name === undefined) return undefined
  return orUndefined(() => ({
    name: decodeURIComponent(name),
    ...(version !== undefined && { version: Number(version) }),
  }))
}

function mebibytes(bytes: number): string {
  return `${(bytes / MIB).toFixed(1).replace('.0', '')} MiB`
}

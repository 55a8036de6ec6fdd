// A bundle: workflows, saved functions and artifacts in one zip file, with a manifest of checksums and the names of the
// servers they need. It holds no secrets, recorded replies or data about this machine, and the same contents give the
// same file.
import { hash } from 'node:crypto'
import * as z from 'zod'
import { BridgeError } from '../../../errors.ts'
import { ARTIFACT_LIMITS, type ArtifactStore } from '../../../keep/saved/artifact-store.ts'
import { type SavedTool, type SavedToolContent, savedToolContent } from '../../../keep/saved/saved-tool.ts'
import { parseSavedTool, type SavedToolStore } from '../../../keep/saved/saved-tool-store.ts'
import { ZipError, ZipReader, ZipWriter } from '../../../util/bytes/plain-zip.ts'
import { parseJson } from '../../../util/json/json.ts'

const MANIFEST = 'manifest.json'
const MAX_MANIFEST_BYTES = 16 << 20
const MAX_TOOL_BYTES = 4 << 20

const manifestSchema = z.object({
  sandbridgeBundle: z.literal(1),
  /** By entry name. */
  files: z.record(z.string(), z.object({ sha256: z.string().regex(/^[a-f0-9]{64}$/), bytes: z.int().min(0) })),
  /** Names of servers, shown on import. */
  servers: z.array(z.string().min(1).max(1_000)).max(1_000),
})

export type BundleManifest = z.infer<typeof manifestSchema>

export interface BundleContents {
  tools: SavedTool[]
  /** Names; the newest version of each is used. */
  artifacts: string[]
}

/**
 * The contents of a bundle for these names, plus the functions that they import. No names means everything.
 * @throws BridgeError STATE_NOT_FOUND
 */
export async function chooseContents(
  names: readonly string[],
  savedTools: SavedToolStore,
  artifacts: ArtifactStore,
): Promise<BundleContents> {
  const { tools } = await savedTools.list()
  const files = (await artifacts.list()).map(({ name }) => name)
  if (names.length === 0) return { tools, artifacts: files }
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const chosen = new Map<string, SavedTool>()
  const chosenFiles = new Set<string>()
  for (const name of names) {
    const tool = byName.get(name.replaceAll('-', '_'))
    if (tool) chosen.set(tool.name, tool)
    else if (files.includes(name)) chosenFiles.add(name)
    // The error suggests similar names.
    else
      throw await savedTools.find(name).then(
        () => notThere(name),
        (error: unknown) => error,
      )
  }
  // Entries that are added during the loop are visited, too.
  for (const { imports, source } of chosen.values()) {
    const words = new Set(`${imports.join(' ')} ${source}`.match(/\w+/g))
    for (const tool of tools) if (words.has(tool.name)) chosen.set(tool.name, tool)
  }
  return { tools: [...chosen.values()], artifacts: [...chosenFiles] }
}

/** @returns the contents. @throws ZipError, and what node:fs throws */
export async function writeBundle(
  file: string,
  { tools, artifacts }: BundleContents,
  store: ArtifactStore,
): Promise<BundleManifest> {
  const manifest: BundleManifest = { sandbridgeBundle: 1, files: {}, servers: serversOf(tools) }
  const zip = await ZipWriter.create(file)
  const add = async (name: string, data: Uint8Array): Promise<void> => {
    manifest.files[name] = { sha256: hashOf(data), bytes: data.length }
    await zip.add(name, data)
  }
  try {
    for (const tool of tools.toSorted(byCode(({ name }) => name))) {
      // Only the tools' content: versions and dates belong to this machine.
      await add(
        `tools/${tool.name}.json`,
        Buffer.from(`${JSON.stringify(savedToolContent.parse(tool), undefined, 2)}\n`),
      )
    }
    for (const name of artifacts.toSorted(byCode((one) => one))) {
      await add(`artifacts/${name}`, (await store.read(name)).data)
    }
    await zip.add(MANIFEST, Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`))
    await zip.finish()
    return manifest
  } finally {
    await zip.close()
  }
}

/** A bundle with valid checksums. */
export class Bundle {
  readonly manifest: BundleManifest
  readonly tools: SavedToolContent[]
  readonly artifacts: { name: string; bytes: number }[]
  readonly #zip: ZipReader

  private constructor(zip: ZipReader, manifest: BundleManifest, tools: SavedToolContent[]) {
    this.#zip = zip
    this.manifest = manifest
    this.tools = tools
    this.artifacts = zip.names
      .filter((name) => name.startsWith('artifacts/'))
      .map((name) => ({ name: name.slice('artifacts/'.length), bytes: zip.size(name) }))
  }

  /** Reads all of it once. @throws BridgeError STATE_REFUSED with the problem of the file */
  static async open(file: string): Promise<Bundle> {
    let zip: ZipReader | undefined
    try {
      zip = await ZipReader.open(file)
      const manifest = await readManifest(zip)
      const tools: SavedToolContent[] = []
      for (const name of zip.names) {
        if (name === MANIFEST) continue
        const isTool = /^tools\/[^/]+\.json$/.test(name)
        if (!isTool && !/^artifacts\/[^/]+$/.test(name)) throw new ZipError(`has an unknown entry: ${name}`)
        if (zip.size(name) > (isTool ? MAX_TOOL_BYTES : ARTIFACT_LIMITS.artifactBytes))
          throw new ZipError(`has an entry that is too large: ${name}`)
        const data = await zip.read(name)
        const known = Object.hasOwn(manifest.files, name) ? manifest.files[name] : undefined
        if (known?.sha256 !== hashOf(data))
          throw new ZipError(`has an entry with another checksum than its manifest says: ${name}`)
        if (isTool) tools.push(foreignTool(parseJson(data.toString()), name))
      }
      const missing = Object.keys(manifest.files).find((name) => !zip?.names.includes(name))
      if (missing !== undefined) throw new ZipError(`lacks an entry that its manifest lists: ${missing}`)
      return new Bundle(zip, manifest, tools)
    } catch (error) {
      await zip?.close()
      if (!(error instanceof ZipError)) throw error
      throw new BridgeError('STATE_REFUSED', `The bundle ${error.message}. Nothing was imported`, {
        hint: 'Ask for the bundle again: sandbridge export makes it.',
        cause: error,
      })
    }
  }

  artifact(name: string): Promise<Buffer> {
    return this.#zip.read(`artifacts/${name}`)
  }

  close(): Promise<void> {
    return this.#zip.close()
  }
}

async function readManifest(zip: ZipReader): Promise<BundleManifest> {
  if (zip.size(MANIFEST) > MAX_MANIFEST_BYTES) throw new ZipError('has a manifest that is too large')
  const parsed = manifestSchema.safeParse(parseJson((await zip.read(MANIFEST)).toString()))
  if (parsed.success) return parsed.data
  throw new ZipError('has an unknown manifest')
}

/** A bundle's claims about the tools that it calls are not trusted: the worst is assumed of each. */
function foreignTool(value: unknown, entry: string): SavedToolContent {
  const tool = parseSavedTool(value)
  if (entry !== `tools/${tool.name}.json`) throw new ZipError(`has a tool under another name: ${entry}`)
  if (!tool.workflow) return tool
  const uses = tool.workflow.uses.map((use) => ({
    ...use,
    readOnly: false,
    destructive: true,
    idempotent: false,
    openWorld: true,
  }))
  return { ...tool, workflow: { ...tool.workflow, uses } }
}

function serversOf(tools: readonly SavedTool[]): string[] {
  return [...new Set(tools.flatMap(({ servers }) => servers.map(({ name }) => name)))].toSorted(byCode((name) => name))
}

function hashOf(data: Uint8Array): string {
  return hash('sha256', data)
}

/** The same order on every machine. */
function byCode<T>(key: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (key(a) < key(b) ? -1 : 1)
}

function notThere(name: string): BridgeError {
  return new BridgeError('STATE_NOT_FOUND', `There is no workflow, saved function or artifact '${name}'`)
}

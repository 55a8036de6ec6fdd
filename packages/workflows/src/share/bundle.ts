// A bundle: workflows, saved functions and artifacts in one tar file, with a manifest of checksums and the names of the
// servers they need. It holds no secrets, recorded replies or data about this machine, and the same contents give the
// same file.
import { hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createTarPacker } from 'modern-tar'
import * as z from 'zod'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { ARTIFACT_LIMITS } from '@sandbridge/memories/saved/artifact-store.ts'
import { reachedTools, savedToolContent } from '@sandbridge/memories/saved/saved-tool.ts'
import type { ArtifactStore } from '@sandbridge/memories/saved/artifact-store.ts'
import type { SavedTool, SavedToolContent } from '@sandbridge/memories/saved/saved-tool.ts'
import { parseSavedTool, type SavedToolStore } from '@sandbridge/memories/saved/saved-tool-store.ts'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import { BundleError, bundleEntries } from './bundle-entries.ts'

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
  const chosen: SavedTool[] = []
  const chosenFiles = new Set<string>()
  for (const name of names) {
    const tool = byName.get(name.replaceAll('-', '_'))
    if (tool) chosen.push(tool)
    else if (files.includes(name)) chosenFiles.add(name)
    // The error suggests similar names.
    else
      throw await savedTools.find(name).then(
        () => notThere(name),
        (error: unknown) => error,
      )
  }
  return { tools: [...reachedTools(chosen, tools).values()], artifacts: [...chosenFiles] }
}

/** @returns the contents. @throws what node:fs throws */
export async function writeBundle(
  file: string,
  { tools, artifacts }: BundleContents,
  store: ArtifactStore,
): Promise<BundleManifest> {
  const manifest: BundleManifest = { sandbridgeBundle: 1, files: {}, servers: serversOf(tools) }
  const handle = await open(file, 'wx', 0o600)
  const { readable, controller } = createTarPacker()
  const put = async (name: string, data: Uint8Array): Promise<void> => {
    const entry = controller.add({ name, size: data.length, mode: 0o644, mtime: new Date(0) }).getWriter()
    await entry.write(data)
    await entry.close()
  }
  const add = async (name: string, data: Uint8Array): Promise<void> => {
    manifest.files[name] = { sha256: hash('sha256', data), bytes: data.length }
    await put(name, data)
  }
  const fill = async (): Promise<void> => {
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
    await put(MANIFEST, Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`))
    controller.finalize()
  }
  const filling = fill().catch((error: unknown) => {
    controller.error(error)
    throw error
  })
  await Promise.all([filling, pipeline(readable, handle.createWriteStream({ flush: true }))])
  return manifest
}

/** A bundle with valid checksums. */
export class Bundle {
  readonly manifest: BundleManifest
  readonly tools: SavedToolContent[]
  readonly artifacts: { name: string; bytes: number; sha256: string }[]
  readonly #file: string

  private constructor(file: string, manifest: BundleManifest, tools: SavedToolContent[]) {
    this.#file = file
    this.manifest = manifest
    this.tools = tools
    this.artifacts = Object.entries(manifest.files).flatMap(([entry, { bytes, sha256 }]) => {
      const name = artifactName(entry)
      return name === undefined ? [] : [{ name, bytes, sha256 }]
    })
  }

  /** Reads all of it once. @throws BridgeError STATE_REFUSED with the problem of the file, and what node:fs throws */
  static async open(file: string): Promise<Bundle> {
    try {
      const found = new Map<string, string>()
      const tools: SavedToolContent[] = []
      let manifest: BundleManifest | undefined
      for await (const { name, data } of bundleEntries(file, ARTIFACT_LIMITS.artifactBytes)) {
        if (name === MANIFEST) {
          manifest = parseManifest(data)
          continue
        }
        const isTool = /^tools\/[^/]+\.json$/.test(name)
        if (!isTool && artifactName(name) === undefined) throw new BundleError(`has an unknown entry: ${name}`)
        if (isTool && data.length > MAX_TOOL_BYTES) throw new BundleError(`has an entry that is too large: ${name}`)
        found.set(name, hash('sha256', data))
        if (isTool) tools.push(foreignTool(parseJson(data.toString()), name))
      }
      if (!manifest) throw new BundleError(`has no ${MANIFEST}`)
      const wanted = new Map(Object.entries(manifest.files).map(([name, { sha256 }]) => [name, sha256]))
      const other = [...found].find(([name, sha256]) => wanted.get(name) !== sha256)
      if (other) throw new BundleError(`has an entry with another checksum than its manifest says: ${other[0]}`)
      const missing = [...wanted.keys()].find((name) => !found.has(name))
      if (missing !== undefined) throw new BundleError(`lacks an entry that its manifest lists: ${missing}`)
      return new Bundle(file, manifest, tools)
    } catch (error) {
      if (!(error instanceof BundleError)) throw error
      throw new BridgeError('STATE_REFUSED', `The bundle ${error.message}. Nothing was imported`, {
        hint: 'Ask for the bundle again: sandbridge export makes it.',
        cause: error,
      })
    }
  }

  /** Reads its artifacts, one at a time. @throws BridgeError STATE_REFUSED if the file has changed */
  async *readArtifacts(): AsyncGenerator<{ name: string; data: Buffer }> {
    for await (const { name: entry, data } of bundleEntries(this.#file, ARTIFACT_LIMITS.artifactBytes)) {
      const name = artifactName(entry)
      if (name === undefined) continue
      if (this.manifest.files[entry]?.sha256 !== hash('sha256', data))
        throw new BridgeError('STATE_REFUSED', 'The bundle has changed since it was shown')
      yield { name, data }
    }
  }
}

function artifactName(entry: string): string | undefined {
  return /^artifacts\/([^/]+)$/.exec(entry)?.[1]
}

function parseManifest(data: Buffer): BundleManifest {
  const parsed = manifestSchema.safeParse(parseJson(data.toString()))
  if (parsed.success && data.length <= MAX_MANIFEST_BYTES) return parsed.data
  throw new BundleError('has an unknown manifest')
}

/** A bundle's claims about the tools that it calls are not trusted: the worst is assumed of each. */
function foreignTool(value: unknown, entry: string): SavedToolContent {
  const tool = parseSavedTool(value)
  if (entry !== `tools/${tool.name}.json`) throw new BundleError(`has a tool under another name: ${entry}`)
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

/** The same order on every machine. */
function byCode<T>(key: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (key(a) < key(b) ? -1 : 1)
}

function notThere(name: string): BridgeError {
  return new BridgeError('STATE_NOT_FOUND', `There is no workflow, saved function or artifact '${name}'`)
}

// Artifacts as MCP resources: the newest version of each in the list, every version by its address.
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/server'
import type { Artifact, ArtifactStore } from '../state/artifact-store.ts'
import { artifactUri, parseArtifactUri } from '../state/artifact-store.ts'
import { isTextType } from '../state/content-type.ts'

/** Enough for a person to choose from; the others are read by their address. */
const MAX_LISTED = 200

/** What the model may not read becomes tokens, and names with tokens are names again. */
export interface ReadMasker {
  masked<T>(work: (mask: (text: string) => string) => T): Promise<T>
  unmask(text: string): string
}

/** The newest ones first. @throws BridgeError MASK_UNAVAILABLE */
export async function listArtifactResources(artifacts: ArtifactStore, masker?: ReadMasker): Promise<Resource[]> {
  const all = (await artifacts.list()).toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
  const list = (mask: (text: string) => string): Resource[] =>
    all.slice(0, MAX_LISTED).map((artifact) => {
      const name = mask(artifact.name)
      return { ...describe({ ...artifact, name }), uri: artifactUri(name) }
    })
  return masker ? masker.masked(list) : list((text) => text)
}

/**
 * The content of an artifact's resource; undefined when the address is none of an artifact.
 * @throws BridgeError STATE_NOT_FOUND, MASK_UNAVAILABLE
 */
export async function readArtifactResource(
  artifacts: ArtifactStore,
  uri: string,
  masker?: ReadMasker,
): Promise<ReadResourceResult | undefined> {
  const wanted = parseArtifactUri(masker ? masker.unmask(uri) : uri)
  if (!wanted) return undefined
  const { artifact, data } = await artifacts.read(masker ? masker.unmask(wanted.name) : wanted.name, wanted.version)
  const { contentType: mimeType } = artifact
  const read = (text: string): Promise<string> | string => (masker ? masker.masked((mask) => mask(text)) : text)
  const content = isTextType(mimeType) ? { text: await read(data.toString()) } : { blob: data.toString('base64') }
  return { contents: [{ uri, mimeType, ...content }] }
}

function describe({ name, contentType, sizeBytes, version, createdAt }: Artifact): Resource {
  return {
    uri: artifactUri(name, version),
    name,
    mimeType: contentType,
    size: sizeBytes,
    description: `Saved by a cell, version ${version}`,
    annotations: { lastModified: createdAt },
  }
}

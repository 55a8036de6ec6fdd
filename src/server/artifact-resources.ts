// Artifacts as MCP resources: the newest version of each in the list, every version by its address.
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/server'
import type { Artifact, ArtifactStore } from '../state/artifact-store.ts'
import { artifactUri, parseArtifactUri } from '../state/artifact-store.ts'
import { isTextType } from '../state/content-type.ts'

/** Enough for a person to choose from; the others are read by their address. */
const MAX_LISTED = 200

/** The newest ones first. */
export async function listArtifactResources(artifacts: ArtifactStore): Promise<Resource[]> {
  const all = (await artifacts.list()).toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
  return all.slice(0, MAX_LISTED).map((artifact) => ({ ...describe(artifact), uri: artifactUri(artifact.name) }))
}

/**
 * The content of an artifact's resource; undefined when the address is none of an artifact.
 * @throws BridgeError STATE_NOT_FOUND
 */
export async function readArtifactResource(
  artifacts: ArtifactStore,
  uri: string,
): Promise<ReadResourceResult | undefined> {
  const wanted = parseArtifactUri(uri)
  if (!wanted) return undefined
  const { artifact, data } = await artifacts.read(wanted.name, wanted.version)
  const { contentType: mimeType } = artifact
  const content = isTextType(mimeType) ? { text: data.toString() } : { blob: data.toString('base64') }
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

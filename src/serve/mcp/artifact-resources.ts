// Artifacts as MCP resources. The list shows the newest version of each; every version can be read by its URI.
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/server'
import type { Bridge } from '../../bridge/bridge.ts'
import type { Mask } from '../../cell/masking-part.ts'
import type { Artifact, ArtifactStore } from '../../keep/saved/artifact-store.ts'
import { artifactUri, parseArtifactUri } from '../../keep/saved/artifact-store.ts'
import { isTextType } from '../../keep/saved/content-type.ts'
import type { Sessions } from './sessions.ts'

/** Enough for a person to choose from. Older artifacts can still be read by URI. */
const MAX_LISTED = 200

/** Replaces personal data with tokens in what the model reads, and turns tokens in names back into the names. */
export interface ReadMasker {
  masked<T>(work: (mask: Mask) => T): Promise<T>
  unmask(text: string): string
}

/** The masker of the reader's session, which knows the tokens; undefined when nothing is masked. */
export function maskerFor({ maskers }: Bridge, sessions: Sessions): ReadMasker | undefined {
  const [session] = sessions.readable()
  return maskers?.of(session ?? {})
}

/** Newest first. @throws BridgeError MASK_UNAVAILABLE */
export async function listArtifactResources(artifacts: readonly Artifact[], masker?: ReadMasker): Promise<Resource[]> {
  const all = artifacts.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
  const list = (mask: (text: string) => string): Resource[] =>
    all.slice(0, MAX_LISTED).map((artifact) => {
      const name = mask(artifact.name)
      return { ...describe({ ...artifact, name }), uri: artifactUri(name) }
    })
  return masker ? masker.masked(list) : list((text) => text)
}

/**
 * Returns the content of an artifact, or undefined when the URI is not an artifact's.
 * @throws BridgeError STATE_NOT_FOUND, MASK_UNAVAILABLE
 */
export async function readArtifactResource(
  artifacts: ArtifactStore,
  uri: string,
  masker?: ReadMasker,
): Promise<{ read: ReadResourceResult; data: Buffer; sha256: string } | undefined> {
  const wanted = parseArtifactUri(masker ? masker.unmask(uri) : uri)
  if (!wanted) return undefined
  const { artifact, data } = await artifacts.read(masker ? masker.unmask(wanted.name) : wanted.name, wanted.version)
  const { contentType: mimeType, sha256 } = artifact
  const masked = (text: string): Promise<string> | string => (masker ? masker.masked((mask) => mask(text)) : text)
  const content = isTextType(mimeType) ? { text: await masked(data.toString()) } : { blob: data.toString('base64') }
  return { read: { contents: [{ uri, mimeType, ...content }] }, data, sha256 }
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

// Artifacts as MCP resources. The list shows the newest version of each; every version can be read by its URI.
import type { Resource } from '@modelcontextprotocol/server'
import type { ReadMasker, Saved } from '@sandbridge/core/parts'
import { type Artifact, type ArtifactStore, artifactUri, parseArtifactUri } from './artifact-store.ts'
import { isTextType } from './content-type.ts'

/** Enough for a person to choose from. Older artifacts can still be read by URI. */
const MAX_LISTED = 200

export async function listArtifacts(
  artifacts: ArtifactStore,
  masker: ReadMasker | undefined,
): ReturnType<Saved['listResources']> {
  const all = await artifacts.list()
  const newest = all.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1)).slice(0, MAX_LISTED)
  const list = (mask: (text: string) => string): Resource[] =>
    newest.map((artifact) => {
      const name = mask(artifact.name)
      return { ...describe({ ...artifact, name }), uri: artifactUri(name) }
    })
  const resources = await (masker ? masker.masked(list) : list((text) => text))
  return { resources, names: all.map(({ name }) => name) }
}

export async function readArtifact(
  artifacts: ArtifactStore,
  uri: string,
  masker: ReadMasker | undefined,
): ReturnType<Saved['readResource']> {
  const wanted = await wantedArtifact(artifacts, uri, masker)
  if (!wanted) return undefined
  const { artifact, data } = await artifacts.read(wanted.name, wanted.version)
  const { contentType: mimeType, sha256 } = artifact
  const masked = (text: string): Promise<string> | string => (masker ? masker.masked((mask) => mask(text)) : text)
  const content = isTextType(mimeType) ? { text: await masked(data.toString()) } : { blob: data.toString('base64') }
  return { read: { contents: [{ uri, mimeType, ...content }] }, data, sha256 }
}

/** The artifact that a URI names, masked; undefined for another URI. An ambiguous name stays, and is not found. */
async function wantedArtifact(artifacts: ArtifactStore, uri: string, masker: ReadMasker | undefined) {
  const given = parseArtifactUri(uri)
  if (!given || !masker) return given
  const names = new Set(masker.meanings(given.name))
  if (names.size === 1) return { ...given, name: [...names][0]! }
  const saved = (await artifacts.list()).filter(({ name }) => names.has(name))
  return saved.length === 1 ? { ...given, name: saved[0]!.name } : given
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

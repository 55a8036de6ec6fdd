// Artifacts as MCP resources. The list shows the newest version of each; every version can be read by its URI.
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/server'
import type { Bridge } from '../../bridge/bridge.ts'
import type { Mask } from '../../cell/masking-part.ts'
import type { Artifact, ArtifactStore } from '../../keep/saved/artifact-store.ts'
import { artifactUri, parseArtifactUri } from '../../keep/saved/artifact-store.ts'
import { isTextType } from '../../keep/saved/content-type.ts'
import type { Sessions } from './sessions.ts'
import { OUTPUT_URI_TEMPLATE } from '../../cell/session/output-store.ts'
import type { Session } from '../../cell/session/session.ts'
import { shortName } from '../../util/text/server-words.ts'

/** Enough for a person to choose from. Older artifacts can still be read by URI. */
const MAX_LISTED = 200

/** Replaces personal data with tokens in what the model reads, and turns tokens in names back into the names. */
interface ReadMasker {
  /** @throws BridgeError MASK_UNAVAILABLE */
  masked<T>(work: (mask: Mask) => T): Promise<T>
  /** What a text with tokens can mean: one text, or several when tokens may be those of several sessions. */
  meanings(text: string): readonly string[]
}

/**
 * Returns what masks for the readers of these sessions; undefined when nothing is masked. A client that names a session
 * with each call may use a token in any of them, where it stands for another value. Such a client gets tokens that no
 * session has.
 */
export function maskerFor({ maskers }: Bridge, sessions: Sessions): ReadMasker | undefined {
  if (!maskers) return undefined
  const { only } = sessions
  const own = only ? maskers.of(only) : maskers.shared(sessions)
  return {
    masked: (work) => own.masked(work),
    meanings(text) {
      // Results of cells name artifacts with the tokens of their session.
      const all = [own, ...[...sessions.readable()].map((session) => maskers.of(session))]
      return [...new Set(all.map((one) => one.unmask(text)))]
    },
  }
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

/** The content of an artifact; undefined for another URI. @throws BridgeError STATE_NOT_FOUND, MASK_UNAVAILABLE */
export async function readArtifactResource(
  artifacts: ArtifactStore,
  uri: string,
  masker?: ReadMasker,
): Promise<{ read: ReadResourceResult; data: Buffer; sha256: string } | undefined> {
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

export const OUTPUT_TEMPLATE = {
  uriTemplate: OUTPUT_URI_TEMPLATE,
  name: 'output',
  title: 'The full output of a cell',
  description: 'A truncated result names the URI.',
  mimeType: 'text/plain',
}

const SCHEME = 'sandbridge://output/'

/**
 * Returns the output that a URI names; undefined for other URIs.
 * @param sessions those whose output the reader may see
 * @throws BridgeError OUTPUT_UNKNOWN when the output is no longer kept. Error when it belongs to another session.
 */
export function readOutputResource(sessions: Iterable<Session>, uri: string): ReadResourceResult | undefined {
  if (!uri.startsWith(SCHEME)) return undefined
  for (const { outputs } of sessions) {
    const cell = outputs.cellOf(uri)
    if (cell === undefined) continue
    return { contents: [{ uri, mimeType: OUTPUT_TEMPLATE.mimeType, text: outputs.read(cell) }] }
  }
  throw new Error(`Unknown output '${shortName(uri)}'. Output is stored only while its session lives`)
}

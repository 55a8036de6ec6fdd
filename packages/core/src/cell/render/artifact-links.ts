// Artifacts that a cell saved, as links that a client can offer to its user. They take a share of the output budget,
// never the room of the text: a name in another script costs hundreds of tokens in a URI. Pure.
import type { Artifact } from '../../keep/saved/artifact-store.ts'
import { estimateTokens } from '../../util/tokens/estimate-tokens.ts'

export interface ResourceLink {
  type: 'resource_link'
  uri: string
  name: string
  mimeType: string
  size: number
  description: string
}

/** Share of the budget. Most of it is for the text of the cell. */
const LINKS_SHARE = 0.25
const MAX_LINKS = 50

/** Links to the newest versions, as many as fit, and a note about the others. `tokens` is the cost of the links. */
export function linksTo(
  artifacts: Artifact[],
  outputTokens: number,
): { links: ResourceLink[]; tokens: number; notes: string[] } {
  const newest = [...new Map(artifacts.map((artifact) => [artifact.name, artifact])).values()]
  const links: ResourceLink[] = []
  let tokens = 0
  for (const artifact of newest.slice(0, MAX_LINKS)) {
    const link = linkTo(artifact)
    const cost = estimateTokens(JSON.stringify(link))
    // A long link does not keep shorter ones out.
    if (tokens + cost > outputTokens * LINKS_SHARE) continue
    tokens += cost
    links.push(link)
  }
  const rest = newest.length - links.length
  if (rest === 0) return { links, tokens, notes: [] }
  const what = `${rest}${links.length > 0 ? ' more' : ''} artifact${rest === 1 ? ' was' : 's were'} saved`
  return { links, tokens, notes: [`${what}: print(runtime.artifacts())`] }
}

function linkTo({ uri, name, contentType, sizeBytes, version }: Artifact): ResourceLink {
  return {
    type: 'resource_link',
    uri,
    name,
    mimeType: contentType,
    size: sizeBytes,
    description: `Saved by this cell, version ${version}`,
  }
}

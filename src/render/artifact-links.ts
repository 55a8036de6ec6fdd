// What a cell has saved, as links that a client can offer to its user. They take a share of the output budget and never the room of the text:
// a name in another script costs hundreds of tokens in an address. Pure.
import type { Artifact } from '../state/artifact-store.ts'
import { estimateTokens } from '../text/estimate-tokens.ts'

export interface ResourceLink {
  type: 'resource_link'
  uri: string
  name: string
  mimeType: string
  size: number
  description: string
}

/** Of the budget: the text of a cell is what it was run for. */
const LINKS_SHARE = 0.25
const MAX_LINKS = 50

/**
 * Links to the newest versions, as many as have room, and what is to be said of the others.
 * @param outputTokens what all of the result may cost
 * @returns `tokens` is what the links cost
 */
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
    // One that is too long does not keep the others out.
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

// The servers of a registry that match, by a plain scan: faster than reading an index of ten thousand. Pure.
import type { CopiedServer } from './registry-copy.ts'

/** Words without information in a list of MCP servers. */
const COMMON = new Set(['a', 'an', 'and', 'for', 'in', 'mcp', 'of', 'on', 'or', 'server', 'the', 'to', 'with'])
const MAX_WORDS = 20
/** Of a word in the name, in the title and in the description. */
const WEIGHTS = [6, 4, 2]

/** Lower-case words of a query without a plural's s. Common words are kept only if there are no others. */
function queryWords(query: string): string[] {
  const all = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const telling = all.filter((word) => !COMMON.has(word))
  const words = (telling.length > 0 ? telling : all).map((word) =>
    word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word,
  )
  return [...new Set(words)].slice(0, MAX_WORDS)
}

/** Returns the matching servers, best first. One matches when it has one of the words; rare words weigh more. */
export function rank(
  servers: readonly CopiedServer[],
  query: string,
  limit: number,
): { found: CopiedServer; score: number }[] {
  const words = queryWords(query)
  const wanted = query.trim().toLowerCase()
  const hits: { found: CopiedServer; scores: number[] }[] = []
  const counts = words.map(() => 0)
  for (const found of servers) {
    const { name, title = '', description = '' } = found.server
    const texts = [name, title, description].map((text) => text.toLowerCase())
    const scores = words.map((word, at) => {
      const score = Math.max(...texts.map((text, part) => WEIGHTS[part]! * places(text, word)))
      if (score > 0) counts[at]! += 1
      return score
    })
    if (scores.some((score) => score > 0))
      hits.push({ found, scores: texts[0] === wanted ? scores.map(() => 1_000) : scores })
  }
  const weights = counts.map((count) => Math.log(1 + servers.length / (1 + count)))
  const ranked = hits.map(({ found, scores }) => {
    const matched = scores.filter((score) => score > 0).length
    const sum = scores.reduce((total, score, at) => total + score * weights[at]!, 0)
    return { found, score: sum * (matched / words.length) }
  })
  const length = ({ server }: CopiedServer): number => server.name.length
  return ranked.toSorted((a, b) => b.score - a.score || length(a.found) - length(b.found)).slice(0, limit)
}

/**
 * How well a text matches a word: 1 as a word (or its plural), 0.6 as the start of one, 0.2 inside one, otherwise 0.
 */
function places(text: string, word: string): number {
  let best = 0
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (isLetter(text.charCodeAt(at - 1))) best = Math.max(best, word.length > 2 ? 0.2 : 0)
    else {
      const end = at + word.length
      const after = text.charCodeAt(end) === 0x73 ? end + 1 : end
      if (!isLetter(text.charCodeAt(end)) || !isLetter(text.charCodeAt(after))) return 1
      best = 0.6
    }
  }
  return best
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code > 0x7f
}

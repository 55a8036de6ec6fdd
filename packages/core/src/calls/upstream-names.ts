// Names the configured servers and their purposes, most used first. Of a server's own text, only a few words of its
// tools' names are used, in quotes: a client gives the text to its model as ours. Pure.
import { estimateTokens } from '../util/tokens/estimate-tokens.ts'
import { oneLine } from '../util/text/server-words.ts'
import type { ServerDefinition } from '../config/entries/server-definition.ts'
import type { Catalog } from './catalog/catalog.ts'
import type { Learned } from './learned-part.ts'

/** Tokens of the whole text. */
const MAX_TOKENS = 60
const MAX_NAME = 40
const MAX_PURPOSE = 40
/** So that more of many servers are named. */
const MAX_PURPOSE_OF_MANY = 24
const MANY = 5

/** @param load with `explicit`, tools are not told before a cell names the server @returns '' without servers */
export function upstreamNames(
  catalog: Catalog,
  learned: Pick<Learned, 'daysOfUse'> | undefined,
  load: 'lazy' | 'explicit',
): string {
  const days = new Map<string, number>()
  const servers = catalog.servers()
  for (const { name } of servers) days.set(name, learned?.daysOfUse(catalog.of(name).key) ?? 0)
  const limit = servers.length > MANY ? MAX_PURPOSE_OF_MANY : MAX_PURPOSE
  const ofUser = (name: string): string => oneLine(catalog.of(name).configuredDescription, limit)
  const ofTools = (name: string): string =>
    load === 'explicit' ? '' : catalog.of(name).topics(limit).replaceAll('"', '')
  // Sorting is stable: unused servers stay in the order of the configuration.
  const ranked = servers.toSorted((a, b) => days.get(b.name)! - days.get(a.name)!)
  const phrases = ranked.map(({ name }) => {
    const topics = ofTools(name)
    return phraseOf(name, ofUser(name) || (topics && `"${topics}"`))
  })
  return longestFitting(phrases)
}

/** The same from the configuration alone, for a start that knows no more. */
export function configuredServers(servers: readonly Pick<ServerDefinition, 'name' | 'description'>[]): string {
  const limit = servers.length > MANY ? MAX_PURPOSE_OF_MANY : MAX_PURPOSE
  return longestFitting(servers.map(({ name, description }) => phraseOf(name, oneLine(description, limit))))
}

function phraseOf(name: string, purpose: string): { shown: string; full: string } {
  const shown = oneLine(name, MAX_NAME)
  return { shown, full: purpose ? `${shown} (${purpose})` : shown }
}

/** The longest beginning of the list that fits, and the rest as a count. The last one may lack its purpose. */
function longestFitting(phrases: readonly { shown: string; full: string }[]): string {
  let best = phrases.length === 0 ? '' : `${phrases.length} servers are configured.`
  const named: string[] = []
  for (const { shown, full } of phrases) {
    const fitting = [full, shown].find((one) => fits(sentence([...named, one], phrases.length)))
    if (fitting === undefined) break
    named.push(fitting)
    best = sentence(named, phrases.length)
    if (fitting !== full) break
  }
  return best
}

function sentence(named: readonly string[], total: number): string {
  const rest = total - named.length
  const quoted = named.some((one) => one.includes('"')) ? " Quoted: words of the servers' tools." : ''
  return `Configured: ${named.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}.${quoted}`
}

function fits(text: string): boolean {
  return estimateTokens(text, MAX_TOKENS) <= MAX_TOKENS
}

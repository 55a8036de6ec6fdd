// About servers that a search did not cover, as else a tool seems not to exist, and about those that do not answer.
import type { Unsearched } from '../catalog/catalog-options.ts'
import type { SkippedTool } from '../../upstream/upstream.ts'
import type { Upstreams } from '../../upstream/upstream-set.ts'
import { oneLine } from '../../util/text/server-words.ts'
import { firstOf } from '../../util/text/count.ts'
import { ONLY_NAMED } from '../scope.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SessionFlow } from '../flow-part.ts'
import type { CalledTools } from './called-tools.ts'

const MAX_SHOWN = 5
const MAX_REASON_CHARS = 200
const MAX_NAME_CHARS = 80

/**
 * @param unsearched servers whose tools are not known
 * @param unloaded servers that the cell did not name although it must
 * @returns undefined when both are empty
 */
export function unsearchedNote(unsearched: readonly Unsearched[], unloaded: { name: string }[]): string | undefined {
  const sentences = []
  if (unsearched.length > 0) {
    const broken = unsearched.filter((server) => server.isBroken)
    const pending = unsearched.filter((server) => !server.isBroken)
    if (broken.length > 0) sentences.push(`Unavailable and not searched: ${withReasons(broken)}.`)
    if (pending.length > 0) sentences.push(`Not searched: ${withReasons(pending)}. Search again later.`)
  }
  if (unloaded.length > 0) {
    const names = firstOf(
      unloaded.map(({ name }) => name),
      MAX_SHOWN,
    )
    sentences.push(`Not searched, because ${ONLY_NAMED}: ${names}. See runtime.discovered_servers().`)
  }
  return sentences.length === 0 ? undefined : sentences.join(' ')
}

/** Names what a server lists and no cell can call; undefined when there is nothing. */
export function skippedNote(server: string, skipped: readonly SkippedTool[]): string | undefined {
  if (skipped.length === 0) return undefined
  return `Left out of the tools of ${server}: ${withReasons(skipped.map(named))}.`
}

/** An entry without a name has a reason, too. */
export function named({ name, reason }: SkippedTool): SkippedTool {
  return { name: oneLine(name, MAX_NAME_CHARS) || '(unnamed)', reason }
}

function withReasons(servers: readonly Pick<Unsearched, 'name' | 'reason'>[]): string {
  const described = ({ name, reason }: Pick<Unsearched, 'name' | 'reason'>) =>
    `${name} (${oneLine(reason, MAX_REASON_CHARS).replace(/\.$/, '')})`
  return firstOf(servers.map(described), MAX_SHOWN)
}

/**
 * Those of `unsearched` to tell a session about. It hears of each broken one once, and again only after it has worked
 * in between, or in a search that names it, where it would seem to have no tools; of others every time.
 * @param told by the session
 * @param within all servers of the search
 */
export function unsearchedNews(
  told: Set<string>,
  within: readonly string[],
  unsearched: readonly Unsearched[],
  areNamed: boolean,
): Unsearched[] {
  const keyOf = (name: string) => `broken ${name}`
  const broken = new Set(unsearched.filter((server) => server.isBroken).map((server) => server.name))
  const news = unsearched.filter(({ name, isBroken }) => areNamed || !isBroken || !told.has(keyOf(name)))
  for (const name of within) {
    if (broken.has(name)) told.add(keyOf(name))
    else told.delete(keyOf(name))
  }
  return news
}

/** One sentence for each server that has not answered. */
export async function unansweredNotes(
  called: CalledTools,
  upstreams: Pick<Upstreams, 'of'>,
  flow: SessionFlow | undefined,
): Promise<string[]> {
  // The calls that the time limit ended are reported to their upstreams first.
  await nextTurn()
  const reasons = await Promise.all(
    [...called.servers].map(async (server) => {
      const reason = await upstreams
        .of(server)
        .whyUnanswered()
        .catch(() => undefined)
      if (reason !== undefined) flow?.returned({ server, name: 'silence' }, reason)
      return reason
    }),
  )
  return reasons.filter((reason) => reason !== undefined)
}

// A note for the reader of a cell about servers that a search did not cover. Without it, a tool that was not found
// seems not to exist. Pure.
import type { Unsearched } from '../catalog/known-server.ts'
import { oneLine } from '../../util/text/one-line.ts'
import { firstOf } from '../../util/text/first-of.ts'
import { ONLY_NAMED } from '../scope.ts'
import type { Session } from '../../cell/session/session.ts'

const MAX_SHOWN = 5
const MAX_REASON_CHARS = 200

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

function withReasons(servers: readonly Unsearched[]): string {
  const described = ({ name, reason }: Unsearched) =>
    `${name} (${oneLine(reason, MAX_REASON_CHARS).replace(/\.$/, '')})`
  return firstOf(servers.map(described), MAX_SHOWN)
}

/**
 * Remembers which broken servers a session was told about: each is named once, and again only after it has worked in
 * between, or in a search that names it.
 */
export class BrokenServers {
  readonly #told = new WeakMap<Session, Set<string>>()

  /**
   * Those of `unsearched` to tell the session about: broken ones once, others every time.
   * @param within all servers of the search
   * @param areNamed whether the search names them: it hears of each broken one, which would seem to have no tools
   */
  news(
    session: Session,
    within: readonly string[],
    unsearched: readonly Unsearched[],
    areNamed: boolean,
  ): Unsearched[] {
    const told = this.#told.get(session) ?? new Set()
    this.#told.set(session, told)
    const broken = new Set(unsearched.filter((server) => server.isBroken).map((server) => server.name))
    const news = unsearched.filter((server) => areNamed || !told.has(server.name) || !server.isBroken)
    for (const name of within) {
      if (broken.has(name)) told.add(name)
      else told.delete(name)
    }
    return news
  }
}

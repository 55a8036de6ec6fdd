// Remembers which broken servers a session was told of, so that each is said once, and again only after it has worked meanwhile.
import type { Unsearched } from '../catalog/catalog.ts'
import type { Session } from '../session/session.ts'

export class BrokenServers {
  readonly #told = new WeakMap<Session, Set<string>>()

  /**
   * Those of `unsearched` that the session has not heard of: broken ones once, others every time.
   * @param within all servers of the search
   */
  news(session: Session, within: readonly string[], unsearched: readonly Unsearched[]): Unsearched[] {
    const told = this.#told.get(session) ?? new Set()
    this.#told.set(session, told)
    const broken = new Set(unsearched.filter((server) => server.isBroken).map((server) => server.name))
    const news = unsearched.filter((server) => !told.has(server.name) || !server.isBroken)
    for (const name of within) {
      if (broken.has(name)) told.add(name)
      else told.delete(name)
    }
    return news
  }
}

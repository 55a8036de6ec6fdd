// Whose a token is. Hashes are compared in constant time, each of them whichever matches: how long an answer takes tells nothing about a token.
import { timingSafeEqual } from 'node:crypto'
import type { Log } from '../../log.ts'
import { hasExpired, hashOf, type NamedTokens } from './named-tokens.ts'

export interface Client {
  /** The name of its token; missing for the bridge's own token. */
  user?: string
}

/** Undefined for a token that is unknown, expired or revoked. */
export type FindClient = (token: string) => Promise<Client | undefined>

interface Options {
  /** The bridge's own. */
  token: string
  named: Pick<NamedTokens, 'list'>
  log: Log
}

export function createFindClient({ token, named, log }: Options): FindClient {
  const own = hashOf(token)
  let isUnreadable = false

  /** Read anew each time: a token that was revoked must not be accepted once more. */
  async function list(): ReturnType<NamedTokens['list']> {
    try {
      const all = await named.list()
      isUnreadable = false
      return all
    } catch (error) {
      if (!isUnreadable) log.error('Named tokens are not accepted', { error })
      isUnreadable = true
      return {}
    }
  }

  return async (given) => {
    const hash = hashOf(given)
    if (timingSafeEqual(hash, own)) return {}
    if (given === '') return undefined
    let found: Client | undefined
    for (const [user, one] of Object.entries(await list())) {
      const isSame = timingSafeEqual(hash, Buffer.from(one.sha256, 'hex'))
      if (isSame && !hasExpired(one)) found = { user }
    }
    return found
  }
}

// Finds the user of a token. Compares hashes in constant time: how long it takes reveals nothing of a token.
import { timingSafeEqual } from 'node:crypto'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Log } from '@sandbridge/core/util'
import { hasExpired, hashOf, type NamedTokens } from './named-tokens.ts'
import type { AccessTokens } from '../oauth/access-tokens.ts'
import { BearerRefusal } from '../oauth/bearer-refusal.ts'

export interface Client {
  /** The name of the token, or the user that an access token was issued for; missing for the bridge's own token. */
  user?: string
}

/**
 * Resolves to undefined for an unknown, expired or revoked token.
 * @throws BearerRefusal for an access token that is not accepted, and while tokens cannot be checked
 */
export type FindClient = (token: string) => Promise<Client | undefined>

interface Options {
  /** The bridge's own token. */
  token: string
  named: Pick<NamedTokens, 'list'>
  /** Missing where no authorization server is configured. */
  accessTokens?: Pick<AccessTokens, 'userOf'> | undefined
  log: Log
}

/** Three parts, as in a signed JWT. The bridge's own and named tokens contain no dot. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/

export function createFindClient({ token, named, accessTokens, log }: Options): FindClient {
  const own = hashOf(token)
  let isUnreadable = false

  /**
   * Undefined while the store cannot be reached. Reads it each time, so that a revoked token is never accepted again.
   */
  async function list(): Promise<Awaited<ReturnType<NamedTokens['list']>> | undefined> {
    try {
      const all = await named.list()
      isUnreadable = false
      return all
    } catch (error) {
      if (!isUnreadable) log.error('Named tokens are not accepted', { error })
      isUnreadable = true
      // An unreachable database comes back, so the client may retry. A damaged list stays damaged.
      return BridgeError.isInstance(error) && error.code === 'STATE_UNWRITABLE' ? undefined : {}
    }
  }

  return async (given) => {
    const hash = hashOf(given)
    if (timingSafeEqual(hash, own)) return {}
    if (given === '') return undefined
    if (accessTokens && JWT.test(given)) return { user: await accessTokens.userOf(given) }
    let found: Client | undefined
    const all = await list()
    if (!all) throw new BearerRefusal('unavailable', 'Tokens cannot be checked now. Retry later')
    for (const [user, one] of Object.entries(all)) {
      const isSame = timingSafeEqual(hash, Buffer.from(one.sha256, 'hex'))
      if (isSame && !hasExpired(one)) found = { user }
    }
    return found
  }
}

// How requests to a remote server are authorized, for people: by what, as whom, since when and until when.
import type { ServerDefinition } from '@sandbridge/core/config/entries'
import { latestGrant, type OwnCredentials, ownCredentials, type TokenStore } from '@sandbridge/core/upstream/auth'
import { ago } from '@sandbridge/core/util/text'

export interface SignInState {
  uses: OwnCredentials | 'sign-in' | 'nothing'
  account?: string
  /** In milliseconds since 1970. */
  since?: number
  /** When the access token expires, where that is known and nothing renews it. */
  until?: number
  /** Why the sign-in is of no more use. */
  ended?: string
}

/** Undefined for a server on this machine. Starts and asks nothing. */
export async function signInState(
  { name, transport }: ServerDefinition,
  store: TokenStore,
): Promise<SignInState | undefined> {
  if (transport.type === 'stdio') return undefined
  const own = ownCredentials(transport)
  if (own) return { uses: own }
  const kept = (await store.all()).filter(({ grants }) => grants.entry?.name === name)
  const ofEntry = kept.find(({ grants }) => grants.entry?.url === transport.url) ?? kept.at(-1)
  const grant = ofEntry && latestGrant(ofEntry.grants)
  if (!grant || (!grant.tokens && grant.ended === undefined)) return { uses: 'nothing' }
  const { account, signedInAt: since, ended, tokens } = grant
  const until = tokens?.refresh_token === undefined ? tokens?.expires_at : undefined
  return {
    uses: 'sign-in',
    ...(account !== undefined && { account }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(ended !== undefined && { ended }),
  }
}

export function describeSignIn({ uses, account, since, until, ended }: SignInState, now = Date.now()): string {
  if (uses === 'header') return 'by the Authorization header of its definition'
  if (uses === 'headersHelper') return 'by the headers that its headersHelper prints'
  if (uses === 'client credentials') return 'by the client secret of its definition'
  if (uses === 'nothing') return 'no sign-in'
  const parts = [
    ended === undefined ? 'signed in' : `the sign-in has ended (${ended})`,
    account === undefined ? '' : ` as ${account}`,
    since === undefined ? '' : `, ${ago(since, now)}`,
    until === undefined ? '' : `, ${until > now ? 'until' : 'expired'} ${new Date(until).toISOString()}`,
  ]
  return parts.join('')
}

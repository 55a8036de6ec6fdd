// Ends a sign-in at its authorization server (RFC 7009), where that offers it.
import type { Grant } from '@sandbridge/core/upstream/auth'
import { createHttpFetch } from '@sandbridge/remote/http-fetch.ts'
import type { Revocation, RevokeOptions } from '@sandbridge/core/parts'
import { asker } from '../oauth/ask.ts'
import { clientOf } from '../oauth/client.ts'
import { discover, endpointOf } from '../oauth/discovery.ts'
import { revoke, type TokenEndpoint } from '../oauth/token-requests.ts'

/** Never rejects: the tokens are deleted here in any case. */
export async function revokeGrant(grant: Grant, { server, name, issuer, env }: RevokeOptions): Promise<Revocation> {
  const { tokens } = grant
  if (!tokens) return 'none'
  const http = createHttpFetch({ allowLinkLocal: false, env })
  try {
    const ask = asker({ fetch: http.fetch, server })
    const client = clientOf({ name, server, issuer, grant })
    const endpoint = await endpointFor(grant, { server, ask })
    if (!client || endpoint?.revocationUrl === undefined) return 'unknown'
    const { access_token: access, refresh_token: refresh } = tokens
    // With the refresh token, most authorization servers end the whole grant.
    const first =
      refresh === undefined || (await revoke(ask, endpoint, client, { value: refresh, hint: 'refresh_token' }))
    const second = await revoke(ask, endpoint, client, { value: access, hint: 'access_token' })
    return first && (second || refresh !== undefined) ? 'revoked' : 'refused'
  } catch {
    return 'refused'
  } finally {
    http.close()
  }
}

/** For a sign-in that was kept without it, the authorization server is asked. */
async function endpointFor(
  grant: Grant,
  { server, ask }: Pick<RevokeOptions, 'server'> & { ask: ReturnType<typeof asker> },
): Promise<TokenEndpoint | undefined> {
  if (grant.endpoint) return grant.endpoint
  return endpointOf(await discover({ serverUrl: server.url, named: server.signIn ?? {}, ask }))
}

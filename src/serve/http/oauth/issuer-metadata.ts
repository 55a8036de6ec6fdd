// Finds where an authorization server publishes its keys (RFC 8414, section 3; OpenID Connect Discovery 1.0, section
// 4).
import * as z from 'zod'
import { messageOf } from '../../../errors.ts'
import { fetchJson } from './fetch-json.ts'

const metadataDocument = z.object({ issuer: z.string(), jwks_uri: z.string() })

/** Possible addresses of its metadata, in the order to try. */
export function metadataAddresses(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ].filter((address, index, all) => all.indexOf(address) === index)
}

/** Returns the address of its key set. @throws Error that says what is wrong with the authorization server */
export async function findKeySet(issuer: string, signal: AbortSignal): Promise<string> {
  const problems = new Set<string>()
  for (const address of metadataAddresses(issuer)) {
    try {
      const metadata = metadataDocument.safeParse(await fetchJson(address, signal)).data
      if (!metadata) problems.add('its metadata has no issuer or no jwks_uri')
      // Metadata must not name another issuer (RFC 8414, section 3.3).
      else if (metadata.issuer !== issuer) problems.add('its metadata names another issuer')
      else return metadata.jwks_uri
    } catch (error) {
      if (signal.aborted) throw error
      problems.add(messageOf(error))
    }
  }
  throw new Error([...problems].join('; '))
}

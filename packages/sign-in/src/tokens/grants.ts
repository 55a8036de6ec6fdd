// What is kept of a sign-in, and how it is checked when it is read. Pure.
import type { HeldSecrets } from '@sandbridge/core/config/secrets'
import type { Grant, ServerGrants } from '@sandbridge/core/upstream/auth'
import { isRecord } from '@sandbridge/core/util/json/json.ts'

export function noGrants(): ServerGrants {
  return { byIssuer: Object.create(null) as ServerGrants['byIssuer'] }
}

/** The grant of an issuer, which is added where there is none. */
export function grantOf({ byIssuer }: ServerGrants, issuer: string): Grant {
  if (!Object.hasOwn(byIssuer, issuer)) {
    // An issuer may be named like a property that every object has.
    Object.defineProperty(byIssuer, issuer, { value: {}, enumerable: true, configurable: true, writable: true })
  }
  return byIssuer[issuer]!
}

/** Has what a sign-in holds redacted from now on. */
export function noteSecrets({ byIssuer }: ServerGrants, held: HeldSecrets): void {
  for (const { tokens, client } of Object.values(byIssuer)) {
    held.add(tokens?.access_token, tokens?.refresh_token, client?.client_secret)
  }
}

export function isGrants(value: unknown): value is ServerGrants {
  if (!isRecord(value) || !isRecord(value['byIssuer'])) return false
  if (!isTextIfAny(value['latest']) || !isTextIfAny(value['missingScope'])) return false
  const { entry, refused } = value
  if (
    entry !== undefined &&
    !(isRecord(entry) && typeof entry['name'] === 'string' && typeof entry['url'] === 'string')
  )
    return false
  if (refused !== undefined && !(isRecord(refused) && isTextIfAny(refused['resourceMetadata']))) return false
  return Object.values(value['byIssuer']).every(isGrant)
}

/** Checks only the fields that are read; unknown ones stay. */
function isGrant(value: unknown): value is Grant {
  if (!isRecord(value)) return false
  const { client, tokens, port, endpoint } = value
  if (client !== undefined && !(isRecord(client) && typeof client['client_id'] === 'string')) return false
  if (tokens !== undefined && !(isRecord(tokens) && typeof tokens['access_token'] === 'string')) return false
  if (endpoint !== undefined && !(isRecord(endpoint) && typeof endpoint['url'] === 'string')) return false
  if (!isTextIfAny(value['account']) || !isTextIfAny(value['ended'])) return false
  return port === undefined || (Number.isInteger(port) && Number(port) >= 0 && Number(port) < 65_536)
}

function isTextIfAny(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

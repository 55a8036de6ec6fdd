// What is kept of a sign-in, and how it is checked when it is read. Pure.
import type { HeldSecrets } from '../../config/secrets/held-secrets.ts'
import { isRecord } from '../../util/json/json.ts'

/** A sign-in is for one entry: another with the same address may be of another account. */
export interface SignInEntry {
  name: string
  url: string
}

/** What one authorization server issued for one entry. */
export interface Grant {
  client?: {
    client_id: string
    client_secret?: string
    /** In seconds since 1970. */
    client_secret_expires_at?: number
    token_endpoint_auth_method?: string
    redirect_uris?: string[]
  }
  tokens?: {
    access_token: string
    refresh_token?: string
    scope?: string
    /** In milliseconds since 1970, where it is known. */
    expires_at?: number
    /** When they should be renewed. */
    due_at?: number
  }
  /** The port of the redirect address that the client is registered with. */
  port?: number
  /** Where tokens are refreshed and revoked. */
  endpoint?: { url: string; authMethods?: string[]; resource?: string; revocationUrl?: string }
  /** For people: who has signed in, where that is known, and when, in milliseconds since 1970. */
  account?: string
  signedInAt?: number
  /** Why the tokens are of no more use: only another sign-in helps. */
  ended?: string
  /** A sign-in with this client was not answered: it may be unknown there by now, so the next one registers anew. */
  unanswered?: true
}

/** The sign-ins of one entry, by authorization server. */
export interface ServerGrants {
  /** Whose they are; missing before the first change. */
  entry?: SignInEntry
  /** The issuer of the tokens that were saved last. */
  latest?: string
  byIssuer: Record<string, Grant>
  /** The scope that a refused request needs: the next login requests it. */
  missingScope?: string
  /** A request was refused without a sign-in, and where the refusal said that its metadata is. */
  refused?: { resourceMetadata?: string }
  /** There is a sign-in that cannot be opened: only another key does. Never stored. */
  isLocked?: true
}

export function noGrants(): ServerGrants {
  return { byIssuer: Object.create(null) as ServerGrants['byIssuer'] }
}

/** The grant whose tokens were saved last. */
export function latestGrant({ latest, byIssuer }: ServerGrants): Grant | undefined {
  return latest !== undefined && Object.hasOwn(byIssuer, latest) ? byIssuer[latest] : undefined
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

// What is kept of a sign-in, and how it is checked when it is read. Pure.
import * as z from 'zod'
import type { HeldSecrets } from '@sandbridge/core/config/secrets'
import type { Grant, ServerGrants } from '@sandbridge/core/upstream/auth'

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

const text = z.string().optional()
/** Of the fields that are read; unknown ones stay. */
const grant = z.object({
  client: z.object({ client_id: z.string() }).optional(),
  tokens: z.object({ access_token: z.string() }).optional(),
  endpoint: z.object({ url: z.string() }).optional(),
  account: text,
  ended: text,
  port: z.int().min(0).max(65_535).optional(),
})
const grants = z.object({
  byIssuer: z.record(z.string(), grant),
  latest: text,
  missingScope: text,
  entry: z.object({ name: z.string(), url: z.string() }).optional(),
  refused: z.object({ resourceMetadata: text }).optional(),
})

export function isGrants(value: unknown): value is ServerGrants {
  return grants.safeParse(value).success
}

// The public keys of one authorization server. They stay in use while it cannot be reached. They are fetched again when
// they are old or a token names an unknown key. Anyone can send tokens with unknown keys, so fetches are rate-limited.
import type { createLocalJWKSet, JWTVerifyGetKey } from 'jose'
import * as z from 'zod'
import { messageOf } from '@sandbridge/core/errors.ts'
import type { Log } from '@sandbridge/core/util'
import { BearerRefusal } from './bearer-refusal.ts'
import { isLoopback } from '@sandbridge/core/util/net'
import { readAtMost } from '@sandbridge/shared/unpack/decoded.ts'

const metadataDocument = z.object({ issuer: z.string(), jwks_uri: z.string() })

export const KEY_TIMES = {
  /** After this time, keys are fetched again while the known ones stay in use. */
  freshMs: 10 * 60_000,
  /** Minimum time between two fetches. */
  coolDownMs: 10_000,
  /** Timeout of one fetch. */
  lookUpMs: 5_000,
}

const MAX_KEYS = 100
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(MAX_KEYS) })

type Keys = ReturnType<typeof createLocalJWKSet>

export class IssuerKeys {
  readonly #issuer: string
  readonly #log: Log
  readonly #times: typeof KEY_TIMES
  #keys: Keys | undefined
  #lookedUpAt = -Infinity
  #triedAt = -Infinity
  #lookingUp: Promise<void> | undefined
  /** Why the last fetch failed. */
  #trouble: string | undefined

  constructor(issuer: string, log: Log, times: typeof KEY_TIMES = KEY_TIMES) {
    this.#issuer = issuer
    this.#log = log
    this.#times = times
  }

  /**
   * Finds the key that a token names.
   * @throws BearerRefusal 503 when the key is unknown and the authorization server cannot be reached, JWKSNoMatchingKey
   * when it has no such key
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const { errors } = await import('jose')
    if (this.#keys) {
      if (since(this.#lookedUpAt) > this.#times.freshMs && this.#mayLookUp) void this.lookUp()
      try {
        return await this.#keys(header, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      }
    }
    if (this.#lookingUp || this.#mayLookUp) await this.lookUp()
    if (this.#keys && this.#trouble === undefined) return this.#keys(header, token)
    throw new BearerRefusal(
      'unavailable',
      'The authorization server cannot be reached to check this token. Retry later',
    )
  }

  /** Resolves when the keys are known or the failure is logged. */
  lookUp(): Promise<void> {
    this.#triedAt = performance.now()
    this.#lookingUp ??= this.#lookUp().finally(() => (this.#lookingUp = undefined))
    return this.#lookingUp
  }

  get #mayLookUp(): boolean {
    return since(this.#triedAt) >= this.#times.coolDownMs
  }

  async #lookUp(): Promise<void> {
    const { lookUpMs } = this.#times
    const signal = AbortSignal.timeout(lookUpMs)
    try {
      const set = keySet.safeParse(await fetchJson(await findKeySet(this.#issuer, signal), signal)).data
      if (!set) throw new Error('its key set is not valid')
      const { createLocalJWKSet } = await import('jose')
      // Each key is validated when it is used.
      this.#keys = createLocalJWKSet(set)
      this.#lookedUpAt = performance.now()
      if (this.#trouble !== undefined) this.#log.info('The keys of an authorization server are known again')
      this.#trouble = undefined
    } catch (error) {
      const trouble = signal.aborted ? `it did not answer within ${lookUpMs / 1000} s` : reasonOf(error)
      if (trouble !== this.#trouble) {
        this.#log.warning('The keys of an authorization server cannot be read', { issuer: this.#issuer, trouble })
      }
      this.#trouble = trouble
    }
  }
}

function since(moment: number): number {
  return performance.now() - moment
}

/** `fetch` reports the reason in the cause of its error. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause ? messageOf(error.cause) : messageOf(error)
}

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
async function findKeySet(issuer: string, signal: AbortSignal): Promise<string> {
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

/** Far above the size of a key set with certificates. */
const MAX_BYTES = 512 * 1024

/**
 * @param address https, or http on this machine
 * @throws Error that describes the response it got instead
 */
async function fetchJson(address: string, signal: AbortSignal): Promise<unknown> {
  if (!isAuthorizationAddress(address)) throw new Error('it names an address that is neither https nor on this machine')
  const response = await fetch(address, { signal, redirect: 'error', headers: { accept: 'application/json' } })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`it answered with HTTP ${response.status}`)
  }
  const tooLong = (): Error => new Error(`its answer is larger than ${MAX_BYTES / 1024} KiB`)
  const body = await readAtMost(response.body, MAX_BYTES, tooLong)
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new Error('its answer is not JSON')
  }
}

/**
 * Whether keys and metadata may be read from this address: https or this machine, so that no other host can answer in
 * its place.
 */
function isAuthorizationAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

// Checks access tokens that are JWTs: issued by a configured authorization server, for this bridge, and not expired.
// Many servers, such as Entra, Auth0 and Keycloak, do not give them the type of RFC 9068.
import type { errors as JoseErrors, JWTPayload } from 'jose'
import type { Log } from '@sandbridge/core/util'
import { BearerRefusal } from './bearer-refusal.ts'
import { IssuerKeys, type KEY_TIMES } from './issuer-keys.ts'

/** Only asymmetric signatures. With HMAC, the published public key would be the secret. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')
/** Allowed clock difference between the bridge and the authorization server. */
const SKEW_S = 30
const ACCESS_TOKEN_TYPE = /^(?:application\/)?at\+jwt$/i
/** Also of ID tokens. */
const GENERIC_TYPE = /^(?:application\/)?jwt$/i
const MAX_SUBJECT_LENGTH = 255

interface AccessTokenOptions {
  issuers: readonly string[]
  /** `aud` must contain it. */
  audience: () => string
  /** A token must have all of them. */
  scopes: readonly string[]
  log: Log
  times?: typeof KEY_TIMES
}

export class AccessTokens {
  readonly #options: AccessTokenOptions
  readonly #keys: ReadonlyMap<string, IssuerKeys>

  constructor(options: AccessTokenOptions) {
    const { issuers, log, times } = options
    this.#options = options
    this.#keys = new Map(issuers.map((issuer) => [issuer, new IssuerKeys(issuer, log, times)]))
  }

  /** Fetches the keys before the first token arrives. The log names issuers whose keys cannot be read. */
  lookUpKeys(): void {
    for (const keys of this.#keys.values()) void keys.lookUp()
  }

  /**
   * Returns the issuer and its subject for the user. No other issuer can produce the same value.
   * @throws BearerRefusal for a token that is not accepted or cannot be checked now
   */
  async userOf(token: string): Promise<string> {
    const jose = await import('jose')
    const issuer = issuerOf(jose.decodeJwt, token)
    const keys = this.#keys.get(issuer)
    if (!keys) throw invalid('comes from an authorization server that is not configured here')
    const { payload, protectedHeader } = await jose
      .jwtVerify(token, keys.find, {
        algorithms: ALGORITHMS,
        issuer,
        audience: this.#options.audience(),
        requiredClaims: ['exp', 'sub'],
        clockTolerance: SKEW_S,
      })
      .catch((error: unknown) => {
        throw error instanceof BearerRefusal ? error : invalid(reasonOf(error, jose.errors))
      })
    this.#checkType(protectedHeader.typ)
    this.#checkScopes(payload)
    return `${issuer}#${subjectOf(payload)}`
  }

  /** An ID token has no scopes: where they are required, a token of a generic type must be an access token. */
  #checkType(type: string | undefined): void {
    if (type !== undefined && ACCESS_TOKEN_TYPE.test(type)) return
    const needsScopes = this.#options.scopes.length > 0
    if (needsScopes && (type === undefined || GENERIC_TYPE.test(type))) return
    throw invalid(`is not of type at+jwt${needsScopes ? '' : '. Other types need scopes in MCP_BRIDGE_OAUTH'}`)
  }

  /** `scp` is Entra's name, also for a list. */
  #checkScopes({ scope, scp }: JWTPayload): void {
    const given = scope ?? (Array.isArray(scp) ? scp.join(' ') : scp)
    const granted = new Set(typeof given === 'string' ? given.split(' ') : [])
    if (this.#options.scopes.every((one) => granted.has(one))) return
    throw new BearerRefusal('scope', `The access token needs the scope ${this.#options.scopes.join(' ')}`)
  }
}

/** The unverified `iss`: used only to choose the keys. */
function issuerOf(decode: (token: string) => JWTPayload, token: string): string {
  try {
    return String(decode(token).iss)
  } catch {
    throw invalid('is not a valid JWT')
  }
}

function subjectOf({ sub, cnf }: JWTPayload): string {
  // Proof of possession is not checked here, so a stolen token could be used (RFC 9449, section 7.1).
  if (cnf !== undefined) throw invalid('is bound to a key of its client, which this server cannot check')
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_LENGTH || /\p{C}/u.test(sub)) {
    throw invalid(`has a sub that is empty, longer than ${MAX_SUBJECT_LENGTH} or not printable`)
  }
  return sub
}

function reasonOf(error: unknown, errors: typeof JoseErrors): string {
  if (error instanceof errors.JWTExpired) return 'has expired'
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === 'missing') return `has no ${error.claim}`
    if (error.claim === 'aud') return 'is for another server'
    if (error.claim === 'nbf') return 'is not valid yet'
    return `has a bad ${error.claim}`
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return 'has a signature algorithm that is not allowed'
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'is signed with a key that its authorization server does not have'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'has a bad signature'
  return 'is not valid'
}

function invalid(reason: string): BearerRefusal {
  return new BearerRefusal('invalid', `The access token ${reason}`)
}

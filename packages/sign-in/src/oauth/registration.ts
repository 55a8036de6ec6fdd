// Registers the bridge as a client (RFC 7591), as the metadata ask for, and again as a refusal asks for.
import type { Ask } from './ask.ts'
import { AuthorizationError, refusalOf } from './authorization-error.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { isSafe } from './authorization-server.ts'
import { errorIn, numberIn, textIn, textsIn } from './fields.ts'
import type { OAuthClient } from './token-requests.ts'

/** A client that an authorization server has registered. */
export interface RegisteredClient extends OAuthClient {
  redirect_uris: string[]
  /** When its secret expires, in seconds since 1970. */
  client_secret_expires_at?: number
}

interface Metadata {
  client_name: string
  redirect_uris: string[]
  grant_types: string[]
  response_types: string[]
  token_endpoint_auth_method: string
  application_type: 'native' | 'web'
  scope?: string | undefined
}

/** What to change when a refusal names it, each at most once. `chosen` are redirect addresses that the entry names. */
const REMEDIES: { about: RegExp; change: (metadata: Metadata, chosen: boolean) => Metadata | undefined }[] = [
  {
    about: /redirect|localhost|127\.0\.0\.1|loopback/i,
    change: (metadata, chosen) => {
      const [address = ''] = metadata.redirect_uris
      const other = address.replace('//127.0.0.1:', '//localhost:')
      return chosen || other === address ? undefined : { ...metadata, redirect_uris: [other] }
    },
  },
  {
    about: /auth_method|auth method|'none'|"none"|\bnone\b|public client|secret|confidential/i,
    change: (metadata) =>
      metadata.token_endpoint_auth_method === 'none'
        ? { ...metadata, token_endpoint_auth_method: 'client_secret_post' }
        : undefined,
  },
  {
    about: /grant|refresh/i,
    change: (metadata) =>
      metadata.grant_types.length > 1 ? { ...metadata, grant_types: ['authorization_code'] } : undefined,
  },
  {
    about: /scope|offline_access/i,
    change: (metadata) => (metadata.scope === undefined ? undefined : { ...metadata, scope: undefined }),
  },
  {
    about: /application_type|application type/i,
    change: (metadata) => (metadata.application_type === 'web' ? undefined : { ...metadata, application_type: 'web' }),
  },
]

interface Registration {
  ask: Ask
  server: AuthorizationServer
  redirectUri: string
  /** The entry names the redirect address: no other may be registered. */
  isChosen: boolean
  scope: string | undefined
}

/** @throws AuthorizationError that says what was refused and what was asked */
export async function register({ ask, server, redirectUri, isChosen, scope }: Registration): Promise<RegisteredClient> {
  const { registrationEndpoint: endpoint, authMethods, grantTypes, guessed } = server
  if (endpoint === undefined)
    throw new AuthorizationError(`${server.issuer} does not offer Dynamic Client Registration`)
  if (!isSafe(endpoint)) throw new AuthorizationError(`its registration endpoint ${endpoint} does not use https`)
  const methods = ['none', 'client_secret_basic', 'client_secret_post']
  const method = methods.find((one) => authMethods?.includes(one) ?? true) ?? 'none'
  let metadata: Metadata = {
    client_name: 'Sandbridge',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', ...(grantTypes?.includes('refresh_token') === false ? [] : ['refresh_token'])],
    response_types: ['code'],
    token_endpoint_auth_method: method,
    // OpenID Connect Dynamic Client Registration 1.0, section 2: a native client may redirect only to its own machine.
    application_type: redirectUri.startsWith('http:') ? 'native' : 'web',
    scope,
  }
  const left = new Set(REMEDIES)
  for (;;) {
    const answer = await ask(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(metadata),
    })
    const { fields, status } = answer
    const id = fields && textIn(fields, 'client_id')
    if (fields && id !== undefined && status < 300) {
      const secret = textIn(fields, 'client_secret')
      const expires = numberIn(fields, 'client_secret_expires_at')
      return {
        client_id: id,
        ...(secret !== undefined && { client_secret: secret }),
        // 0 stands for never, RFC 7591 section 3.2.1.
        ...(expires !== undefined && expires > 0 && { client_secret_expires_at: expires }),
        token_endpoint_auth_method: textIn(fields, 'token_endpoint_auth_method') ?? metadata.token_endpoint_auth_method,
        redirect_uris: textsIn(fields, 'redirect_uris') ?? metadata.redirect_uris,
      }
    }
    if (guessed !== undefined && !(fields && errorIn(fields)?.code.startsWith('invalid_'))) {
      throw new AuthorizationError(`${guessed}; and ${endpoint} registers no client (HTTP ${status})`)
    }
    const refusal = refusalOf(answer, 'the registration')
    if (refusal.isOutage) throw refusal
    const changed = changedFor(refusal, metadata, isChosen, left)
    if (!changed) throw inFull(refusal, metadata)
    metadata = changed
  }
}

function changedFor(
  { message }: AuthorizationError,
  metadata: Metadata,
  isChosen: boolean,
  left: Set<(typeof REMEDIES)[number]>,
): Metadata | undefined {
  // Its first word is the host.
  const words = message.replace(/^\S+/, '')
  for (const remedy of left) {
    if (!remedy.about.test(words)) continue
    left.delete(remedy)
    const changed = remedy.change(metadata, isChosen)
    if (changed) return changed
  }
  return undefined
}

/** The refusal, with the fields that were sent: the authorization server often names none. */
function inFull(refusal: AuthorizationError, metadata: Metadata): AuthorizationError {
  const sent = Object.entries({ ...metadata, client_name: undefined, response_types: undefined })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${[value].flat().join(' ')}`)
  const isAboutRedirect = /redirect/i.test(refusal.message)
  const hint = 'Write the redirect address that it accepts as "redirectUri" into the `oauth` of the entry.'
  return new AuthorizationError(`${refusal.message} (sent: ${sent.join(', ')})`, {
    ...(refusal.said && { said: refusal.said }),
    ...(isAboutRedirect && { hint }),
  })
}

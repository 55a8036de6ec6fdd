// Finds the authorization server of an MCP server: what its entry names, the metadata of the protected resource
// (RFC 9728), or the server's own origin (MCP 2025-03-26); then that server's metadata (RFC 8414, OpenID Connect
// Discovery). A place without metadata is passed over, and every place that was tried is in the error.
import type { SignInClient } from '@sandbridge/core/config/entries'
import type { Ask } from './ask.ts'
import { AuthorizationError } from './authorization-error.ts'
import {
  assumedServer,
  type AuthorizationServer,
  lineFor,
  sameIssuer,
  serverIn,
  withHttps,
} from './authorization-server.ts'
import { type Fields, textIn, textsIn } from './fields.ts'
import type { TokenEndpoint } from './token-requests.ts'

/** Revisions up to this one have their clients send it with requests for metadata. */
const REVISION = '2025-11-25'

/** What the entry of a server says of its authorization server. */
type NamedServer = Omit<SignInClient, 'clientId' | 'clientSecret'>

export interface Discovered {
  server: AuthorizationServer
  /** The resource that tokens are requested for (RFC 8707), where the MCP server names it. */
  resource: string | undefined
  /** The scopes that the MCP server suggests. */
  scopes: string[] | undefined
}

/** What is kept of its token endpoint. */
export function endpointOf({ server, resource }: Discovered): TokenEndpoint {
  const { tokenEndpoint: url, authMethods, revocationEndpoint: revocationUrl } = server
  return {
    url,
    ...(authMethods && { authMethods }),
    ...(resource !== undefined && { resource }),
    ...(revocationUrl !== undefined && { revocationUrl }),
  }
}

const WELL_KNOWN = /\/\.well-known\/(?:oauth-authorization-server|openid-configuration)/
/** Each may have to be waited for. */
const MAX_LISTED = 5
const MAX_SCOPES_CHARS = 4_000

interface Wanted {
  serverUrl: string
  named: NamedServer
  /** Where a refusal said that the metadata of the resource is. */
  resourceMetadata?: URL | undefined
  ask: Ask
}

/** What became of the places that were tried. */
class Trail {
  readonly #tried: string[] = []
  /** A place failed, instead of having no metadata: nothing may be assumed. */
  isFaulty = false
  isOutage = false
  hint: string | undefined

  note(place: string, outcome: string, isAbsent = false): void {
    this.#tried.push(`${place}: ${outcome}`)
    if (!isAbsent) this.isFaulty = true
  }

  failed(place: string, error: unknown): void {
    if (!(error instanceof AuthorizationError)) throw error
    this.note(place, error.message.replace(/^\S+: /, ''))
    this.isOutage ||= error.isOutage
    this.hint ??= error.hint
  }

  error(what: string): AuthorizationError {
    const hint = this.hint ?? 'If you know its authorization server, name it as "issuer" in the `oauth` of the entry.'
    const text = `${what}. Tried: ${this.#tried.join('; ')}`
    return new AuthorizationError(text, { isOutage: this.isOutage && this.hint === undefined, hint })
  }
}

/** @throws AuthorizationError that names every place that was tried */
export async function discover(wanted: Wanted): Promise<Discovered> {
  const { named, serverUrl } = wanted
  const trail = new Trail()
  const resource = await protectedResource(wanted, trail)
  const found = (server: AuthorizationServer): Discovered => ({
    server,
    resource: named.resource ?? (resource && (textIn(resource, 'resource') ?? serverUrl.replace(/#.*$/, ''))),
    scopes: resource && scopesIn(resource),
  })
  if (named.authorizationUrl !== undefined && named.tokenUrl !== undefined) {
    const { authorizationUrl, tokenUrl, issuer = new URL(tokenUrl).origin } = named
    return found({ ...assumedServer(issuer), authorizationEndpoint: authorizationUrl, tokenEndpoint: tokenUrl })
  }
  const { authServerMetadataUrl } = named
  if (authServerMetadataUrl !== undefined) {
    // The user names the document, so whichever issuer it has is trusted, unless the entry names that, too.
    const server = await metadataAt(authServerMetadataUrl, named.issuer, named, wanted, trail)
    if (server) return found({ ...server, elsewhere: undefined })
    throw trail.error(`There is no metadata of an authorization server at ${authServerMetadataUrl}`)
  }
  const all = resource && textsIn(resource, 'authorization_servers')
  const listed = all
    // Some list the place of the metadata in place of the issuer.
    ?.map((address) => withHttps(address, serverUrl).replace(WELL_KNOWN, ''))
    .filter((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))
    .slice(0, MAX_LISTED)
  const own = new URL('/', serverUrl).href
  if (all && listed?.length === 0) trail.note(serverUrl, 'its metadata name no address of an authorization server')
  const candidates = listed?.length ? listed : [named.issuer ?? own]
  const { issuer } = named
  // What the entry names comes first; the others may turn out to be it under another address.
  candidates.sort((a, b) => Number(sameIssuer(b, issuer)) - Number(sameIssuer(a, issuer)))
  for (const address of candidates) {
    for (const place of placesOf(address)) {
      const server = await metadataAt(place, address, named, wanted, trail)
      if (server) return found(server)
    }
  }
  if (trail.isFaulty) throw trail.error('No usable metadata of an authorization server was found')
  // Before 2025-06-18, a server without metadata had its endpoints at these paths.
  return found(assumedServer(candidates[0]!, trail.error('The server publishes no metadata').message))
}

/** The metadata of the protected resource, from the first place that has some. @throws AuthorizationError */
async function protectedResource(
  { serverUrl, resourceMetadata, ask }: Wanted,
  trail: Trail,
): Promise<Fields | undefined> {
  const url = new URL(serverUrl)
  const wellKnown = '/.well-known/oauth-protected-resource'
  const path = url.pathname.replace(/\/$/, '')
  const places = [
    ...(resourceMetadata ? [withHttps(resourceMetadata.href, serverUrl)] : []),
    new URL(`${wellKnown}${path}${url.search}`, url.origin).href,
    new URL(wellKnown, url.origin).href,
  ]
  let withoutServers: Fields | undefined
  for (const place of new Set(places)) {
    const fields = await fieldsAt(place, ask, trail)
    if (!fields) continue
    if (
      ['resource', 'authorization_servers', 'scopes_supported'].every((name) => textsIn(fields, name) === undefined)
    ) {
      trail.note(place, 'it has no metadata of a protected resource', Object.keys(fields).length === 0)
      continue
    }
    const resource = textIn(fields, 'resource')
    if (resource !== undefined && !covers(withHttps(resource, serverUrl), url)) {
      trail.note(place, `it is about another resource, ${resource}`)
      if (lineFor('issuer', resource) !== undefined)
        trail.hint ??= `If ${resource} is the server that you mean, write it as the \`url\` of the entry.`
      continue
    }
    if (textsIn(fields, 'authorization_servers')) return fields
    withoutServers ??= fields
  }
  return withoutServers
}

/** None where there are more than an address can hold. */
function scopesIn(resource: Fields): string[] | undefined {
  const scopes = textsIn(resource, 'scopes_supported')
  return scopes && scopes.join(' ').length <= MAX_SCOPES_CHARS ? scopes : undefined
}

/** Whether a resource is this address or a place above it. A slash at its end is no difference. */
function covers(resource: string, { origin, pathname }: URL): boolean {
  if (!URL.canParse(resource)) return false
  const its = new URL(resource)
  const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`)
  return its.origin === origin && withSlash(pathname).startsWith(withSlash(its.pathname))
}

/**
 * RFC 8414 section 3.1, and OpenID Connect Discovery 1.0 section 4, in the order of MCP; then with the path in front,
 * and at last without it, as some MCP servers name themselves in place of their authorization server. Its issuer is
 * checked at all of them.
 */
function placesOf(address: string): string[] {
  const { origin, pathname } = new URL(address)
  const path = pathname.replace(/\/$/, '')
  const [oauth, openId] = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']
  const withPath = [`${origin}${oauth}${path}`, `${origin}${openId}${path}`, `${origin}${path}${openId}`]
  return [...new Set([...withPath, `${origin}${path}${oauth}`, `${origin}${oauth}`, `${origin}${openId}`])]
}

/** @param expected the issuer that the metadata must name; undefined accepts any */
async function metadataAt(
  place: string,
  expected: string | undefined,
  { issuer }: NamedServer,
  { ask }: Wanted,
  trail: Trail,
): Promise<AuthorizationServer | undefined> {
  const fields = await fieldsAt(place, ask, trail)
  if (!fields) return undefined
  try {
    return serverIn(fields, { place, expected, trusted: issuer })
  } catch (error) {
    trail.failed(place, error)
    return undefined
  }
}

async function fieldsAt(place: string, ask: Ask, trail: Trail): Promise<Fields | undefined> {
  try {
    const { status, fields } = await ask(place, { headers: { 'mcp-protocol-version': REVISION } })
    if (status >= 200 && status < 300 && fields) return fields
    if (status >= 200 && status < 300) trail.note(place, 'it has a page in place of metadata')
    else {
      trail.note(place, `HTTP ${status}`, status >= 400 && status < 500 && status !== 429)
      if (status >= 500 || status === 429) trail.isOutage = true
    }
  } catch (error) {
    trail.failed(place, error)
  }
  return undefined
}

// An MCP server that wants OAuth, and the authorization server it names, on one loopback port.
import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyOf, json, listen, passOn, rawRemote } from './remote-server.ts'

export interface Protected {
  url: string
  /** Access tokens that the MCP server accepts. */
  valid: Set<string>
  refreshTokens: Set<string>
  counts: { register: number; authorize: number; code: number; refresh: number; client: number }
  /** What the authorization server does differently. */
  twist: {
    state?: string
    error?: string
    iss?: string
    keepInvalid?: boolean
    page?: string
    authorizationServer?: string
  }
  /** That were asked for with client credentials. */
  scopes: (string | null)[]
}

/** A program that the authorization server knows. */
export const CLIENT = { clientId: 'a-program', clientSecret: 'secret-of-the-program' }

export async function protectedServer(): Promise<Protected> {
  const inner = await rawRemote()
  const valid = new Set<string>()
  const refreshTokens = new Set<string>()
  const codes = new Map<string, { challenge: string; redirectUri: string }>()
  const counts = { register: 0, authorize: 0, code: 0, refresh: 0, client: 0 }
  const twist: Protected['twist'] = {}
  const scopes: (string | null)[] = []
  let base = ''

  const issue = (response: ServerResponse): void => {
    const [access, refresh] = [randomUUID(), randomUUID()]
    if (!twist.keepInvalid) valid.add(access)
    refreshTokens.add(refresh)
    json(response, { access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: 3600 })
  }

  const routes: Record<string, (request: IncomingMessage, response: ServerResponse, url: URL, body: string) => void> = {
    '/.well-known/oauth-protected-resource/mcp': (_request, response) =>
      json(response, { resource: `${base}/mcp`, authorization_servers: [twist.authorizationServer ?? base] }),
    '/.well-known/oauth-authorization-server': (_request, response) =>
      json(response, {
        issuer: base,
        authorization_endpoint: twist.page ?? `${base}/authorize`,
        token_endpoint: `${base}/token`,
        registration_endpoint: `${base}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
        authorization_response_iss_parameter_supported: true,
      }),
    '/register': (_request, response, _url, body) => {
      counts.register += 1
      json(response, { ...JSON.parse(body), client_id: `client-${counts.register}` }, {}, 201)
    },
    '/authorize': (_request, response, url) => {
      counts.authorize += 1
      const query = url.searchParams
      const code = randomUUID()
      const redirectUri = query.get('redirect_uri')!
      codes.set(code, { challenge: query.get('code_challenge')!, redirectUri })
      const answer = new URLSearchParams({ state: twist.state ?? query.get('state')!, iss: twist.iss ?? base })
      if (twist.error) answer.set('error', twist.error)
      else answer.set('code', code)
      response.writeHead(302, { location: `${redirectUri}?${answer.toString()}` }).end()
    },
    '/token': (request, response, _url, body) => {
      const form = new URLSearchParams(body)
      if (form.get('grant_type') === 'client_credentials') {
        counts.client += 1
        const given = request.headers.authorization ?? ''
        if (given !== `Basic ${Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString('base64')}`) {
          return json(response, { error: 'invalid_client', error_description: `not ${given}` }, {}, 401)
        }
        scopes.push(form.get('scope'))
        const access = randomUUID()
        if (!twist.keepInvalid) valid.add(access)
        return json(response, { access_token: access, token_type: 'Bearer', expires_in: 3600 })
      }
      if (form.get('grant_type') === 'refresh_token') {
        counts.refresh += 1
        if (!refreshTokens.delete(form.get('refresh_token')!))
          return json(response, { error: 'invalid_grant' }, {}, 400)
        return issue(response)
      }
      counts.code += 1
      const grant = codes.get(form.get('code')!)
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      if (!grant || grant.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri')) {
        return json(response, { error: 'invalid_request' }, {}, 400)
      }
      issue(response)
    },
  }

  base = await listen(async (request, response) => {
    const url = new URL(request.url!, base)
    const body = await bodyOf(request)
    const route = routes[url.pathname]
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if (route) route(request, response, url, body)
    else if (url.pathname !== '/mcp') response.writeHead(404).end()
    else if (!valid.has(token)) {
      const challenge = `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`
      response.writeHead(401, { 'www-authenticate': challenge }).end()
    } else await passOn(request, response, inner.url, body)
  })
  return { url: `${base}/mcp`, valid, refreshTokens, counts, twist, scopes }
}

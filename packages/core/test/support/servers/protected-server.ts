// An MCP server that requires OAuth, and its authorization server, on one loopback port.
import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyOf, json, listen, passOn, rawRemote } from './remote-server.ts'
import { until } from '../../upstream/support.ts'

/** A request that the stand-in answers. */
export type Step = 'resource' | 'metadata' | 'openid' | 'register' | 'code' | 'refresh' | 'client' | 'revoke'

/** What a step answers: fields, a text as a page, a status, or a status with either. */
type Told = Record<string, unknown> | string | number | [status: number, Record<string, unknown> | string]

/** Tells a step how to answer. @param usual what it would answer @param asked the fields of the request */
export type Oddity = (usual: Record<string, unknown>, asked: Record<string, unknown>, base: string) => Told

export interface Protected {
  url: string
  /** Access tokens that the MCP server accepts. */
  valid: Set<string>
  refreshTokens: Set<string>
  counts: { register: number; authorize: number; code: number; refresh: number; client: number; refused: number }
  /** Deviations of the authorization server. */
  twist: {
    state?: string
    error?: string
    iss?: string
    keepInvalid?: boolean
    page?: string
    authorizationServer?: string
    /** Refuses registrations; only REGISTERED is known. */
    noRegistration?: boolean | 'not offered'
    /** What a call needs beside a valid token. */
    neededScope?: string
    /** The only scopes that users grant. */
    grantedScope?: string
    /** Do not return the scope of a token. */
    silentScope?: boolean
    /** How steps answer that do not answer as usual. */
    steps?: Partial<Record<Step, Oddity>>
    /** The status and the challenge of refusals for a missing token. */
    refusal?: [status: number, challenge: string]
    /** Requests without these methods need no token. */
    needsToken?: RegExp
    /** The resource that tokens are for, if it is not this server. */
    resource?: string
    /** Accept the URL of a document as a client id. */
    documents?: boolean
    /** Awaited before a request is refused for its token. */
    beforeRefusal?: (body: string) => Promise<void> | undefined
  }
  /** The headers of all requests. */
  headers: IncomingMessage['headers'][]
  /** The addresses and scopes with which users were sent to sign in. */
  asked: { clientId: string | null; redirectUri: string | null; scope: string | null }[]
  /** Scopes that were requested with client credentials. */
  scopes: (string | null)[]
  /** Tokens that were revoked. */
  revoked: (string | null)[]
}

/** A client that was registered manually. */
export const REGISTERED = { clientId: 'by-hand', clientSecret: 'secret&of the registered+client' }

/** A program that is registered with the authorization server. */
export const CLIENT = { clientId: 'a-program', clientSecret: 'secret-of-the-program' }

export async function protectedServer(): Promise<Protected> {
  const inner = await rawRemote()
  const valid = new Set<string>()
  const refreshTokens = new Set<string>()
  const codes = new Map<string, { challenge: string; redirectUri: string; scope: string }>()
  /** By token. */
  const granted = new Map<string, string>()
  const asked: Protected['asked'] = []
  const counts = { register: 0, authorize: 0, code: 0, refresh: 0, client: 0, refused: 0 }
  const twist: Protected['twist'] = {}
  const scopes: (string | null)[] = []
  const headers: Protected['headers'] = []
  const revoked: (string | null)[] = []
  let base = ''

  const reply = (
    step: Step,
    response: ServerResponse,
    usual: Record<string, unknown>,
    sent: Record<string, unknown> = {},
    status = 200,
  ): void => {
    const told = twist.steps?.[step]?.(usual, sent, base) ?? usual
    const [code, body] = Array.isArray(told) ? told : typeof told === 'number' ? [told, ''] : [status, told]
    if (typeof body !== 'string') return json(response, body, {}, code)
    response.writeHead(code, { 'content-type': 'text/html' }).end(body)
  }

  const issue = (step: Step, response: ServerResponse, scope: string, form: URLSearchParams): void => {
    const [access, refresh] = [randomUUID(), randomUUID()]
    if (!twist.keepInvalid) valid.add(access)
    refreshTokens.add(refresh)
    granted.set(access, scope).set(refresh, scope)
    const named = twist.silentScope || !scope ? {} : { scope }
    const usual = { access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: 3600, ...named }
    reply(step, response, usual, Object.fromEntries(form))
  }

  /** Whether a token request authenticates its client, RFC 6749 section 2.3.1. */
  const isKnown = (request: IncomingMessage, form: URLSearchParams): boolean => {
    if (!twist.noRegistration) return true
    const { clientId, clientSecret } = REGISTERED
    const encode = (text: string): string => new URLSearchParams({ a: text }).toString().slice(2)
    const basic = Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')
    const plain = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
    const given = request.headers.authorization ?? ''
    return (
      [`Basic ${basic}`, `Basic ${plain}`].includes(given) ||
      (form.get('client_id') === clientId && form.get('client_secret') === clientSecret)
    )
  }

  const metadata = (): Record<string, unknown> => ({
    issuer: base,
    authorization_endpoint: twist.page ?? `${base}/authorize`,
    token_endpoint: `${base}/token`,
    ...(twist.noRegistration === 'not offered' ? {} : { registration_endpoint: `${base}/register` }),
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    authorization_response_iss_parameter_supported: true,
    ...(twist.documents && { client_id_metadata_document_supported: true }),
  })

  const routes: Record<string, (request: IncomingMessage, response: ServerResponse, url: URL, body: string) => void> = {
    '/metadata': (_request, response) => json(response, { resource: twist.resource, authorization_servers: [base] }),
    '/.well-known/oauth-protected-resource/mcp': (_request, response) =>
      reply('resource', response, {
        resource: `${base}/mcp`,
        authorization_servers: [twist.authorizationServer ?? base],
      }),
    '/.well-known/openid-configuration': (_request, response) => {
      if (twist.steps?.openid) return reply('openid', response, metadata())
      response.writeHead(404).end()
    },
    '/revoke': (_request, response, _url, body) => {
      revoked.push(new URLSearchParams(body).get('token'))
      reply('revoke', response, {}, Object.fromEntries(new URLSearchParams(body)))
    },
    '/.well-known/oauth-authorization-server': (_request, response) => reply('metadata', response, metadata()),
    '/register': (_request, response, _url, body) => {
      if (twist.noRegistration) return json(response, { error: 'access_denied' }, {}, 403)
      counts.register += 1
      const sent = JSON.parse(body) as Record<string, unknown>
      reply('register', response, { ...sent, client_id: `client-${counts.register}` }, sent, 201)
    },
    '/authorize': (_request, response, url) => {
      counts.authorize += 1
      const query = url.searchParams
      const code = randomUUID()
      const redirectUri = query.get('redirect_uri')!
      codes.set(code, {
        challenge: query.get('code_challenge')!,
        redirectUri,
        scope: twist.grantedScope ?? query.get('scope') ?? '',
      })
      asked.push({ clientId: query.get('client_id'), redirectUri, scope: query.get('scope') })
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
        const usual = { access_token: access, token_type: 'Bearer', expires_in: 3600 }
        return reply('client', response, usual, Object.fromEntries(form))
      }
      if (!isKnown(request, form)) {
        const told = `not ${request.headers.authorization ?? ''} ${form.get('client_secret') ?? ''}`
        return json(response, { error: 'invalid_client', error_description: told }, {}, 401)
      }
      if (form.get('grant_type') === 'refresh_token') {
        counts.refresh += 1
        if (!refreshTokens.delete(form.get('refresh_token')!))
          return reply('refresh', response, { error: 'invalid_grant' }, Object.fromEntries(form), 400)
        return issue('refresh', response, granted.get(form.get('refresh_token')!) ?? '', form)
      }
      counts.code += 1
      const grant = codes.get(form.get('code')!)
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      if (!grant || grant.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri')) {
        return json(response, { error: 'invalid_request' }, {}, 400)
      }
      issue('code', response, grant.scope, form)
    },
  }

  base = await listen(async (request, response) => {
    headers.push(request.headers)
    const url = new URL(request.url!, base)
    const body = await bodyOf(request)
    const route = routes[url.pathname]
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if (route) route(request, response, url, body)
    else if (url.pathname !== '/mcp') response.writeHead(404).end()
    else if (!valid.has(token) && (twist.needsToken?.test(body) ?? true)) {
      await twist.beforeRefusal?.(body)
      const usual = `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`
      const [status, challenge] = twist.refusal ?? [401, usual]
      response.writeHead(status, { 'www-authenticate': challenge }).end()
    } else if (body.includes('"tools/call"') && !covers(granted.get(token), twist.neededScope)) {
      counts.refused += 1
      const challenge = `Bearer error="insufficient_scope", scope="${twist.neededScope}", resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`
      response.writeHead(403, { 'www-authenticate': challenge }).end()
    } else await passOn(request, response, inner.url, body)
  })
  return { url: `${base}/mcp`, valid, refreshTokens, counts, twist, scopes, asked, revoked, headers }
}

function covers(scope: string | undefined, needed: string | undefined): boolean {
  const has = new Set(scope?.split(' '))
  return (needed?.split(' ') ?? []).every((one) => has.has(one))
}

/**
 * The token expires, and eight calls are refused: one at once, the others when one of them has succeeded with a new
 * token.
 */
export async function refuseLate<T>(server: Protected, call: () => Promise<T>): Promise<T[]> {
  let refusedCount = 0
  let goOn = (): void => {}
  const late = new Promise<void>((resolve) => (goOn = resolve))
  server.twist.beforeRefusal = (body) => {
    if (!body.includes('"tools/call"')) return undefined
    refusedCount += 1
    return refusedCount === 1 ? until(() => refusedCount === 8) : late
  }
  server.valid.clear()
  const calls = Array.from({ length: 8 }, call)
  await Promise.any(calls)
  goOn()
  return Promise.all(calls)
}

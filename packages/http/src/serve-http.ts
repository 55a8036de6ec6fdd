// Serves many clients of both protocol eras at /mcp from one bridge: routes requests and sets the limits.
// The guard decides who is let in. LegacyConversations and SessionHandles find the session of a request.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { beginSignIn } from '@sandbridge/core/bridge'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import type { Log } from '@sandbridge/core/util'
import { FairTurns } from '@sandbridge/shared/fair-turns.ts'
import { shortName } from '@sandbridge/core/util/text'
import { Deliveries, ofResponse, type ServerParts } from '@sandbridge/core/serve/mcp'
import { ClientGroup } from './client-groups.ts'
import { createFindClient } from './access/find-client.ts'
import { createGuard } from './access/guard.ts'
import { createHealth, HEALTH_PATHS } from './health.ts'
import type { Address } from './sockets/address.ts'
import { openListener } from './sockets/listener.ts'
import type { TlsFiles } from './sockets/tls-files.ts'
import { fieldsOf } from '@sandbridge/core/util/json/json.ts'
import { Shares } from './requests/shares.ts'
import { NamedTokens } from './access/named-tokens.ts'
import { AccessTokens } from './oauth/access-tokens.ts'
import { bearerChallenge, type BearerRefusal } from './oauth/bearer-refusal.ts'
import { answerOAuthPath, isOAuthPath } from './oauth/oauth-paths.ts'
import { ProtectedResource } from './oauth/protected-resource.ts'
import { refuse } from './refuse.ts'
import { BodyError, ENCODINGS, readJsonBody } from './requests/request-body.ts'
import { HandleSeal } from './sessions/sealed-handle.ts'
import type { SignInPages } from './sign-in-pages.ts'
import { SessionRegistry } from './sessions/session-registry.ts'
import { TrustedProxies } from './sockets/trusted-proxies.ts'
import { type HttpSettings, httpSettings, publicUrlOf } from './settings.ts'

const PATH = '/mcp'
/** How often a draining bridge checks whether its cells have ended. */
const DRAIN_POLL_MS = 50
const METHODS = ['GET', 'POST', 'DELETE']

/** A request as a Node server receives it. */
type ServerRequest = IncomingMessage & { method: string; url: string }

/** Limits on what clients can use up. */
export const HTTP_LIMITS = {
  bodyBytes: 4 * 1024 * 1024,
  /** Open requests, including streams, and connections: `Shares` divides both between users. */
  openRequests: 256,
  connections: 512,
  /** Connections that have not sent the token yet, and how long each may take. */
  strangers: 64,
  strangerMs: 10_000,
  /**
   * This many may connect at the same moment: each has this long to send the token before it counts as one of
   * `strangers`.
   */
  newcomers: 512,
  newcomerMs: 2_000,
  /** For the complete request to arrive. */
  requestMs: 30_000,
  /** For a client to read some of its response, or an idle stream's keep-alive, sent every 15 s. */
  stallMs: 60_000,
  /** How long the session of a legacy client lasts after it closed its stream. */
  vanishedMs: { withVariables: 120_000, without: 30_000 },
  /** How long the cell of a legacy client goes on after its last connection closed. */
  lostMs: 30_000,
}

/**
 * Per session: its stream, a cell and one more request, each on a connection that the client may not share. Twice as
 * many, because one user, who may have all sessions, gets half of them.
 */
const OF_A_SESSION = { openRequests: 6, connections: 8, newcomers: 1 }

/** Raises the limits to fit this many sessions. */
function httpLimits(sessionCount: number): typeof HTTP_LIMITS {
  const { openRequests, connections, newcomers } = HTTP_LIMITS
  return {
    ...HTTP_LIMITS,
    openRequests: Math.max(openRequests, OF_A_SESSION.openRequests * sessionCount),
    connections: Math.max(connections, OF_A_SESSION.connections * sessionCount),
    newcomers: Math.max(newcomers, OF_A_SESSION.newcomers * sessionCount),
  }
}

export interface HttpService {
  url: string
  /** Accepts no new session, and waits until no cell runs and no call is being answered, at most `maxMs`. */
  drain(maxMs: number): Promise<void>
  /**
   * Stops listening and aborts open requests.
   * @param settle ends what open requests wait for, so that they are answered before their connections end
   */
  close(settle?: () => Promise<void>): Promise<void>
}

export interface HttpOptions extends Address {
  /** The bridge's own token. */
  token: string
  tls?: TlsFiles | undefined
  trustedProxies?: readonly string[]
  offers?: ServerParts['offers']
  /** Missing when users sign in to servers on this machine only. */
  signInPages?: SignInPages | undefined
}

/** @throws BridgeError CONFIG_INVALID when the address cannot be listened on or an option is invalid */
export async function serveHttp(
  bridge: Bridge,
  { host, port, token, tls, trustedProxies = [], signInPages, offers = [] }: HttpOptions,
  limits = httpLimits(httpSettings(bridge.settings).httpSessionCount),
): Promise<HttpService> {
  const { log } = bridge
  const settings = httpSettings(bridge.settings)
  const registry = new SessionRegistry({
    open: (kept, user) => bridge.sessions.open(bridge.tenants.of(user), kept),
    keeps: (kept) => bridge.sessions.keeps(kept),
    close: (session) =>
      bridge.sessions.close(session).catch((error: unknown) => log.warning('Closing a session failed', { error })),
    max: settings.httpSessionCount,
    maxOfUser: settings.userSandboxCount,
  })
  const { handleKey } = settings
  const { session, runtime, kubernetesNamespace = '' } = bridge.settings
  const areShared = session === 'durable' && runtime === 'kubernetes'
  const seal = areShared && handleKey !== undefined ? new HandleSeal(handleKey, kubernetesNamespace) : undefined
  /** One for each named token's user, and one for the bridge's own token. */
  const groups = new Map<string | undefined, ClientGroup>()
  const resource = () => publicUrlOf(settings) ?? listener.origin + PATH
  const { accessTokens, protectedResource } = createOAuth(settings, resource, log)
  const findClient = createFindClient({ token, named: new NamedTokens(bridge.stores.of(undefined)), accessTokens, log })
  const challenge = (refusal?: BearerRefusal) => protectedResource?.challenge(refusal) ?? bearerChallenge({}, refusal)
  const proxies = new TrustedProxies(trustedProxies)
  const guard = createGuard({ host, publicNames: settings.publicNames, proxies, findClient, challenge, log })
  const answerHealth = createHealth({ findProvider: () => bridge.findProvider(), isDraining: () => isDraining })
  const openAnswers = new Set<ServerResponse>()
  const requests = new Shares(limits.openRequests)
  const turns = new FairTurns()
  let isClosing = false
  let isDraining = false

  async function answer(request: ServerRequest, response: ServerResponse): Promise<void> {
    // A proxy writes the whole address (RFC 9112, section 3.2.2), and many clients one slash too many.
    request.url = request.url.replace(/^https?:\/\/[^/?]*/i, '')
    const path = request.url.replace(/\?.*/s, '').replace(/\/+/g, '/').replace(/\/$/, '')
    if (HEALTH_PATHS.includes(path)) {
      if (guard.isAddressed(request, response)) answerHealth(request, response, path)
      return
    }
    if (protectedResource?.isMetadata(path, PATH)) {
      if (guard.isAddressed(request, response)) protectedResource.answer(request, response)
      return
    }
    if (path.startsWith(`${PATH}/sign-in`) && signInPages) {
      if (guard.isAddressed(request, response))
        await signInPages.answer(request, response, path.slice(PATH.length), beginSignInOf)
      return
    }
    if (path !== PATH && isOAuthPath(path)) {
      if (guard.isAddressed(request, response)) answerOAuthPath(response, settings.oauthIssuers)
      return
    }
    if (path !== PATH)
      return refuse(response, 404, `Nothing is at ${shortName(path) || '/'}: the path is ${PATH}, also behind a proxy`)
    const client = await guard.letIn(request, response)
    if (!client) return
    const { user } = client
    const group = groups.get(user) ?? new ClientGroup({ bridge, registry, user, seal, limits, offers })
    groups.set(user, group)
    if (!listener.admit(request.socket, group))
      return refuse(response, 503, 'Too many connections are open', { close: true })
    if (!METHODS.includes(request.method)) {
      response.setHeader('allow', METHODS.join(', '))
      return refuse(response, 405, 'Method not allowed')
    }
    if (isClosing) return refuse(response, 503, 'The bridge is shutting down', { close: true })
    if (!requests.take(group)) return refuse(response, 503, 'Too many requests are open')
    openAnswers.add(response)
    response.once('close', () => {
      openAnswers.delete(response)
      requests.giveBack(group)
    })
    const body = request.method === 'POST' ? await readJsonBody(request, limits.bodyBytes) : undefined
    // A new session costs most.
    const isNew = fieldsOf(body)['method'] === 'initialize'
    const turn = turns.take(request.headers['mcp-session-id'] ?? (isNew ? group : request.socket))
    if (turn) await turn
    const deliveries = new Deliveries()
    response.once('close', () => deliveries.ended(response.writableFinished))
    await ofResponse.run(deliveries, () => group.answer(request, response, body))
  }

  /** Starts a sign-in for the user of the token. */
  async function beginSignInOf(given: string, server: string): Promise<URL | undefined> {
    const client = await findClient(given)
    return client && beginSignIn((await bridge.tenants.of(client.user).now(true)).connected, server)
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request as ServerRequest, response).catch((error: unknown) => {
      if (!(error instanceof BodyError)) log.error('Answering a request failed', { error })
      if (response.headersSent) response.destroy()
      else if (error instanceof BodyError) {
        const { status, message, code, id } = error
        if (status === 415) response.setHeader('accept-encoding', ENCODINGS)
        refuse(response, status, message, { code, id })
      } else refuse(response, 500, 'Internal error', { code: -32_603 })
    })
  }
  const listener = await openListener({ host, port, tls, proxies, limits, log, onRequest })
  accessTokens?.lookUpKeys()
  return {
    url: listener.origin + PATH,
    drain: async (maxMs) => {
      isDraining = true
      registry.stop()
      const until = performance.now() + maxMs
      const isBusy = () => bridge.cells.count > 0 || [...openAnswers].some(({ req }) => req.method === 'POST')
      while (isBusy() && performance.now() < until) await sleep(DRAIN_POLL_MS)
    },
    close: async (settle) => {
      isClosing = true
      isDraining = true
      listener.stop()
      if (settle) {
        await settle()
        // GET streams do not end by themselves.
        const answers = [...openAnswers].filter(({ req }) => req.method === 'POST')
        await Promise.all(answers.map((response) => once(response, 'close')))
      }
      await Promise.all([...groups.values()].map((group) => group.close()))
      listener.close()
    },
  }
}

/** Creates the access token check and the resource metadata; empty when no authorization server is configured. */
function createOAuth(
  { oauthIssuers: issuers, oauthAudience, oauthScopes: scopes }: HttpSettings,
  resource: () => string,
  log: Log,
): { accessTokens?: AccessTokens; protectedResource?: ProtectedResource } {
  if (issuers.length === 0) return {}
  return {
    accessTokens: new AccessTokens({ issuers, audience: () => oauthAudience ?? resource(), scopes, log }),
    protectedResource: new ProtectedResource({ resource, issuers, scopes }),
  }
}

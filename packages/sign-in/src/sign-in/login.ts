// Logs in to a remote server that requires OAuth: finds its authorization server, opens the user's browser, waits for
// the response on a loopback port, and stores the tokens for all bridges of this user. The only part of src/upstream
// that needs a user.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { createRedactor } from '@sandbridge/core/config/secrets'
import { latestGrant, type SignInEntry } from '@sandbridge/core/upstream/auth'
import { grantOf } from '../tokens/grants.ts'
import type { Callback, LoginOptions, LoginOutcome } from '@sandbridge/core/parts'
import { createHttpFetch } from '@sandbridge/remote/http-fetch.ts'
import { remoteReason } from '@sandbridge/remote/remote-failure.ts'
import { isLoopbackUrl } from '@sandbridge/core/util/net'
import { asker } from '../oauth/ask.ts'
import { AuthorizationError, authorizationFailure } from '../oauth/authorization-error.ts'
import { openCallback, PortTakenError } from './callback.ts'
import { discover, type Discovered } from '../oauth/discovery.ts'
import { probe } from './probe.ts'
import { scopeUnion } from '../oauth/scopes.ts'
import { SignInPage } from './sign-in-page.ts'
import { keepTokens } from '../tokens/stored-auth.ts'

/** See `OAuthPart`. */
export async function login(options: LoginOptions): Promise<LoginOutcome> {
  const { server, store, name, signal, limitMs } = options
  const http = createHttpFetch({ allowLinkLocal: options.allowLinkLocal ?? false, env: options.env })
  const redact = createRedactor(server, options.env, store.secrets)
  const callback = await listen(options)
  const ask = asker({ fetch: http.fetch, server, signal, limitMs })
  try {
    const entry: SignInEntry = { name, url: server.url }
    const grants = await store.read(entry)
    const wanted = scopeUnion(options.scope, grants.missingScope)
    const isCertain =
      options.isFresh === true || wanted !== '' || grants.refused || latestGrant(grants)?.ended !== undefined
    const found = await probe({ options, fetch: http.fetch, redact, isCertain: Boolean(isCertain) })
    if (found.outcome === 'served' && found.hasToken) return { wasNeeded: false, wasSignedIn: true }
    const named = grants.refused?.resourceMetadata
    const resourceMetadata = found.challenge?.resourceMetadata ?? (named === undefined ? undefined : new URL(named))
    const discovered = await discover({ serverUrl: server.url, named: server.signIn ?? {}, resourceMetadata, ask })
    // Without metadata of an authorization server, the server knows of no sign-in.
    if (found.outcome === 'served' && discovered.server.guessed !== undefined) return { wasNeeded: false }
    const page = new SignInPage({ options, callback, ask, discovered, entry })
    const granted = latestGrant(grants)?.tokens?.scope
    const scope = scopeFor(options, discovered, found.challenge?.scope, wanted && scopeUnion(granted, wanted))
    const { tokens, client, endpoint } = await page.signIn(scope)
    await store.update(entry, (kept) => {
      const { issuer } = discovered.server
      const grant = grantOf(kept, issuer)
      delete grant.tokens
      delete grant.account
      // A missing scope means the requested one, RFC 6749 section 5.1.
      keepTokens(grant, { ...(scope !== undefined && { scope }), ...tokens }, endpoint)
      if (client) Object.assign(grant, { client, port: callback.port })
      grant.port ??= callback.port
      grant.signedInAt = Date.now()
      kept.latest = issuer
      delete kept.refused
      // The scope was requested. If it was not granted, the server will refuse again.
      if (wanted !== '') delete kept.missingScope
    })
    return { wasNeeded: true }
  } catch (error) {
    if (signal.aborted) throw stopped(name, signal)
    if (BridgeError.isInstance(error)) throw error
    const reason = error instanceof AuthorizationError ? undefined : remoteReason(error)
    // Either text may come from a server, and some servers quote the request.
    if (reason !== undefined)
      throw new BridgeError('UPSTREAM_UNREACHABLE', `Server '${name}' could not be reached: ${redact(reason)}`)
    throw authorizationFailure(name, error, redact, hintFor(name, error, callback))
  } finally {
    callback.close()
    http.close()
  }
}

function stopped(name: string, { reason }: AbortSignal): BridgeError {
  if (!(reason instanceof DOMException) || reason.name !== 'TimeoutError')
    return new BridgeError('CANCELLED', `The login at server '${name}' was cancelled`)
  return new BridgeError('UPSTREAM_AUTH_REQUIRED', `The login at server '${name}' was not completed in time`, {
    hint: `Run \`sandbridge login ${name}\` again. It registers anew, in case the authorization server has forgotten the client.`,
  })
}

/** The scope to request; undefined where none is known. */
function scopeFor(
  { server }: LoginOptions,
  { server: { scopes, grantTypes }, scopes: suggested }: Discovered,
  asked: string | undefined,
  wider: string,
): string | undefined {
  const wanted = scopeUnion(server.signIn?.scope, wider) || asked || suggested?.join(' ')
  if (wanted === undefined) return undefined
  // Without it, refreshing may be impossible.
  const isOffline = scopes?.includes('offline_access') && grantTypes?.includes('refresh_token') !== false
  return scopeUnion(wanted, isOffline ? 'offline_access' : undefined)
}

function hintFor(name: string, error: unknown, { url, port }: Callback): string {
  const text = error instanceof Error ? error.message : ''
  if (/dynamic client registration|refused the registration/i.test(text)) {
    const isLocal = new URL(url).hostname === '127.0.0.1'
    const entry = isLocal ? `{"clientId": …, "callbackPort": ${port}}` : '{"clientId": …}'
    return `Register a client with the operator of the server, with the redirect address ${url}, and write ${entry} as \`oauth\` into the entry of '${name}'.`
  }
  return `Run \`sandbridge login ${name}\` again. If it fails in the same way, contact the operator of the server.`
}

/**
 * @throws BridgeError UPSTREAM_AUTH_REQUIRED when the port that the client is registered with is in use, CONFIG_INVALID
 * for a redirect address elsewhere
 */
async function listen({ name, server, store, openCallback: open = openCallback }: LoginOptions): Promise<Callback> {
  const grant = latestGrant(await store.read({ name, url: server.url }))
  const { redirectUri } = server.signIn ?? {}
  if (open === openCallback && redirectUri !== undefined && !isLoopbackUrl(redirectUri)) {
    const text = `The redirectUri in the \`oauth\` of '${name}' is not an http address of this machine`
    throw new BridgeError('CONFIG_INVALID', text, { hint: 'Write http://localhost/callback, or remove it.' })
  }
  try {
    // Use the registered port, so that the registration can be reused.
    return await open(redirectUri, grant?.port ?? 0)
  } catch (error) {
    if (!(error instanceof PortTakenError)) throw error
    throw new BridgeError('UPSTREAM_AUTH_REQUIRED', `The login at server '${name}' cannot start: ${error.message}`, {
      hint: 'Another `sandbridge login` may be using the callback port. Stop it, then retry.',
    })
  }
}

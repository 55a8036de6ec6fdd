import { request as sendRequest, type ServerResponse } from 'node:http'
import { lstat, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createLog } from '../../../core/src/util/log.ts'
import { openCallback as openCallbackAt } from '../../src/sign-in/callback.ts'
import type { SignInEntry } from '@sandbridge/core/upstream/auth'
import { createTokenStore } from '../../src/tokens/token-store.ts'
import { protectedServer, refuseLate, type Protected } from '@sandbridge/core/test/support/servers/protected-server.ts'
import { bodyOf, listen, passOn, remote } from '@sandbridge/core/test/support/servers/remote-server.ts'
import { open, textOf } from '@sandbridge/core/test/upstream/support.ts'
import { tokenFile, browse, logIn, bridge, echo } from './oauth-login.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { expectMode } from '@sandbridge/core/test/support/machine/modes.ts'

it('a server that wants OAuth without a login says what to run, and registers nothing', async () => {
  const server = await protectedServer()
  const failure = await echo(bridge(server, await tokenFile())).catch((reason: unknown) => reason)
  expect(failure).toMatchObject({
    code: 'UPSTREAM_AUTH_REQUIRED',
    hint: expect.stringContaining('sandbridge login r'),
  })
  expect(server.counts).toEqual({ register: 0, authorize: 0, code: 0, refresh: 0, client: 0, refused: 0 })
})

it('a server that wants OAuth works after a login, in this bridge and the next, and only the owner can read its tokens', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  expect(await logIn(server, file)).toEqual({ wasNeeded: true })
  for (let i = 0; i < 2; i += 1) expect(textOf(await echo(bridge(server, file)))).toBe('hi')
  expectMode(file, 0o600)
  expect(await logIn(server, file)).toEqual({ wasNeeded: false, wasSignedIn: true })
  expect(server.counts).toEqual({ register: 1, authorize: 1, code: 1, refresh: 0, client: 0, refused: 0 })
})

it('a server that wants OAuth gets a fresh token when the old one has expired, once for all who need it', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  const bridges = [bridge(server, file), bridge(server, file)]
  await Promise.all(bridges.map(echo))
  server.valid.clear()
  const results = await Promise.all(bridges.flatMap((upstreams) => Array.from({ length: 10 }, () => echo(upstreams))))
  expect(results.map(textOf)).toEqual(Array.from({ length: 20 }, () => 'hi'))
  expect(server.counts).toMatchObject({ authorize: 1, refresh: 1 })
})

it('a server that wants OAuth stays signed in over many lifetimes of its token', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  const upstreams = bridge(server, file)
  for (let i = 0; i < 8; i += 1) {
    expect(textOf(await echo(upstreams))).toBe('hi')
    server.valid.clear()
  }
  expect(server.counts).toMatchObject({ authorize: 1, refresh: 7 })
})

it('a server that wants OAuth keeps its fresh token when it refuses the old one late', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  const upstreams = bridge(server, file)
  await echo(upstreams)
  const results = await refuseLate(server, () => echo(upstreams))
  expect(results.map(textOf)).toEqual(Array.from({ length: 8 }, () => 'hi'))
  expect(server.counts).toMatchObject({ authorize: 1, refresh: 1 })
})

it('a server that wants OAuth wants a login again when the refresh is refused, and uses one made meanwhile', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  const upstreams = bridge(server, file)
  await echo(upstreams)
  server.valid.clear()
  server.refreshTokens.clear()
  for (let i = 0; i < 3; i += 1) await expect(echo(upstreams)).rejects.toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
  expect(server.counts).toEqual({ register: 1, authorize: 1, code: 1, refresh: 1, client: 0, refused: 0 })
  await logIn(server, file)
  expect(textOf(await echo(upstreams))).toBe('hi')
})

it('a server that wants OAuth is not reported as wanting a login while its authorization server fails', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  const upstreams = bridge(server, file)
  await echo(upstreams)
  server.valid.clear()
  // It fails before it takes the token.
  server.twist.steps = { refresh: (_, { refresh_token: kept }) => (server.refreshTokens.add(String(kept)), 503) }
  // In a call, and in the start of another bridge.
  for (const one of [upstreams, bridge(server, file)]) {
    await expect(echo(one)).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      message: expect.stringMatching(/at its authorization server: .* with HTTP 503/),
    })
  }
  delete server.twist.steps
  expect(textOf(await echo(upstreams))).toBe('hi')
})

it('a server that wants OAuth and honours no token is not refreshed for ever', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  const upstreams = bridge(server, file)
  await echo(upstreams)
  server.valid.clear()
  server.twist.keepInvalid = true
  for (let i = 0; i < 10; i += 1)
    await expect(echo(upstreams)).rejects.toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
  expect(server.counts.refresh).toBeLessThanOrEqual(3)
})

it('a login accepts the address that a browser elsewhere was sent to', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  let paste: (address: string) => void
  const pasted = new Promise<string>((resolve) => (paste = resolve))
  await logIn(server, file, {
    showPage: async (page) => paste((await fetch(page, { redirect: 'manual' })).headers.get('location')!),
    pasted: () => pasted,
  })
  expect(textOf(await echo(bridge(server, file)))).toBe('hi')
})

it.each<[string, Protected['twist'], string]>([
  ['from another issuer', { iss: 'https://evil.example' }, 'failed'],
  ['that the user refused', { error: 'access_denied' }, 'failed'],
])('a login refuses an answer %s', async (_what, twist, text) => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  Object.assign(server.twist, twist)
  await expect(logIn(server, file)).rejects.toMatchObject({
    code: 'UPSTREAM_AUTH_REQUIRED',
    message: expect.stringContaining(text),
  })
  expect(server.counts.code).toBe(0)
})

it('a login continues to wait when it gets something else than the answer, and then accepts the answer', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  const statuses: number[] = []
  await logIn(server, file, {
    showPage: async (page) => {
      const back = page.searchParams.get('redirect_uri')!
      for (const query of ['', '?code=forged&state=forged', '?error=access_denied&state=forged']) {
        statuses.push((await fetch(`${back}${query}`)).status)
      }
      await browse(page)
    },
  })
  expect(statuses).toEqual([400, 400, 400])
  expect(server.counts.code).toBe(1)
  expect(textOf(await echo(bridge(server, file)))).toBe('hi')
})

it('a login refuses an answer with another state, even if it is the only one', async () => {
  const [server, file, abort] = [await protectedServer(), await tokenFile(), new AbortController()]
  server.twist.state = 'forged'
  const outcome = logIn(server, file, {
    signal: abort.signal,
    showPage: (page) => browse(page).then(() => abort.abort()),
  })
  await expect(outcome).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(server.counts).toMatchObject({ authorize: 1, code: 0 })
})

it('a login that was refused is reported on the page in the browser', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  server.twist.error = 'access_denied'
  let page = ''
  const showPage = async (url: URL): Promise<void> => void (page = await (await fetch(url)).text())
  await expect(logIn(server, file, { showPage })).rejects.toMatchObject({
    hint: expect.stringContaining('sandbridge login r'),
  })
  expect(page).toContain('refused')
})

it('a login that got the address of another login asks again', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  const problems: (string | undefined)[] = []
  let address = ''
  await logIn(server, file, {
    showPage: async (page) => void (address = (await fetch(page, { redirect: 'manual' })).headers.get('location')!),
    pasted: (_signal, problem) => {
      problems.push(problem)
      return Promise.resolve(problem === undefined ? 'http://127.0.0.1/callback?code=x&state=forged' : address)
    },
  })
  expect(problems).toEqual([undefined, expect.stringContaining('belongs to another login')])
})

it('a login ends at an error that the authorization server returns without the state, and shows it on the page', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  let text = ''
  const showPage = async (page: URL): Promise<void> => {
    const back = page.searchParams.get('redirect_uri')!
    text = await (await fetch(`${back}?error=unauthorized_client&error_description=No%20such%20client`)).text()
  }
  await expect(logIn(server, file, { showPage })).rejects.toThrow(/unauthorized_client: No such client/)
  expect(text).toContain('unauthorized_client: No such client')
  expect(server.counts.code).toBe(0)
})

it.each([
  ['an image', { 'sec-fetch-dest': 'image' }, 404],
  ['a frame', { 'sec-fetch-dest': 'iframe' }, 404],
  ['a page of another name', { host: 'evil.example' }, 404],
  ['a page', { 'sec-fetch-dest': 'document' }, 200],
  ['no browser', {}, 200],
])('a login ends at an error without the state only where it is shown as a page: %s', async (_, headers, status) => {
  const callback = await openCallbackAt(undefined, 0)
  onTestFinished(() => callback.close())
  const ended = vi.fn<() => void>()
  void callback.answer('state', 'r').then(ended)
  const statuses = await new Promise((resolve) =>
    sendRequest(`${callback.url}?error=x`, { headers }, (r) => resolve(r.statusCode)).end(),
  )
  expect([statuses, ended.mock.calls.length]).toEqual([status, status === 200 ? 1 : 0])
})

it.each([
  ['without the state', '', true],
  ['with the state', 'state', false],
])('an error %s makes the login forget the client of an earlier one: only with the state', async (_, name, isKept) => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  const showPage = async (page: URL): Promise<void> => {
    const [back, state, iss] = [page.searchParams.get('redirect_uri')!, page.searchParams.get('state')!, page.origin]
    await fetch(`${back}?${new URLSearchParams({ error: 'invalid_client', ...(name && { state, iss }) }).toString()}`)
  }
  await expect(logIn(server, file, { showPage, scope: 'more' })).rejects.toThrow('invalid_client')
  const kept = await createTokenStore(fileStore(dirname(file))).read({ name: 'r', url: server.url })
  expect(Object.values(kept.byIssuer).map(({ client }) => client !== undefined)).toEqual([isKept])
})

it.each(['file:///usr/bin/program', 'smb://evil.example/share', 'http://evil.example/login'])(
  'a login does not send the browser to %s',
  async (page) => {
    const [server, file] = [await protectedServer(), await tokenFile()]
    server.twist.page = page
    const shown: string[] = []
    const outcome = logIn(server, file, { showPage: (url) => void shown.push(url.href) })
    await expect(outcome).rejects.toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
    expect(shown).toEqual([])
  },
)

it('a login sends the browser to a page over https, with all its parameters', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  server.twist.page = 'https://login.example/authorize'
  const [shown, abort] = [[] as URL[], new AbortController()]
  const showPage = (url: URL): void => {
    shown.push(url)
    abort.abort()
  }
  const outcome = logIn(server, file, { showPage, signal: abort.signal, scope: 'read write' })
  await expect(outcome).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(shown[0]!.href).toMatch(/^https:\/\/login\.example\/authorize\?/)
  expect(Object.fromEntries(shown[0]!.searchParams)).toMatchObject({
    scope: 'read write',
    code_challenge_method: 'S256',
    resource: server.url,
    redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
  })
})

it('a login can be cancelled while the user thinks', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  const abort = new AbortController()
  const outcome = logIn(server, file, { showPage: () => abort.abort(), signal: abort.signal })
  await expect(outcome).rejects.toMatchObject({ code: 'CANCELLED' })
})

it('of two first logins at once both work, and the newer client is kept with its own tokens', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  let second: Promise<unknown> | undefined
  const first = logIn(server, file, {
    showPage: async (page) => {
      // The other one is complete before this one has its answer.
      second = logIn(server, file)
      await second
      await browse(page)
    },
  })
  expect(await first).toEqual({ wasNeeded: true })
  expect(await second).toEqual({ wasNeeded: true })
  server.valid.clear()
  expect(textOf(await echo(bridge(server, file)))).toBe('hi')
  expect(server.counts).toMatchObject({ register: 2, refresh: 1 })
})

it('a login that is given up leaves the sign-in as it was', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  const kept = async () =>
    (await createTokenStore(fileStore(dirname(file))).read({ name: 'r', url: server.url })).byIssuer
  const before = Object.values(await kept())[0]
  const openCallback = () => openCallbackAt(undefined, 0)
  const abort = new AbortController()
  const showPage = () => abort.abort()
  const more = logIn(server, file, { scope: 'more', openCallback, showPage, signal: abort.signal })
  await expect(more).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(Object.values(await kept())[0]).toMatchObject({ tokens: before!.tokens, client: before!.client })
})

it('a login at another redirect address registers another client', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  server.valid.clear()
  server.refreshTokens.clear()
  // As after a change of the bridge's public address, which mostly has the same port.
  const openCallback = async (_: string | undefined, port: number) => {
    const callback = await openCallbackAt(undefined, port)
    return { ...callback, url: callback.url.replace('/callback', '/moved') }
  }
  const clients: (string | null)[] = []
  const abort = new AbortController()
  const showPage = (page: URL) => {
    clients.push(page.searchParams.get('client_id'))
    abort.abort()
  }
  await expect(logIn(server, file, { openCallback, showPage, signal: abort.signal })).rejects.toThrow(/cancelled/)
  expect(clients).toEqual(['client-2'])
})

it('a login whose page was not answered registers another client the next time, where no token can be refreshed', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  server.twist.steps = { code: (usual) => ({ ...usual, refresh_token: undefined }) }
  await logIn(server, file)
  server.valid.clear()
  const abort = new AbortController()
  const clients: (string | null)[] = []
  const showPage = (page: URL) => {
    clients.push(page.searchParams.get('client_id'))
    abort.abort()
  }
  await expect(logIn(server, file, { showPage, signal: abort.signal })).rejects.toMatchObject({ code: 'CANCELLED' })
  await logIn(server, file)
  expect([...clients, ...server.asked.map(({ clientId }) => clientId)]).toEqual(['client-1', 'client-1', 'client-2'])
})

it.each(['a\nb', 'tökén'])('a login refuses a token that no request can carry: %j', async (access) => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  server.twist.steps = { code: (usual) => ({ ...usual, access_token: access }) }
  await expect(logIn(server, file)).rejects.toThrow(/sent an access token that no request can carry/)
})

it.each([
  ['metadata', { token_endpoint: undefined }, /metadata has no token_endpoint/],
  ['metadata', { authorization_endpoint: 5 }, /has no authorization_endpoint/],
  ['code', { access_token: undefined }, /answered the token request with fields that are not understood/],
] as const)('a login says what is wrong at its authorization server: %s with %j', async (where, change, words) => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  server.twist.steps = { [where]: (usual: object) => ({ ...usual, ...change }) }
  await expect(logIn(server, file)).rejects.toMatchObject({
    code: 'UPSTREAM_AUTH_REQUIRED',
    message: expect.stringMatching(words),
  })
})

it('a login at a server that is not there reports that', async () => {
  const server = { ...(await protectedServer()), url: 'http://127.0.0.1:1/mcp' }
  await expect(logIn(server, await tokenFile())).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' })
})

const needed = 'repo:read repo:write'
const refusal = {
  code: 'UPSTREAM_AUTH_REQUIRED',
  message: `Server 'r' requires more permissions than the login has: ${needed}`,
  hint: 'Ask the user to run `sandbridge login r` in a terminal. It requests them.',
}

it.each([false, true])(
  'a call for which the login lacks a scope says what to run, and that login asks for the old and the new (silent: %s)',
  async (silentScope) => {
    const [server, file] = [await protectedServer(), await tokenFile()]
    server.twist.silentScope = silentScope
    await logIn(server, file, { scope: 'profile' })
    const upstreams = bridge(server, file)
    expect(textOf(await echo(upstreams))).toBe('hi')

    server.twist.neededScope = needed
    await expect(echo(upstreams)).rejects.toMatchObject(refusal)
    expect(await logIn(server, file)).toEqual({ wasNeeded: true })
    expect(server.asked.map(({ scope }) => scope)).toEqual(['profile', `profile ${needed}`])
    expect(textOf(await echo(upstreams))).toBe('hi')
    // A scope that was requested once is not requested again.
    expect(await logIn(server, file)).toEqual({ wasNeeded: false, wasSignedIn: true })
  },
)

it('a call for which the login lacks a scope is refused each time it is made, and starts no sign-in by itself', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  server.twist.neededScope = needed
  const upstreams = bridge(server, file)
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => echo(upstreams)))
  expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'rejected'))
  expect(server.counts).toMatchObject({ authorize: 1, refresh: 0, refused: 10 })
})

it('the scopes that several tools lack are requested in one login, whatever is in them', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  await logIn(server, file)
  const upstreams = bridge(server, file)
  for (server.twist.neededScope of ['a', '$(b)', 'a c']) await expect(echo(upstreams)).rejects.toThrow('permissions')
  await logIn(server, file)
  expect(server.asked.at(-1)).toMatchObject({ scope: 'a $(b) c' })
})

it('a scope that a call lacks is offered to the user three times at most, when signing in does not help', async () => {
  const [server, file] = [await protectedServer(), await tokenFile()]
  Object.assign(server.twist, { neededScope: needed, grantedScope: 'profile' })
  await logIn(server, file)
  const upstreams = bridge(server, file)
  const { signal } = new AbortController()
  let count = 0
  for (; upstreams.canSignIn('r') && count < 10; count += 1) {
    await expect(echo(upstreams)).rejects.toMatchObject(refusal)
    await upstreams.signIn('r', { showPage: browse, signal })
  }
  expect(count).toBe(3)
  delete server.twist.neededScope
  await echo(upstreams)
  expect(upstreams.canSignIn('r')).toBe(true)
})

it('a scope that a call lacks over the older transport is reported in the same way', async () => {
  let events: ServerResponse
  const server = await listen(async (request, response) => {
    if (request.method === 'GET') {
      events = response.writeHead(200, { 'content-type': 'text/event-stream' })
      events.write('event: endpoint\ndata: /messages\n\n')
      return
    }
    const { id, method, params } = JSON.parse(await bodyOf(request))
    if (method === 'tools/call') {
      const challenge = `Bearer error="insufficient_scope", scope="${needed}"`
      response.writeHead(403, { 'www-authenticate': challenge }).end()
      return
    }
    response.writeHead(202).end()
    if (method !== 'initialize') return
    const { protocolVersion } = params
    const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } }
    events.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
  })
  const upstreams = open([remote('r', server, {}, 'sse')], {
    tokenStore: createTokenStore(fileStore(dirname(await tokenFile()))),
  })
  await expect(echo(upstreams)).rejects.toMatchObject(refusal)
})

it.each([
  ['sse', 405],
  ['sse', 404],
  ['sse', 401],
  ['http', 405],
  ['http', 404],
] as const)(
  'a server with the older transport only can be signed in to: as %s, with %i for a POST',
  async (type, postStatus) => {
    const [inner, file] = [await protectedServer(), await tokenFile()]
    const base = await listen(async (request, response) => {
      const body = await bodyOf(request)
      if (request.url !== '/sse') return passOn(request, response, new URL(request.url!, inner.url).href, body)
      const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
      if (request.method === 'POST' && postStatus !== 401) response.writeHead(postStatus).end()
      else if (!inner.valid.has(token)) {
        const challenge = `Bearer resource_metadata="${base}/metadata"`
        response.writeHead(401, { 'www-authenticate': challenge }).end()
      } else response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: endpoint\ndata: /post\n\n')
      return undefined
    })
    inner.twist.resource = `${base}/sse`
    const outcome = await logIn(inner, file, { server: { type, url: `${base}/sse`, headers: {} } })
    expect(outcome).toEqual({ wasNeeded: true })
    expect(inner.counts).toMatchObject({ code: 1 })
  },
)

it.each(['null', '5', '[]', '"x"', '', '{"a":'])(
  'the token file that holds %s counts as empty, and is set aside by the next change',
  async (text) => {
    const file = await tokenFile()
    const store = createTokenStore(fileStore(dirname(file)))
    const entry = { name: 's', url: 'https://s.example/mcp' }
    await store.update(entry, () => {})
    await writeFile(file, text)
    expect(await store.read(entry)).toEqual({ byIssuer: {} })
    expect(await readFile(file, 'utf8')).toBe(text)
    await store.update(entry, (grants) => (grants.missingScope = 'new'))
    expect(await store.read(entry)).toMatchObject({ missingScope: 'new' })
    const aside = (await readdir(dirname(file))).filter((name) => name.startsWith('tokens-damaged-'))
    expect(aside).toHaveLength(1)
    expect(await readFile(join(dirname(file), aside[0]!), 'utf8')).toBe(text)
  },
)

it('the token file is read with a byte order mark, and stays a symbolic link', async () => {
  const file = await tokenFile()
  const store = createTokenStore(fileStore(dirname(file)))
  const entry = { name: 's', url: 'https://s.example/mcp' }
  await store.update(entry, (grants) => (grants.missingScope = 'kept'))
  const target = join(dirname(file), 'elsewhere.json')
  await writeFile(target, `\uFEFF${await readFile(file, 'utf8')}`)
  await rm(file)
  await symlink(target, file)
  expect(await store.read(entry)).toMatchObject({ missingScope: 'kept' })
  await store.update(entry, (grants) => (grants.missingScope = 'changed'))
  expect((await lstat(file)).isSymbolicLink()).toBe(true)
  expect(await readFile(target, 'utf8')).toContain('changed')
})

it.each([null, 5, {}, { byIssuer: null }, { byIssuer: { a: 5 } }, { byIssuer: { a: { tokens: {} } } }, { sealed: 5 }])(
  'the token file with %j for one server has no sign-in there, reports it once, and keeps those of others',
  async (entry) => {
    const file = await tokenFile()
    const [url, other] = ['s', 'other'].map((name) => ({ name, url: `https://${name}.example/mcp` })) as [
      SignInEntry,
      SignInEntry,
    ]
    const lines: string[] = []
    const store = createTokenStore(
      fileStore(dirname(file)),
      undefined,
      createLog('info', (line) => void lines.push(line)),
    )
    await store.update(url, () => {})
    const [key] = Object.keys(JSON.parse(await readFile(file, 'utf8')))
    await store.update(other, (grants) => (grants.missingScope = 'kept'))
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), [key!]: entry }))
    for (let i = 0; i < 2; i += 1) expect(await store.read(url)).toEqual({ byIssuer: {} })
    expect(lines).toEqual([expect.stringContaining('sign in to the server again')])
    await store.update(url, (grants) => (grants.byIssuer['https://a.example'] = { port: 1 }))
    expect((await store.read(url)).byIssuer).toEqual({ 'https://a.example': { port: 1 } })
    expect(await store.read(other)).toMatchObject({ missingScope: 'kept' })
  },
)

it('the token file survives many writers at once', async () => {
  const file = await tokenFile()
  const stores = [createTokenStore(fileStore(dirname(file))), createTokenStore(fileStore(dirname(file)))]
  await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      stores[i % 2]!.update({ name: 's', url: 'https://s.example/mcp' }, (grants) => {
        grants.byIssuer[`https://${i}.example`] = { port: i }
      }),
    ),
  )
  expect(Object.keys((await stores[0]!.read({ name: 's', url: 'https://s.example/mcp' })).byIssuer)).toHaveLength(40)
})

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { login, type LoginOptions } from '../../src/upstream/auth/login.ts'
import { createTokenStore } from '../../src/upstream/auth/token-store.ts'
import { protectedServer, type Protected } from './authorization-server.ts'
import { remote } from './remote-server.ts'
import { open, textOf } from './support.ts'

async function tokenFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'upstream-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'state', 'tokens.json')
}

/** A user whose browser follows every redirect. */
const browse = async (page: URL): Promise<void> => void (await fetch(page))

function logIn(server: Protected, file: string, changes: Partial<LoginOptions> = {}) {
  return login({
    name: 'r',
    server: { type: 'http', url: server.url, headers: {} },
    store: createTokenStore(file),
    showPage: browse,
    clientInfo: { name: 'test', version: '1' },
    signal: new AbortController().signal,
    ...changes,
  })
}

const bridge = (server: Protected, file: string) =>
  open([remote('r', server.url)], { tokenStore: createTokenStore(file) })
const echo = (upstreams: ReturnType<typeof open>) => upstreams.callTool('r', 'echo', { text: 'hi' })

describe('a server that wants OAuth', () => {
  test('without a login, says what to run, and registers nothing', async () => {
    const server = await protectedServer()
    const failure = await echo(bridge(server, await tokenFile())).catch((reason: unknown) => reason)
    expect(failure).toMatchObject({
      code: 'UPSTREAM_AUTH_REQUIRED',
      hint: expect.stringContaining('sandbridge login r'),
    })
    expect(server.counts).toEqual({ register: 0, authorize: 0, code: 0, refresh: 0, client: 0 })
  })

  test('is usable after a login, by this bridge and the next, and the tokens are for their owner’s eyes only', async () => {
    const [server, file] = [await protectedServer(), await tokenFile()]
    expect(await logIn(server, file)).toEqual({ wasNeeded: true })
    for (let i = 0; i < 2; i += 1) expect(textOf(await echo(bridge(server, file)))).toBe('hi')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await logIn(server, file)).toEqual({ wasNeeded: false })
    expect(server.counts).toEqual({ register: 1, authorize: 1, code: 1, refresh: 0, client: 0 })
  })

  test('gets a fresh token when the old one has expired, once for all who need it', async () => {
    const [server, file] = [await protectedServer(), await tokenFile()]
    await logIn(server, file)
    const bridges = [bridge(server, file), bridge(server, file)]
    await Promise.all(bridges.map(echo))
    server.valid.clear()
    const results = await Promise.all(bridges.flatMap((upstreams) => Array.from({ length: 10 }, () => echo(upstreams))))
    expect(results.map(textOf)).toEqual(Array.from({ length: 20 }, () => 'hi'))
    expect(server.counts).toMatchObject({ authorize: 1, refresh: 1 })
  })

  test('wants a login again when the refresh is refused, and takes one made meanwhile', async () => {
    const [server, file] = [await protectedServer(), await tokenFile()]
    await logIn(server, file)
    const upstreams = bridge(server, file)
    await echo(upstreams)
    server.valid.clear()
    server.refreshTokens.clear()
    for (let i = 0; i < 3; i += 1)
      await expect(echo(upstreams)).rejects.toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
    expect(server.counts).toEqual({ register: 1, authorize: 1, code: 1, refresh: 1, client: 0 })
    await logIn(server, file)
    expect(textOf(await echo(upstreams))).toBe('hi')
  })

  test('is not refreshed for ever when it honours no token', async () => {
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
})

describe('a login', () => {
  test('accepts the address that a browser elsewhere ended up at', async () => {
    const [server, file] = [await protectedServer(), await tokenFile()]
    let paste: (address: string) => void
    const pasted = new Promise<string>((resolve) => (paste = resolve))
    await logIn(server, file, {
      showPage: async (page) => paste((await fetch(page, { redirect: 'manual' })).headers.get('location')!),
      pastedAddress: () => pasted,
    })
    expect(textOf(await echo(bridge(server, file)))).toBe('hi')
  })

  test.each<[string, Protected['twist'], string]>([
    ['with another state', { state: 'forged' }, 'not to our question'],
    ['from another issuer', { iss: 'https://evil.example' }, 'failed'],
    ['that the user refused', { error: 'access_denied' }, 'failed'],
  ])('refuses an answer %s', async (_what, twist, text) => {
    const [server, file] = [await protectedServer(), await tokenFile()]
    Object.assign(server.twist, twist)
    await expect(logIn(server, file)).rejects.toMatchObject({
      code: 'UPSTREAM_AUTH_REQUIRED',
      message: expect.stringContaining(text),
    })
    expect(server.counts.code).toBe(0)
  })

  test.each(['file:///usr/bin/program', 'smb://evil.example/share', 'http://evil.example/login'])(
    'does not send the browser to %s',
    async (page) => {
      const [server, file] = [await protectedServer(), await tokenFile()]
      server.twist.page = page
      const shown: string[] = []
      const outcome = logIn(server, file, { showPage: (url) => void shown.push(url.href) })
      await expect(outcome).rejects.toMatchObject({ code: 'UPSTREAM_AUTH_REQUIRED' })
      expect(shown).toEqual([])
    },
  )

  test('sends the browser to a page over https, and takes what it is asked for along', async () => {
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

  test('can be cancelled while the user thinks', async () => {
    const [server, file] = [await protectedServer(), await tokenFile()]
    const abort = new AbortController()
    const outcome = logIn(server, file, { showPage: () => abort.abort(), signal: abort.signal })
    await expect(outcome).rejects.toMatchObject({ code: 'CANCELLED' })
  })

  test('at a server that is not there says so', async () => {
    const server = { ...(await protectedServer()), url: 'http://127.0.0.1:1/mcp' }
    await expect(logIn(server, await tokenFile())).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE' })
  })
})

describe('the token file', () => {
  test('survives many writers at once', async () => {
    const file = await tokenFile()
    const stores = [createTokenStore(file), createTokenStore(file)]
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        stores[i % 2]!.update('https://s.example/mcp', (grants) => {
          grants.byIssuer[`https://${i}.example`] = { port: i }
        }),
      ),
    )
    expect(Object.keys((await stores[0]!.read('https://s.example/mcp')).byIssuer)).toHaveLength(40)
  })

  test('is left as it is when it is damaged', async () => {
    const file = await tokenFile()
    const store = createTokenStore(file)
    await store.update('https://s.example/mcp', () => {})
    await writeFile(file, '{"a":')
    await expect(store.update('https://s.example/mcp', () => {})).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(await readFile(file, 'utf8')).toBe('{"a":')
  })
})

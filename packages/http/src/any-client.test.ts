// This file verifies that clients, gateways and proxies get an answer that they can use, however they form a request.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { INITIALIZE, useHttpBridge } from '../test/support/raw-http.ts'
import { message, modern } from '@sandbridge/core/test/support/bridges/raw-request.ts'

const { serve } = useHttpBridge()

const opened = { result: { protocolVersion: '2025-11-25' } }

/** The response of a body, which is JSON or a stream of events. */
const read = (body: string): unknown => JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body)

it.each([
  ['application/json, text/event-stream', 'text/event-stream'],
  ['*/*', 'text/event-stream'],
  ['', 'text/event-stream'],
  ['application/*, text/*', 'text/event-stream'],
  ['text/html, *; q=.2', 'text/event-stream'],
  ['APPLICATION/JSON , Text/Event-Stream', 'text/event-stream'],
  ['text/event-stream', 'text/event-stream'],
  ['text/html, */*;q=0.1', 'text/event-stream'],
  ['application/json;q=0.5, text/event-stream;q=0.9', 'text/event-stream'],
  ['application/json', 'application/json'],
  ['application/json;q=0.9, */*;q=0.1', 'application/json'],
  ['application/json; charset=utf-8, text/event-stream;q=0', 'application/json'],
  ['*/*, text/event-stream;q=0.0', 'application/json'],
])('a client gets a form that its header allows: Accept %j', async (accept, type) => {
  const { send } = await serve()
  for (const request of [{ body: INITIALIZE, headers: {} }, modern('tools/list')]) {
    const { status, headers, body } = await send({ ...request, headers: { ...request.headers, accept } })
    expect([status, headers['content-type']]).toEqual([200, type])
    expect(read(body)).toMatchObject({ jsonrpc: '2.0', id: 1, result: {} })
  }
})

it.each(['text/html', 'application/json;q=0, text/plain', '*/*;q=0'])(
  'a client that reads neither form is told so: Accept %s',
  async (accept) => {
    const { send } = await serve()
    const { status, body } = await send({ headers: { accept } })
    expect([status, body]).toEqual([406, expect.stringContaining('application/json or text/event-stream')])
  },
)

it('a client that reads no events gets the results of its calls, and is never asked anything', async () => {
  const { send } = await serve()
  const headers = { accept: 'application/json' }
  const capabilities = { elicitation: {}, sampling: {} }
  const body = INITIALIZE.replace('"capabilities":{}', `"capabilities":${JSON.stringify(capabilities)}`)
  const session = String((await send({ headers, body })).headers['mcp-session-id'])
  const call = message('tools/call', { name: 'run_python', arguments: {} })
  const called = await send({ headers: { ...headers, 'mcp-session-id': session }, body: call })
  expect(read(called.body)).toMatchObject({ id: 1, result: { isError: true } })
  expect((await send({ method: 'GET', headers: { ...headers, 'mcp-session-id': session } })).status).toBe(406)
})

it.each([
  ['application/json-rpc', 200],
  ['application/vnd.acme.mcp+json; charset=utf-8', 200],
  ['APPLICATION/JSON', 200],
  [['application/json', 'application/json'], 200],
  [['text/plain', 'application/json'], 415],
  ['text/plain', 415],
  ['application/x-www-form-urlencoded', 415],
])('the bridge answers a body of the type %s with %d', async (type, status) => {
  const { send } = await serve()
  for (const request of [{ body: INITIALIZE, headers: {} }, modern('tools/list')])
    expect((await send({ ...request, headers: { ...request.headers, 'content-type': type as string } })).status).toBe(
      status,
    )
})

it.each([
  ['a byte order mark', `\u{FEFF}${INITIALIZE}`],
  ['null for what it does not have', INITIALIZE.replace('"capabilities":{}', '"capabilities":null,"_meta":null')],
  ['no params', '{"jsonrpc":"2.0","id":1,"method":"initialize"}'],
  ['a field that no one knows', INITIALIZE.replace('"id":1', '"id":1,"sender":"x"')],
  ['the newer era, with null', modern('tools/list', { cursor: null }).body],
])('the bridge answers a request with %s', async (what, body) => {
  const { send } = await serve()
  const headers = what.startsWith('the newer era') ? modern('tools/list').headers : {}
  const reply = await send({ body, headers })
  expect(reply.status).toBe(200)
  expect(read(reply.body)).toMatchObject({ id: 1, result: {} })
})

it.each(['9007199254740993', '-18446744073709551616', '"9007199254740993"'])(
  'an id comes back as it was sent: %s',
  async (id) => {
    const { send } = await serve()
    const session = String((await send()).headers['mcp-session-id'])
    for (const accept of ['*/*', 'application/json']) {
      const headers = { accept, 'mcp-session-id': session }
      const sent = (body: string) => body.replace('"id":1', `"id":${id}`)
      expect((await send({ headers, body: sent(message('ping', {})) })).body).toContain(`"id":${id}`)
      const newer = modern('tools/list')
      const listed = await send({ headers: { ...newer.headers, accept }, body: sent(newer.body) })
      expect(listed.body).toContain(`"id":${id}`)
      expect((await send({ headers, body: sent(message('ping', [])).replace('[]', '[1]') })).body).toContain(
        `"id":${id}`,
      )
    }
  },
)

it.each(['2099-01-01', '2026-07-28', 'latest'])(
  'a handshake is answered whatever its header says: %s',
  async (version) => {
    const { send } = await serve()
    const body = INITIALIZE.replace('2025-11-25', version)
    expect(read((await send({ headers: { 'mcp-protocol-version': version }, body })).body)).toMatchObject(opened)
  },
)

it('an id that is a fraction is refused by its id', async () => {
  const { send } = await serve()
  expect((await send({ body: '{"jsonrpc":"2.0","id":1.5,"method":"ping"}' })).body).toContain('"id":1.5')
})

it.each([
  ['{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":NaN}}', 7, /JSON, which has no NaN/],
  [`${INITIALIZE}${INITIALIZE}`, 1, /Parse error/],
  ['{"jsonrpc":"2.0","id":"x","method":5}', 'x', /a method is a text, not a number: 5/],
  ['{"jsonrpc":"2.0","id":[1],"method":"ping"}', null, /an id is a text or a whole number/],
  [Buffer.from('{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"é"}}', 'latin1'), 7, /not UTF-8/],
  [message('tools/call', { name: 'x', arguments: '{"code": ' }), 1, /`arguments` is an object, not a text: .*code/],
])('the bridge says what it cannot read: %s', async (body, id, why) => {
  const { send } = await serve()
  const reply = await send({ body })
  expect(reply.status).toBe(400)
  expect(read(reply.body)).toMatchObject({ id, error: { message: expect.stringMatching(why) } })
})

it.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['DEFLATE', deflateSync],
  ['br', brotliCompressSync],
])('the bridge reads a compressed body, and no more of it than of another one: %s', async (encoding, compress) => {
  const { send } = await serve({ bodyBytes: 100_000 })
  const headers = { 'content-encoding': encoding }
  expect(read((await send({ headers, body: compress(INITIALIZE) })).body)).toMatchObject(opened)
  const bomb = compress(INITIALIZE + ' '.repeat(2 ** 24))
  expect(bomb.length).toBeLessThan(100_000)
  expect((await send({ headers, body: bomb })).status).toBe(413)
  expect((await send({ headers, body: Buffer.from(INITIALIZE) })).status).toBe(400)
})

it('the bridge names the encodings that it reads', async () => {
  const { send } = await serve()
  const { status, headers, body } = await send({ headers: { 'content-encoding': 'zstd' } })
  expect([status, headers['accept-encoding']]).toEqual([415, 'gzip, x-gzip, deflate, br'])
  expect(body).toContain('The Content-Encoding zstd is not known: send gzip')
})

it('the first request of a client opens a session, whatever session it names', async () => {
  const { send } = await serve()
  const stale = await send({ headers: { 'mcp-session-id': 'of-the-bridge-before' } })
  expect(read(stale.body)).toMatchObject(opened)
  const own = String(stale.headers['mcp-session-id'])
  expect(own).not.toBe('of-the-bridge-before')
  const again = await send({ headers: { 'mcp-session-id': own } })
  expect([again.status, again.headers['mcp-session-id'] === own]).toEqual([200, false])
  // Control: every other request needs a session that is there.
  const ping = message('ping', {})
  expect((await send({ headers: { 'mcp-session-id': own }, body: ping })).status).toBe(200)
  expect((await send({ headers: { 'mcp-session-id': 'of-the-bridge-before' }, body: ping })).status).toBe(404)
})

it('the path may end in a slash', async () => {
  const { send } = await serve()
  expect(read((await send({ path: '/mcp/' })).body)).toMatchObject(opened)
  for (const path of ['/mcp/x', '/tools/mcp'])
    expect(await send({ path })).toMatchObject({
      status: 404,
      body: expect.stringContaining(`at ${path}: the path is`),
    })
  for (const path of ['//mcp', 'http://127.0.0.1/mcp', '/mcp//?a=/b', 'HTTPS://bridge.example.com/mcp?x'])
    expect((await send({ path })).status, path).toBe(200)
})

it('the refusal of a name says which setting makes it known', async () => {
  const { port, send } = await serve({ host: '0.0.0.0' })
  const { status, body } = await send({ headers: { host: `host.docker.internal:${port}` } })
  expect(status).toBe(403)
  expect(body).toContain('names host.docker.internal')
  expect(body).toContain('MCP_BRIDGE_PUBLIC_URL')
})

it('the setting takes several addresses and names', async () => {
  const publicNames = ['https://bridge.example.com/mcp', 'host.docker.internal', 'http://Sandbridge:8080/mcp']
  publicNames.unshift('chrome-extension://abcdef')
  const { port, status } = await serve({ host: '0.0.0.0', publicNames, trustedProxies: ['127.0.0.1'] })
  const as = (host: string, more: Record<string, string> = {}) =>
    status({ headers: { host: `${host}:${port}`, ...more } })
  expect(await as('bridge.example.com')).toBe(200)
  expect(await as('host.docker.internal')).toBe(200)
  expect(await as('sandbridge')).toBe(200)
  expect(await as('other.example.com')).toBe(403)
  // Only a name that is listed without https may be asked for without it.
  const unencrypted = { 'x-forwarded-proto': 'http' }
  expect(await as('bridge.example.com', unencrypted)).toBe(403)
  expect(await as('sandbridge', unencrypted)).toBe(200)
  expect(await as('bridge.example.com', { origin: 'http://sandbridge:8080' })).toBe(200)
  expect(await as('bridge.example.com', { origin: 'http://host.docker.internal' })).toBe(403)
  expect(await as('sandbridge', { origin: 'chrome-extension://abcdef' })).toBe(200)
  expect(await as('sandbridge', { origin: 'chrome-extension://ghijkl' })).toBe(403)
  expect(await as('sandbridge', { origin: 'null' })).toBe(403)
})

it('a web page of an allowed origin may read responses; its browser asks without a token', async () => {
  const { send } = await serve()
  const asks = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization, mcp-protocol-version',
    authorization: '',
  }
  const preflight = (origin: string) => send({ method: 'OPTIONS', headers: { ...asks, origin } })
  const origin = 'http://localhost:6274'
  const allowed = await preflight(origin)
  expect([allowed.status, allowed.headers]).toMatchObject([
    204,
    {
      'access-control-allow-origin': origin,
      'access-control-allow-headers': 'authorization, mcp-protocol-version',
      'access-control-allow-methods': 'GET, POST, DELETE',
    },
  ])
  for (const authorization of ['', undefined]) {
    const { headers } = await send({ headers: { origin, ...(authorization === undefined ? {} : { authorization }) } })
    expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'origin' })
  }
  const other = await preflight('https://evil.example')
  expect([other.status, other.headers['access-control-allow-origin']]).toEqual([403, undefined])
  expect((await send()).headers).not.toHaveProperty('access-control-allow-origin')
})

it.each([
  ['POST', '/register'],
  ['GET', '/.well-known/oauth-authorization-server'],
  ['GET', '/.well-known/oauth-protected-resource/mcp'],
  ['GET', '/mcp/.well-known/openid-configuration'],
  ['GET', '/authorize'],
])('a client that looks for a sign-in is told that there is none: %s %s', async (method, path) => {
  const { send } = await serve()
  const { status, body } = await send({ method, path, headers: { authorization: '' } })
  expect(status).toBe(404)
  expect(JSON.parse(body)).toEqual({
    error: 'invalid_request',
    error_description: expect.stringContaining('This bridge has no sign-in: each request must carry its token'),
  })
  expect((await send({ method, path, headers: { host: 'evil.example' } })).status).toBe(403)
})

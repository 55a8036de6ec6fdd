// This file verifies which requests are let in, and what an invalid request does.
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'
import { type SendOptions, TOKEN, useHttpBridge, openSocket } from '../test/support/raw-http.ts'
import { message, modern } from '@sandbridge/core/test/support/bridges/raw-request.ts'

const { serve, log } = useHttpBridge()

describe('who has the token is let in, and nobody else', () => {
  it.each([
    ['the token', `Bearer ${TOKEN}`, 200],
    ['the token, after two spaces', `Bearer  ${TOKEN}`, 200],
    ['the token, after the scheme in small letters', `bearer ${TOKEN}`, 200],
    ['no token', '', 401],
    ['another one', 'Bearer another-token-of-some-length', 401],
    ['a part of it', `Bearer ${TOKEN.slice(0, -1)}`, 401],
    ['more than it', `Bearer ${TOKEN}x`, 401],
    ['an empty one', 'Bearer ', 401],
    ['it as a password', `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`, 401],
  ])('only a request with the token is accepted: it has %s', async (_, authorization, expected) => {
    const { send } = await serve()
    const { status, headers, body } = await send({ headers: { authorization } })
    expect(status).toBe(expected)
    // RFC 6750, section 3.1: only a request with a token is told that it is wrong.
    const hasToken = /^Bearer ./i.test(authorization) && expected === 401
    if (hasToken)
      expect(headers['www-authenticate']).toMatch(/^Bearer error="invalid_token", error_description="This token is/)
    else expect(headers['www-authenticate']).toBe(expected === 401 ? 'Bearer' : undefined)
    if (expected === 401) expect(body).toContain(hasToken ? 'This token is not valid' : 'Authentication required')
  })

  it.each(['GET', 'POST', 'DELETE', 'OPTIONS', 'PUT'])(
    'a request without the token is refused, whatever the method: %s',
    async (method) => {
      const { status } = await serve()
      expect(await status({ method, headers: { authorization: '' } })).toBe(401)
      expect(await status({ method })).not.toBe(401)
    },
  )

  it('the token never appears in the log', async () => {
    const { send } = await serve()
    await send({ headers: { authorization: `Bearer ${TOKEN}x` } })
    await send({ body: 'nonsense' })
    expect(log.join('')).not.toContain(TOKEN)
  })
})

it.each([
  ['localhost', 200],
  ['127.0.0.1', 200],
  ['[::1]', 200],
  ['evil.example', 403],
  ['localhost.evil.example', 403],
  ['192.168.1.5', 403],
  ['127.1', 403],
  ['2130706433', 403],
  ['0x7f000001', 403],
  ['0177.0.0.1', 403],
  ['127.0.0.1.', 403],
  ['localhost.', 403],
  ['127.0.0.2', 403],
  ['[::ffff:127.0.0.1]', 403],
  ['user@localhost', 403],
  ['LOCALHOST', 200],
])('a web page cannot connect by a name that means this machine: Host %s', async (host, expected) => {
  const { port, status } = await serve()
  expect(await status({ headers: { host: `${host}:${port}` } })).toBe(expected)
})

it.each([
  ['http://localhost:3000', 200],
  ['http://127.0.0.1', 200],
  ['https://evil.example', 403],
  ['http://localhost.evil.example', 403],
  ['null', 403],
  ['http://[::1]:8080', 200],
  ['http://localhost\\@evil.example', 403],
  ['http://localhost@evil.example', 403],
  ['http://localhost/', 403],
  ['http://localhost:99999', 403],
  ['http://127.1', 403],
  ['http://localhost http://evil.example', 403],
  ['chrome-extension://localhost', 403],
  ['file://localhost', 403],
  ['', 403],
])('a web page cannot connect: Origin %s', async (origin, expected) => {
  const { status } = await serve()
  expect(await status({ headers: { origin } })).toBe(expected)
})

it.each(['Host: localhost', 'Origin: http://localhost', `Authorization: Bearer ${TOKEN}`])(
  'a repeated header is refused, even with the same value: %s',
  async (header) => {
    const { port } = await serve()
    const once = ['Host: localhost', 'Origin: http://localhost', `Authorization: Bearer ${TOKEN}`]
    const answerTo = async (...lines: string[]) =>
      text(await openSocket(port, ['PUT /mcp HTTP/1.1', ...lines, 'Connection: close', '', ''].join('\r\n')))
    // Control: sent once, each header is accepted.
    expect(await answerTo(...once)).toContain('HTTP/1.1 405')
    const refused = await answerTo(...once, header)
    expect(refused).toContain('HTTP/1.1 400')
    expect(refused).toContain('Send one')
  },
)

it('another loopback address is accepted as Host where the bridge listens on it', async () => {
  needsLinux('it has all of 127.0.0.0/8')
  const { port, status } = await serve({ host: '127.0.0.2' })
  expect(await status({ headers: { host: `127.0.0.2:${port}` } })).toBe(200)
  expect(await status({ headers: { host: `evil.example:${port}` } })).toBe(403)
})

it('Host may also be an address, or the name of this machine, where other machines can connect', async () => {
  const { port, status } = await serve({ host: '0.0.0.0' })
  const as = (host: string) => status({ headers: { host: `${host}:${port}` } })
  expect(await as('192.168.1.5')).toBe(200)
  expect(await as('[fe80::1]')).toBe(200)
  expect(await as(hostname())).toBe(200)
  expect(await as('evil.example')).toBe(403)
  expect(await as('192.168.1.5.evil.example')).toBe(403)
})

it.each(['', 'nonsense', '{', 'null', '42', '"x"', '[]', '{}', '[null]', '{"jsonrpc":"2.0"}', '{"__proto__":{}}'])(
  'an invalid request fails alone: the body %j',
  async (body) => {
    const { status } = await serve()
    expect(await status({ body })).toBe(400)
    expect(await status()).toBe(200)
  },
)

it.each([
  ['another path', { path: '/' }, 404],
  ['another method', { method: 'PUT' }, 405],
  ['another content type', { headers: { 'content-type': 'text/plain' } }, 415],
  [
    'another content type, in the modern era',
    { headers: { ...modern('tools/list').headers, 'content-type': 'text/plain' }, body: modern('tools/list').body },
    415,
  ],
  ['an unknown session', { headers: { 'mcp-session-id': 'nonsense' }, body: message('tools/list', {}) }, 404],
  ['no session', { body: message('tools/list', {}) }, 400],
  ['a stream without a session', { method: 'GET' }, 400],
])('an invalid request fails alone: %s', async (_, options, expected) => {
  const { status } = await serve()
  expect(await status(options)).toBe(expected)
})

const bare = (address: string, options: SendOptions = {}): SendOptions => ({
  path: address,
  method: 'GET',
  ...options,
  headers: { authorization: '', ...options.headers },
})

it('a supervisor without a token can ask whether the process is up and accepts work, and nothing else', async () => {
  const { send, status } = await serve()
  expect(await send(bare('/healthz'))).toMatchObject({ status: 200, body: 'ok\n' })
  await expect.poll(() => status(bare('/readyz')), { timeout: 20_000 }).toBe(200)
  expect(await send(bare('/readyz'))).toMatchObject({ status: 200, body: 'ok\n' })
  expect(await send(bare('/readyz', { method: 'HEAD' }))).toMatchObject({ status: 200, body: '' })
  // Control: all other paths need a token, even with the same prefix.
  expect(await status(bare('/mcp'))).toBe(401)
  expect(await status(bare('/healthz/mcp'))).toBe(404)
})

it('a supervisor without a token cannot use another name, come from a web page, or write', async () => {
  const { status } = await serve()
  for (const address of ['/healthz', '/readyz']) {
    expect(await status(bare(address, { headers: { host: 'evil.example' } }))).toBe(403)
    expect(await status(bare(address, { headers: { origin: 'https://evil.example' } }))).toBe(403)
    expect(await status(bare(address, { method: 'POST' }))).toBe(405)
  }
})

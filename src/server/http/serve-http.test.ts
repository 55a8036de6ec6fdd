// This file verifies who is let in, and what one client can take up. Sandboxes are not needed for that.
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http'
import { connect, type Socket } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Bridge } from '../../bridge.ts'
import { readSettings } from '../../config/settings.ts'
import { createLog } from '../../log.ts'
import { HTTP_LIMITS, serveHttp } from './serve-http.ts'

const TOKEN = 'a token of these tests'.replaceAll(' ', '-')
const LOG: string[] = []

let bridge: Bridge
beforeAll(async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'sb-http-'))
  const env = {
    MCP_BRIDGE_SOURCES: 'mcps',
    MCP_BRIDGE_POOL: '0',
    MCP_BRIDGE_RUNTIME: 'pyodide',
    MCP_BRIDGE_HTTP_SESSIONS: '64',
  }
  const settings = readSettings({ ...env, MCP_BRIDGE_CACHE_DIR: path.join(home, 'cache') }, { home })
  bridge = await Bridge.open(
    settings,
    createLog('debug', (line) => LOG.push(line)),
  )
  return async () => {
    await bridge.close()
    await rm(home, { recursive: true, force: true })
  }
})

interface SendOptions extends Pick<RequestOptions, 'path' | 'method'> {
  headers?: Record<string, string>
  body?: string
}

interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

async function serve({ host = '127.0.0.1', ...limits }: Partial<typeof HTTP_LIMITS> & { host?: string } = {}) {
  const service = await serveHttp(bridge, { host, port: 0, token: TOKEN }, { ...HTTP_LIMITS, ...limits })
  onTestFinished(() => service.close())
  const port = Number(new URL(service.url).port)
  const send = ({ body: sentBody = INITIALIZE, headers, ...options }: SendOptions = {}) =>
    new Promise<Reply>((resolve, reject) => {
      const sent = httpRequest(
        {
          host: new URL(service.url).hostname,
          port,
          path: '/mcp',
          method: 'POST',
          ...options,
          headers: { ...HEADERS, ...headers },
        },
        (response) => {
          text(response).then(
            (body) => resolve({ status: response.statusCode!, headers: response.headers, body }),
            reject,
          )
        },
      )
      sent.on('error', reject)
      sent.end(['POST', 'PUT', undefined].includes(options.method) ? sentBody : undefined)
    })
  return { service, port, send, status: async (options?: Parameters<typeof send>[0]) => (await send(options)).status }
}

const HEADERS = {
  authorization: `Bearer ${TOKEN}`,
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
}

const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

const INITIALIZE = message('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
})

describe('who has the token is let in, and nobody else', () => {
  it.each([
    ['the token', `Bearer ${TOKEN}`, 200],
    ['the token, after the scheme in small letters', `bearer ${TOKEN}`, 200],
    ['no token', '', 401],
    ['another one', 'Bearer another-token-of-some-length', 401],
    ['a part of it', `Bearer ${TOKEN.slice(0, -1)}`, 401],
    ['more than it', `Bearer ${TOKEN}x`, 401],
    ['an empty one', 'Bearer ', 401],
    ['it as a password', `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`, 401],
  ])('%s', async (_, authorization, expected) => {
    const { send } = await serve()
    const { status, headers } = await send({ headers: { authorization } })
    expect(status).toBe(expected)
    expect(headers['www-authenticate']).toBe(expected === 401 ? 'Bearer' : undefined)
  })

  it.each(['GET', 'POST', 'DELETE', 'OPTIONS', 'PUT'])(
    'lets in who has the token, and nobody else, whatever the method: %s',
    async (method) => {
      const { status } = await serve()
      expect(await status({ method, headers: { authorization: '' } })).toBe(401)
      expect(await status({ method })).not.toBe(401)
    },
  )

  it('the token never shows in the log', async () => {
    const { send } = await serve()
    await send({ headers: { authorization: `Bearer ${TOKEN}x` } })
    await send({ body: 'nonsense' })
    expect(LOG.join('')).not.toContain(TOKEN)
  })
})

describe('a page of another site, in a browser on this machine', () => {
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
  ])('cannot get in by a name that means this machine: Host %s', async (host, expected) => {
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
  ])('cannot get in: Origin %s', async (origin, expected) => {
    const { status } = await serve()
    expect(await status({ headers: { origin } })).toBe(expected)
  })

  it.each(['Host: localhost', 'Origin: http://localhost', `Authorization: Bearer ${TOKEN}`])(
    'a second header is refused, even one that says the same: %s',
    async (header) => {
      const { port } = await serve()
      const once = ['Host: localhost', 'Origin: http://localhost', `Authorization: Bearer ${TOKEN}`]
      const answerTo = async (...lines: string[]) =>
        text(await openSocket(port, ['PUT /mcp HTTP/1.1', ...lines, 'Connection: close', '', ''].join('\r\n')))
      // The control: each of them once is let in.
      expect(await answerTo(...once)).toContain('HTTP/1.1 405')
      const refused = await answerTo(...once, header)
      expect(refused).toContain('HTTP/1.1 400')
      expect(refused).toContain('Send one')
    },
  )

  it('another loopback address may be named where the bridge listens on it', async (ctx) => {
    if (process.platform !== 'linux') ctx.skip('only Linux has all of 127.0.0.0/8')
    const { port, status } = await serve({ host: '127.0.0.2' })
    expect(await status({ headers: { host: `127.0.0.2:${port}` } })).toBe(200)
    expect(await status({ headers: { host: `evil.example:${port}` } })).toBe(403)
  })

  it('where other machines can connect, Host may also be an address, or the name of this one', async () => {
    const { port, status } = await serve({ host: '0.0.0.0' })
    const as = (host: string) => status({ headers: { host: `${host}:${port}` } })
    expect(await as('192.168.1.5')).toBe(200)
    expect(await as('[fe80::1]')).toBe(200)
    expect(await as(hostname())).toBe(200)
    expect(await as('evil.example')).toBe(403)
    expect(await as('192.168.1.5.evil.example')).toBe(403)
  })
})

describe('an invalid request fails alone', () => {
  it.each(['', 'nonsense', '{', 'null', '42', '"x"', '[]', '{}', '[null]', '{"jsonrpc":"2.0"}', '{"__proto__":{}}'])(
    'the body %j',
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
    ['an unknown session', { headers: { 'mcp-session-id': 'nonsense' } }, 404],
    ['no session', { body: message('tools/list', {}) }, 400],
    ['a stream without a session', { method: 'GET' }, 400],
  ])('%s', async (_, options, expected) => {
    const { status } = await serve()
    expect(await status(options)).toBe(expected)
  })
})

describe('a supervisor without a token', () => {
  const bare = (address: string, options: SendOptions = {}): SendOptions => ({
    path: address,
    method: 'GET',
    ...options,
    headers: { authorization: '', ...options.headers },
  })

  it('learns whether the process is up and takes work, and nothing else', async () => {
    const { send, status } = await serve()
    expect(await send(bare('/healthz'))).toMatchObject({ status: 200, body: 'ok\n' })
    await expect.poll(() => status(bare('/readyz')), { timeout: 20_000 }).toBe(200)
    expect(await send(bare('/readyz'))).toMatchObject({ status: 200, body: 'ok\n' })
    expect(await send(bare('/readyz', { method: 'HEAD' }))).toMatchObject({ status: 200, body: '' })
    // The control: the rest needs a token, whatever the address begins with.
    expect(await status(bare('/mcp'))).toBe(401)
    expect(await status(bare('/healthz/mcp'))).toBe(404)
  })

  it('is none that comes by another name, from a web page, or to write', async () => {
    const { status } = await serve()
    for (const address of ['/healthz', '/readyz']) {
      expect(await status(bare(address, { headers: { host: 'evil.example' } }))).toBe(403)
      expect(await status(bare(address, { headers: { origin: 'https://evil.example' } }))).toBe(403)
      expect(await status(bare(address, { method: 'POST' }))).toBe(405)
    }
  })
})

describe('one client cannot take up everything', () => {
  it('a body may have so many bytes, and not one more', async () => {
    const { status } = await serve({ bodyBytes: 10_000 })
    const padded = (length: number) => INITIALIZE + ' '.repeat(length - INITIALIZE.length)
    expect(await status({ body: padded(10_000) })).toBe(200)
    expect(await status({ body: padded(10_001) })).toBe(413)
    const chunked = { 'transfer-encoding': 'chunked' }
    expect(await status({ body: padded(10_000), headers: chunked })).toBe(200)
    expect(await status({ body: padded(10_001), headers: chunked })).toBe(413)
    expect(await status({ body: padded(2_000_000), headers: chunked })).toBe(413)
  })

  it.each([{}, { 'transfer-encoding': 'chunked' }])(
    'a refusal reaches a client that is still sending, and closes its connection: %j',
    async (headers) => {
      const { status } = await serve({ bodyBytes: 10_000 })
      const body = ' '.repeat(5_000_000)
      for (let round = 0; round < 20; round += 1) {
        expect(await status({ body, headers: { connection: 'close', ...headers } })).toBe(413)
        expect(await status({ body, headers: { authorization: '', ...headers } })).toBe(401)
      }
    },
  )

  it('two hundred clients with the token may come at the same moment', async () => {
    const { port } = await serve()
    const request = `PUT /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`
    const clients = `
      const { connect } = require('node:net')
      for (let i = 0; i < 200; i += 1) {
        const socket = connect(${port}, '127.0.0.1', () => setTimeout(() => socket.write(${JSON.stringify(request)}), 100))
        const tell = (answer) => { process.stdout.write(answer + ' '); socket.destroy() }
        socket.on('data', (answer) => tell(answer.subarray(9, 12))).on('error', tell).on('end', () => tell('closed'))
      }`
    const child = spawn(process.execPath, ['-e', clients])
    const answers = (await text(child.stdout)).trim().split(' ')
    expect(answers).toEqual(Array.from({ length: 200 }, () => '405'))
  })

  it('strangers with 560 connections keep nobody with the token out', async () => {
    const { port, status, send } = await serve()
    const { headers } = await send()
    const stream = httpRequest({
      port,
      path: '/mcp',
      headers: { ...HEADERS, 'mcp-session-id': headers['mcp-session-id']! },
    })
    onTestFinished(() => void stream.destroy())
    const listening = await new Promise<IncomingMessage>((resolve) => stream.on('response', resolve).end())
    const beginnings = ['', 'POST /mcp HTTP/1.1\r\n', 'POST /mcp HTTP/1.1\r\nHost: localhost\r\n']
    const strangers = await Promise.all(
      Array.from({ length: 560 }, (_, index) => openSocket(port, beginnings[index % 3]!)),
    )
    for (const socket of strangers) socket.resume()
    for (let attempt = 0; attempt < 20; attempt += 1) expect(await status()).toBe(200)
    const open = () => strangers.filter((socket) => !socket.closed).length
    while (open() > HTTP_LIMITS.strangers) await new Promise((resolve) => setTimeout(resolve, 10))
    // The control: it is not by chance that there is room, and what was let in before is still there.
    expect(open()).toBeGreaterThan(0)
    expect(listening.statusCode).toBe(200)
    expect(listening.closed).toBe(false)
  })

  it('a stranger does not stay, whatever it sends', async () => {
    const { port, status } = await serve({ strangerMs: 200 })
    const socket = await openSocket(port, 'POST /mcp HTTP/1.1\r\n')
    const timer = setInterval(() => socket.write('X-Slow: 1\r\n'), 20)
    await new Promise((resolve) => socket.resume().once('close', resolve))
    clearInterval(timer)
    expect(await status()).toBe(200)
  })

  it('a request that does not arrive is given up', async () => {
    const { port, status } = await serve({ requestMs: 300 })
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`
    const beginnings = ['', 'POST /mcp', head, `${head}Content-Length: 100\r\n\r\n{`]
    const sockets = await Promise.all(beginnings.slice(1).map((beginning) => openSocket(port, beginning)))
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve))))
    expect(await status()).toBe(200)
  })

  it('only so many requests are open at once, and one whose answer is not read ends', async () => {
    const { port, status } = await serve({ openRequests: 1, stallMs: 1_000 })
    await bridge.artifacts.save('large.bin', Buffer.alloc(8 * 1024 * 1024))
    const { headers, body } = modern('resources/read', { uri: 'sandbridge://artifact/large.bin' })
    const lines = Object.entries({ ...HEADERS, ...headers, 'content-length': String(body.length) })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const socket = await openSocket(port, `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${head}\r\n${body}`)
    // It has begun to answer, and nobody reads on.
    await new Promise((resolve) => socket.once('readable', resolve))
    expect(await status()).toBe(503)
    while ((await status()) !== 200) await new Promise((resolve) => setTimeout(resolve, 100))
  })
})

function modern(method: string, params: object = {}): { headers: Record<string, string>; body: string } {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  }
  const uri = (params as { uri?: string }).uri
  return {
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(uri && { 'mcp-name': uri }) },
    body: message(method, { ...params, _meta: meta }),
  }
}

function openSocket(port: number, beginning: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(beginning)
      resolve(socket)
    })
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  })
}

describe('a client of an older revision that goes away without a word', () => {
  async function openStream(port: number, session: string): Promise<() => void> {
    const headers = { ...HEADERS, 'mcp-session-id': session }
    const request = httpRequest({ host: '127.0.0.1', port, path: '/mcp', method: 'GET', headers })
    await new Promise((resolve, reject) => {
      request.on('response', resolve).on('error', reject)
      request.end()
    })
    request.on('error', () => {})
    return () => void request.destroy()
  }

  it('has its session ended soon after it has closed its stream', async () => {
    const { port, send } = await serve({ vanishedMs: { withVariables: 20, without: 20 } })
    const session = String((await send()).headers['mcp-session-id'])
    const close = await openStream(port, session)
    const ping = { headers: { 'mcp-session-id': session }, body: message('ping', {}) }
    expect((await send(ping)).status).toBe(200)
    close()
    await expect
      .poll(async () => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        return (await send(ping)).status
      })
      .toBe(404)
  })

  it('ends the sessions of fifty clients of an older revision that go away without a word', async () => {
    const { port, send } = await serve({ vanishedMs: { withVariables: 20, without: 20 } })
    const sessions: string[] = []
    for (let client = 0; client < 50; client += 1) {
      const session = String((await send()).headers['mcp-session-id'])
      const close = await openStream(port, session)
      close()
      sessions.push(session)
    }
    const statuses = async () => {
      const answers = sessions.map((session) =>
        send({ headers: { 'mcp-session-id': session }, body: message('ping', {}) }),
      )
      return new Set((await Promise.all(answers)).map(({ status }) => status))
    }
    await expect.poll(statuses, { interval: 100, timeout: 20_000 }).toEqual(new Set([404]))
  })

  it('keeps its session as long as its stream is open, and where it never had one', async () => {
    const { port, send } = await serve({ vanishedMs: { withVariables: 20, without: 20 } })
    const [held, streamless] = await Promise.all([send(), send()])
    const sessions = [held, streamless].map(({ headers }) => String(headers['mcp-session-id']))
    const close = await openStream(port, sessions[0]!)
    onTestFinished(close)
    await new Promise((resolve) => setTimeout(resolve, 100))
    for (const session of sessions) {
      const ping = { headers: { 'mcp-session-id': session }, body: message('ping', {}) }
      expect((await send(ping)).status).toBe(200)
    }
  })
})

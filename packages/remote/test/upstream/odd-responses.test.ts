// What published servers answer over HTTP that the client package alone does not read, or of which it loses the text.
import type { IncomingMessage, ServerResponse } from 'node:http'
import zlib, { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { open, textOf } from '@sandbridge/core/test/upstream/support.ts'
import {
  type Call,
  error,
  json,
  listen,
  rawRemote,
  remote,
  result,
} from '@sandbridge/core/test/support/servers/remote-server.ts'

const TEXT = 'Unknown column "nme" in table users'
const EVENTS = { 'content-type': 'text/event-stream' }
const JSON_TYPE = { 'content-type': 'application/json' }
const call = (upstreams: ReturnType<typeof open>, text = 'x') => upstreams.callTool('r', 'echo', { text })
/** The failure of a call that is answered so. */
const failing = async (answer: (call: Call) => unknown): Promise<Record<string, unknown>> => {
  const server = await rawRemote(answer)
  const failure: unknown = await call(open([remote('r', server.url)])).catch((reason: unknown) => reason)
  return failure as Record<string, unknown>
}
const event = (value: unknown): string =>
  `event: message\ndata: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`

describe('the text of an error', () => {
  it.each([400, 403, 404, 409, 422, 500, 501])(
    'the text of a JSON-RPC error with HTTP %d reaches the caller',
    async (status) => {
      for (const type of ['json', 'event']) {
        const failure = await failing(({ id, response }) => {
          const reply = error(id, -32_602, TEXT)
          if (type === 'json') return json(response, reply, {}, status)
          return response.writeHead(status, EVENTS).end(event(reply))
        })
        expect(failure).toMatchObject({
          code: 'TOOL_FAILED',
          message: `Server 'r' refused the call of 'echo': ${TEXT} (-32602, HTTP ${status})`,
        })
      }
    },
  )

  it('the text of a JSON-RPC error is also what stands beside its message', async () => {
    const body = { jsonrpc: '2.0', id: 1, error: { code: -32_602, message: 'no', details: { why: TEXT } } }
    const failure = await failing(({ response }) => json(response, body, {}, 422))
    expect(failure['message']).toContain(TEXT)
  })

  const bodies: [string, Record<string, string>, string, string][] = [
    ['plain text', { 'content-type': 'text/plain' }, TEXT, TEXT],
    ['no type', {}, TEXT, TEXT],
    [
      'a problem document',
      { 'content-type': 'application/problem+json' },
      JSON.stringify({ type: 'about:blank', title: 'Bad', detail: TEXT }),
      `Bad, ${TEXT}, type: about:blank`,
    ],
    [
      'a `detail` of FastAPI',
      JSON_TYPE,
      JSON.stringify({ detail: [{ loc: ['body', 'x'], msg: TEXT, type: 'missing' }] }),
      `${TEXT}, loc: body; x, type: missing`,
    ],
    [
      'messages in a list',
      JSON_TYPE,
      JSON.stringify({ statusCode: 1, message: [TEXT, 'b'] }),
      `${TEXT}; b, statusCode: 1`,
    ],
    ['an error of a web service', JSON_TYPE, JSON.stringify({ error: { code: 7, message: TEXT } }), `${TEXT}, code: 7`],
    [
      'a web page',
      { 'content-type': 'text/html' },
      `<!DOCTYPE html><head><style>p{}</style></head><p>${TEXT.replaceAll('"', '&quot;')}</p>`,
      TEXT,
    ],
    ['XML', { 'content-type': 'text/xml' }, `<s:Fault><detail>${TEXT}</detail></s:Fault>`, ` ${TEXT}`],
    ['a compressed text', { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, TEXT, TEXT],
  ]
  it.each(bodies)('the text of a failure reaches the caller as %s', async (_what, headers, body, words) => {
    for (const status of [400, 404, 418, 429, 500, 503]) {
      const failure = await failing(({ response }) =>
        response.writeHead(status, headers).end(headers['content-encoding'] ? gzipSync(body) : body),
      )
      expect(failure).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' })
      expect(failure['message']).toContain(`HTTP ${status})`.slice(0, -1))
      expect(failure['message']).toContain(words)
    }
  })

  it('the text of a failure is read in its charset, and from the status line where there is no body', async () => {
    const type = { 'content-type': 'text/plain; charset=iso-8859-1' }
    const german = await failing(({ response }) => response.writeHead(400, type).end(Buffer.from('Größe', 'latin1')))
    expect(german['message']).toContain('Größe')
    const quoted = await failing(({ response }) => response.writeHead(400).end(Buffer.from([0x93, 0xfc, 0x94])))
    expect(quoted['message']).toContain('“ü”')
    expect((await failing(({ response }) => response.writeHead(500, TEXT).end()))['message']).toContain(TEXT)
    expect((await failing(({ response }) => response.writeHead(500).end()))['message']).not.toContain('Internal')
  })

  it('the text of a failure is redacted', async () => {
    const server = await rawRemote(({ response }) => void response.writeHead(400).end('no user topsecret'))
    const failure: unknown = await call(open([remote('r', server.url, { 'x-key': 'topsecret' })])).catch(
      (e: unknown) => e,
    )
    expect(failure).toMatchObject({ message: expect.stringContaining('no user [redacted]') })
  })

  it('a failed start has the text as well, with 401 too', async () => {
    for (const status of [400, 401, 403, 500]) {
      const url = await listen((_request, response) => void response.writeHead(status).end('use the v2 address'))
      await expect(open([remote('r', url)]).listTools('r')).rejects.toThrow('use the v2 address')
    }
  })
})

describe('compressed responses', () => {
  const { zstdCompressSync: zstd } = zlib as { zstdCompressSync?: (text: string | Buffer) => Buffer }
  const encodings: [string, ((text: string) => Buffer) | undefined][] = [
    ['gzip', gzipSync],
    ['', gzipSync],
    ['zstd', zstd],
    ['gzip, zstd', zstd && ((text) => zstd(gzipSync(text)))],
    ['x-gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['gzip, br', (text) => brotliCompressSync(gzipSync(text))],
    ['gzip', (text) => gzipSync(gzipSync(text))],
    ...['gzip', 'br', 'deflate', 'zstd', 'lz4', 'utf-8'].map(
      (name) => [name, (text: string) => Buffer.from(text)] as [string, (text: string) => Buffer],
    ),
    ['', deflateSync],
    ['br', gzipSync],
    ['gzip', deflateSync],
  ]
  it.each(encodings)('a response with the encoding "%s" is read, also as events', async (encoding, encode) => {
    if (!encode) skip('only on Node 22.15 and newer, which have zstd')
    const server = await rawRemote(({ id, args, response }) => {
      const isEvent = args['text'] === 'event'
      const reply = result(id, 'gôt it')
      const header = encoding === '' ? {} : { 'content-encoding': encoding }
      response.writeHead(200, { ...(isEvent ? EVENTS : JSON_TYPE), ...header })
      const body = encode(isEvent ? event(reply) : JSON.stringify(reply))
      // In two pieces, as proxies cut it.
      response.write(body.subarray(0, 1), () => response.end(body.subarray(1)))
    })
    const upstreams = open([remote('r', server.url)])
    for (const how of ['json', 'event']) expect(textOf(await call(upstreams, how))).toBe('gôt it')
  })

  it('a compressed response has the limits of any other when it is unpacked', async () => {
    const megabytes: Record<string, number> = { small: 1, bomb: 80 }
    const block = gzipSync('x'.repeat(1_000_000))
    const server = await rawRemote(({ id, args, response }) => {
      const [head, tail] = JSON.stringify(result(id, '|'))
        .split('|')
        .map((part) => gzipSync(part))
      const blocks = Array<Buffer>(megabytes[String(args['text'])]!).fill(block)
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' })
      response.end(Buffer.concat([head!, ...blocks, tail!]))
    })
    const upstreams = open([remote('r', server.url)])
    expect(textOf(await call(upstreams, 'small'))).toHaveLength(1_000_000)
    await expect(call(upstreams, 'bomb')).rejects.toMatchObject({ code: 'FRAME_TOO_LARGE' })
  })
})

describe('replies in other forms', () => {
  const forms: [string, Record<string, string>, (reply: object) => string | Buffer][] = [
    ['as plain text', { 'content-type': 'text/plain' }, (reply) => JSON.stringify(reply)],
    ['without a type', {}, (reply) => JSON.stringify(reply)],
    ['as JSON-RPC', { 'content-type': 'application/json-rpc' }, (reply) => JSON.stringify(reply)],
    ['in UTF-16', JSON_TYPE, (reply) => Buffer.from(JSON.stringify(reply), 'utf16le')],
    [
      'in UTF-16 with a mark',
      JSON_TYPE,
      (reply) => Buffer.from(`\u{FEFF}${JSON.stringify(reply)}`, 'utf16le').swap16(),
    ],
    ['of two types', { 'content-type': 'application/json, text/plain' }, (reply) => JSON.stringify(reply)],
    ['of two types, as events', { 'content-type': 'application/json, text/event-stream' }, event],
    [
      'behind a warning of PHP',
      { 'content-type': 'text/html' },
      (reply) => `<br />\n<b>Warning</b>: x in y<br />${JSON.stringify(reply)}`,
    ],
    ['without an id', JSON_TYPE, (reply) => JSON.stringify({ ...reply, id: null })],
    ['as events of another type', JSON_TYPE, event],
    ['as JSON that is called events', EVENTS, (reply) => `${JSON.stringify(reply)}\n`],
    ['in an event without an end', EVENTS, (reply) => event(reply).trimEnd()],
    ['in an event of another name', EVENTS, (reply) => event(reply).replace('message', 'result')],
    ['in an event that is indented', EVENTS, (reply) => event(reply).replace('data', '  Data ')],
    ['as events in UTF-16', EVENTS, (reply) => Buffer.from(event(reply), 'utf16le')],
    ['as events in UTF-16 with a mark', EVENTS, (reply) => Buffer.from(`\u{FEFF}${event(reply)}`, 'utf16le').swap16()],
    [
      'as events in the charset of their type',
      { 'content-type': "text/event-stream; charset='iso-8859-1'" },
      (reply) => Buffer.from(event(reply), 'latin1'),
    ],
    ['with nulls beside it', EVENTS, (reply) => event({ ...reply, error: null, method: null })],
  ]
  it.each(forms)('a reply %s is read', async (_what, headers, form) => {
    const server = await rawRemote(({ id, response }) =>
      response.writeHead(200, headers).end(form(result(id, 'gôt it'))),
    )
    expect(textOf(await call(open([remote('r', server.url)])))).toBe('gôt it')
  })

  it.each([
    ['NaN in an event', EVENTS, event('{"jsonrpc":"2.0","id":$ID,"result":{"x":NaN}}'), 'which has no NaN: {"jsonrpc"'],
    ['a text in an event', EVENTS, event('something broke'), 'It had: something broke'],
    ['NaN', JSON_TYPE, '{"jsonrpc":"2.0","id":$ID,"result":{"x":NaN}}', 'which has no NaN: {"jsonrpc"'],
    [
      'its cancellation',
      JSON_TYPE,
      event({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: '$ID', reason: 'stop' } }),
      'it cancelled the request: stop',
    ],
    [
      'an unknown encoding',
      { 'content-encoding': 'lz4' },
      '\u0004"M\u0018',
      "encoded as 'lz4', which Node cannot read",
    ],
    ['nothing', JSON_TYPE, '', 'it is empty (HTTP 200)'],
    ['prose', { 'content-type': 'text/plain' }, 'come back later', 'it is not JSON: come back later'],
  ])('a call that is answered with %s fails at once, with the text quoted', async (_what, headers, body, words) => {
    const failure = await failing(({ id, response }) => {
      response.writeHead(200, headers)
      // A stream that stays open: nothing waits for its end.
      if (body.includes('$ID') && headers === EVENTS) return response.write(body.replace('$ID', String(id)))
      return response.end(body.replace('$ID', String(id)))
    })
    expect(failure).toMatchObject({ code: 'UPSTREAM_PROTOCOL', message: expect.stringContaining(words) })
  })

  it.each([
    ['a text', event({ error: 'disk full' })],
    ['null as its id', event({ jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'disk full' } })],
    [
      'a result beside it',
      event({ jsonrpc: '2.0', id: '$ID', result: {}, error: { code: -32_000, message: 'disk full' } }),
    ],
  ])('an error with %s is the error of its request', async (_what, body) => {
    const failure = await failing(({ id, response }) =>
      response.writeHead(200, EVENTS).end(body.replace('"$ID"', String(id))),
    )
    expect(failure).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('disk full') })
  })
})

it('a call that is accepted without a reply fails at once where the server has no stream for one', async () => {
  const failure = await failing(({ response }) => response.writeHead(202).end())
  expect(failure).toMatchObject({
    code: 'UPSTREAM_PROTOCOL',
    message: expect.stringContaining('it is empty (HTTP 202)'),
  })
})

it.each([
  ['ends at once', EVENTS, 'retry: 1\n\n'],
  ['is no stream', JSON_TYPE, '{"status":"ok"}'],
])('a stream of the server’s own messages that %s is not opened for ever', async (_what, headers, body) => {
  const server = await rawRemote(undefined, (request, response) => {
    if (request.method === 'GET') response.writeHead(200, headers).end(body)
    return request.method === 'GET'
  })
  expect(textOf(await call(open([remote('r', server.url)])))).toBe('x')
  const count = () => server.received.filter(({ method }) => method === 'GET').length
  const most = headers === EVENTS ? 5 : 1
  await expect.poll(count).toBe(most)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(count()).toBe(most)
})

it('a reply in an event without an end is read while the stream stays open', async () => {
  const server = await rawRemote(({ id, response }) => {
    response.writeHead(200, EVENTS)
    response.write(`data: ${JSON.stringify(result(id, 'gôt it'))}\n`)
  })
  expect(textOf(await call(open([remote('r', server.url)])))).toBe('gôt it')
})

it.each([
  ['without a space behind the colon', (reply: string) => `id:1\nevent:message\ndata:${reply}\n\n`],
  ['with CR LF', (reply: string) => `event: message\r\ndata: ${reply}\r\n\r\n`],
  ['over several data lines', (reply: string) => `data: ${reply.replace(',', ',\ndata: ')}\n\n`],
  ['between comments', (reply: string) => `: ping\n\n: ping\ndata: ${reply}\n\ndata: [DONE]\n\n`],
])('a reply in an event %s is read', async (_what, form) => {
  const server = await rawRemote(({ id, response }) =>
    response.writeHead(200, EVENTS).end(form(JSON.stringify(result(id, 'gôt it')))),
  )
  expect(textOf(await call(open([remote('r', server.url)])))).toBe('gôt it')
})

describe('a reply with an id of no request', () => {
  it.each([
    ['JSON', JSON_TYPE, (reply: object) => JSON.stringify(reply)],
    ['an event of a stream that ends', EVENTS, event],
  ])('ends the call as %s, with the reply quoted', async (_what, headers, form) => {
    for (const wrong of [77, 'call-1', '77', [5], 0.5]) {
      const failure = await failing(({ response }) =>
        response.writeHead(200, headers).end(form({ ...result(0, 'gôt it'), id: wrong })),
      )
      expect(failure).toMatchObject({
        code: 'UPSTREAM_PROTOCOL',
        message: expect.stringContaining('no request has its'),
      })
    }
  })

  it('ends the call in a stream that stays open, too, unless the reply follows', async () => {
    const server = await rawRemote(({ id, args, response }) => {
      response.writeHead(200, EVENTS).write(event({ ...result(0, 'other'), id: 'x' }))
      if (args['text'] === 'both') response.write(event(result(id, 'gôt it')))
    })
    const upstreams = open([remote('r', server.url)])
    expect(textOf(await call(upstreams, 'both'))).toBe('gôt it')
    await expect(call(upstreams, 'one')).rejects.toThrow('no request has its id: {"jsonrpc"')
  })

  it('is a late one where it had one: a body with it ends the call, and a stream goes on', async () => {
    const server = await rawRemote(({ id, args, response }) => {
      if (args['text'] === 'body') return json(response, result(0, 'late'))
      return response.writeHead(200, EVENTS).end(event(result(0, 'late')) + event(result(id, 'gôt it')))
    })
    const upstreams = open([remote('r', server.url)])
    expect(textOf(await call(upstreams, 'stream'))).toBe('gôt it')
    await expect(call(upstreams, 'body')).rejects.toThrow('no request has its id')
  })
})

it.each([204, 301, 400, 401, 404, 405, 429, 500, 501])(
  'a server that answers notifications with HTTP %d works',
  async (status) => {
    const server = await rawRemote(undefined, (_request, response, message) => {
      if (message?.id !== undefined || !message?.method) return false
      response
        .writeHead(status, JSON_TYPE)
        .end(status === 204 ? '' : JSON.stringify(error(null, -32_601, 'Method not found')))
      return true
    })
    expect(textOf(await call(open([remote('r', server.url)]), 'hello'))).toBe('hello')
  },
)

it('a server that hangs up on a notification works', async () => {
  const server = await rawRemote(undefined, (request, _response, message) => {
    if (message?.method !== 'notifications/initialized') return false
    return Boolean(request.socket.destroy())
  })
  expect(textOf(await call(open([remote('r', server.url)]), 'hello'))).toBe('hello')
})

it('a server that hangs up on each second request of a connection, whatever it says of the connection, works', async () => {
  const served = new WeakSet()
  const server = await rawRemote(undefined, (request, response) => {
    if (served.has(request.socket)) return Boolean(request.socket.destroy())
    served.add(request.socket)
    // Python's server closes a connection when it is asked to, and does not say so.
    response.shouldKeepAlive = true
    return false
  })
  const upstreams = open([remote('r', server.url)])
  const texts = ['a', 'b', 'c', 'd']
  expect((await Promise.all(texts.map((text) => call(upstreams, text)))).map(textOf)).toEqual(texts)
  for (const text of texts) expect(textOf(await call(upstreams, text))).toBe(text)
})

it('a server that never answers a notification works', { tags: ['whole'] }, async () => {
  const server = await rawRemote(
    undefined,
    (_request, _response, message) => message?.method === 'notifications/initialized',
  )
  expect(textOf(await call(open([remote('r', server.url)]), 'hello'))).toBe('hello')
})

describe('a session that the server no longer knows', () => {
  type Say = (response: ServerResponse, id: number) => unknown
  const says: [string, Say, boolean][] = [
    ['404', (response) => response.writeHead(404).end(), true],
    ['410', (response) => json(response, { error: 'gone' }, {}, 410), true],
    [
      '400, not initialized',
      (response) => json(response, error(null, -32_000, 'Bad Request: Server not initialized'), {}, 400),
      true,
    ],
    ['400 in plain text', (response) => response.writeHead(400).end('No valid session ID provided'), true],
    ['400 without a word', (response) => response.writeHead(400).end(), true],
    ['403', (response) => json(response, { error: 'session expired' }, {}, 403), true],
    ['500', (response) => json(response, error(null, -32_603, 'Session not found'), {}, 500), true],
    ['500 without a word', (response) => response.writeHead(500).end(), false],
    ['200 with an error', (response, id) => json(response, error(id, -32_001, 'Session not found')), true],
    [
      '200 with an event',
      (response) => response.writeHead(200, EVENTS).end(event({ error: 'Session not found' })),
      true,
    ],
    ['401', (response) => response.writeHead(401).end('Unauthorized: Session not found'), true],
    ['503', (response) => json(response, { error: 'Unknown or expired mcp-session-id' }, {}, 503), true],
    ['200 with nothing', (response) => response.writeHead(200, JSON_TYPE).end(), false],
    ['200 with a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hi'), false],
    ['200 with prose', (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('no session'), true],
    ['an event of no message', (response) => response.writeHead(200, EVENTS).end(event('reconnect')), false],
    ['200 in its own words', (response, id) => json(response, error(id, -32_000, 'Client not found')), false],
    [
      '200 before initialization',
      (response, id) => json(response, error(id, -32_602, 'Invalid request parameters')),
      true,
    ],
  ]
  it.each(says)('is found out when it says %s', async (_what, say, isRepeated) => {
    const calls: unknown[] = []
    const server = await rawRemote(
      ({ id, args, response }) => {
        calls.push(args['text'])
        json(response, result(id, 'ok'))
      },
      (request: IncomingMessage, response, message) => {
        const session = request.headers['mcp-session-id']
        if (request.method !== 'POST' || typeof session !== 'string' || server.sessions.has(session)) return false
        say(response, message!.id)
        return true
      },
    )
    const upstreams = open([remote('r', server.url)])
    await call(upstreams, 'a')
    server.sessions.clear()
    const second = await call(upstreams, 'b').then(textOf, () => 'failed')
    expect(second).toBe(isRepeated ? 'ok' : 'failed')
    expect(textOf(await call(upstreams, 'c'))).toBe('ok')
    expect(calls).toEqual(isRepeated ? ['a', 'b', 'c'] : ['a', 'c'])
    expect(server.received.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(2)
  })

  it('is no failure of a call that hears of it after another one has begun a new session', async () => {
    const late: ServerResponse[] = []
    const server = await rawRemote(undefined, (request, response, message) => {
      if (message?.method === 'initialize') for (const one of late) one.writeHead(409).end()
      const session = request.headers['mcp-session-id']
      if (typeof session !== 'string' || server.sessions.has(session)) return false
      if (message?.params?.arguments?.text === 'late') late.push(response)
      else response.writeHead(409).end()
      return true
    })
    const upstreams = open([remote('r', server.url)])
    await call(upstreams, 'a')
    server.sessions.clear()
    const both = await Promise.all([call(upstreams, 'late'), call(upstreams, 'b')])
    expect(both.map(textOf)).toEqual(['late', 'b'])
  })

  it.each([
    ['an error of its own', (id: number) => error(id, -32_000, 'Client not found'), 200],
    ['an error that names a session', (id: number) => error(id, -32_602, 'Browser session not found'), 200],
    ['a refusal', () => ({ detail: 'no' }), 403],
    ['a failure', () => ({ detail: 'no' }), 500],
  ])(
    'is not supposed after %s of one tool: the session stays, and the call is made once',
    async (_what, body, status) => {
      let count = 0
      const server = await rawRemote(({ id, args, response }) => {
        count += 1
        json(response, args['text'] === 'bad' ? body(id) : result(id, 'ok'), {}, args['text'] === 'bad' ? status : 200)
      })
      const upstreams = open([remote('r', server.url)])
      await expect(call(upstreams, 'bad')).rejects.toThrow()
      expect(textOf(await call(upstreams))).toBe('ok')
      expect(count).toBe(2)
      expect(server.received.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(1)
    },
  )
})

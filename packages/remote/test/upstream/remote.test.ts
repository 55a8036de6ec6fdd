import { spawn } from 'node:child_process'
import type { ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { expect, it, onTestFinished, vi } from 'vitest'
import { freePort } from '@sandbridge/core/test/support/machine/free-port.ts'
import {
  bodyOf,
  json,
  listen,
  passOn,
  rawRemote,
  remote,
  result,
} from '@sandbridge/core/test/support/servers/remote-server.ts'
import { open, textOf, until } from '@sandbridge/core/test/upstream/support.ts'

const echo = (upstreams: ReturnType<typeof open>, text: string) => upstreams.callTool('r', 'echo', { text })

/** A server made with the MCP server package, which supports both eras. */
async function bothEras(
  legacy: 'stateless' | 'reject',
): Promise<{ url: string; changed: { tools: () => void; offerings: () => void } }> {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'both', version: '1' }, { instructions: 'speaks both' })
      const inputSchema = fromJsonSchema<{ text: string; region?: string }>({
        type: 'object',
        properties: { text: { type: 'string' }, region: { type: 'string', 'x-mcp-header': 'Region' } },
      } as never)
      server.registerTool('echo', { inputSchema }, ({ text }) => ({ content: [{ type: 'text', text }] }))
      server.registerResource('one', 'own://one', {}, ({ href: uri }) => ({ contents: [{ uri, text: '1' }] }))
      server.registerPrompt('greet', {}, () => ({ messages: [] }))
      server.registerTool('slow', { inputSchema }, async (_args, context) => {
        await new Promise((resolve) => context.mcpReq.signal.addEventListener('abort', resolve))
        aborted += 1
        return { content: [] }
      })
      return server
    },
    { legacy },
  )
  const url = await listen(async (request, response) => {
    const body = await bodyOf(request)
    const abort = new AbortController()
    response.on('close', () => abort.abort())
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method!,
        headers: request.headers as Record<string, string>,
        signal: abort.signal,
        ...(body && { body }),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.flushHeaders()
    for await (const chunk of answer.body ?? []) response.write(chunk)
    response.end()
  })
  const { notify } = handler
  const offerings = () => {
    notify.resourcesChanged()
    notify.promptsChanged()
  }
  return { url, changed: { tools: () => notify.toolsChanged(), offerings } }
}

let aborted = 0

/** The reference server "everything" over HTTP, in a separate process. */
async function everythingOver(mode: 'streamableHttp' | 'sse'): Promise<string> {
  const require = createRequire(import.meta.url)
  const program = require.resolve('@modelcontextprotocol/server-everything/dist/index.js')
  // It cannot choose a port itself, so a free one is chosen for it.
  const port = await freePort()
  const child = spawn(process.execPath, [program, mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      if (chunk.includes(String(port))) resolve()
    }
    child.stdout.on('data', onData)
    child.stderr.on('data', onData)
    child.once('exit', (code) => reject(new Error(`the server exited with code ${code}`)))
  })
  return `http://127.0.0.1:${port}`
}

it.each([
  ['streamableHttp', '/mcp', 'http'],
  ['sse', '/sse', 'sse'],
  ['sse', '/sse', 'http'],
  ['streamableHttp', '/mcp', 'sse'],
] as const)(
  'the published server "everything" over %s is reached at %s when the definition says %s',
  async (mode, path, type) => {
    const url = await everythingOver(mode)
    const upstreams = open([remote('r', url + path, {}, type)])
    const progress: number[] = []
    expect(textOf(await upstreams.callTool('r', 'get-sum', { a: 2, b: 3 }))).toContain('5')
    await upstreams.callTool(
      'r',
      'trigger-long-running-operation',
      { duration: 0.2, steps: 4 },
      { onProgress: (step) => progress.push(step.progress) },
    )
    expect(progress).toEqual([1, 2, 3, 4])
    expect((await upstreams.listTools('r')).length).toBeGreaterThan(10)
    expect(upstreams.logged.join('')).toContain('era="legacy"')
  },
)

it.each(['stateless', 'reject'] as const)(
  'a server that supports 2026-07-28 is used in that revision (legacy: %s)',
  async (legacy) => {
    const upstreams = open([remote('r', (await bothEras(legacy)).url)])
    expect(textOf(await echo(upstreams, 'hi'))).toBe('hi')
    expect(upstreams.of('r').instructions).toBe('speaks both')
    expect(upstreams.logged.join('')).toContain('era="modern"')
    // This tool's definition requires one parameter to be repeated in a header.
    expect(textOf(await upstreams.callTool('r', 'echo', { text: 'hi', region: 'eu' }))).toBe('hi')
  },
)

it('an aborted call is cancelled at a 2026-07-28 server', async () => {
  const upstreams = open([remote('r', (await bothEras('stateless')).url)])
  await upstreams.listTools('r')
  const before = aborted
  const abort = new AbortController()
  const call = upstreams.callTool('r', 'slow', { text: '' }, { signal: abort.signal })
  setTimeout(() => abort.abort(), 50)
  await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
  await until(() => aborted > before)
})

it('a 2026-07-28 server’s notification of changed tools, resources and prompts is received', async () => {
  const { url, changed } = await bothEras('reject')
  const upstreams = open([remote('r', url)])
  let count = 0
  const offered: string[] = []
  upstreams.listen({ onTools: () => (count += 1), onOfferings: (server) => offered.push(server) })
  await upstreams.listTools('r')
  // Announcements before the subscription is established are lost, so repeat until one arrives.
  await until(() => {
    changed.tools()
    return count >= 2
  })
  await until(() => {
    changed.offerings()
    return offered.length > 0
  })
})

it.each<[string, (response: ServerResponse) => unknown]>([
  ['HTTP 500', (response) => response.writeHead(500).end()],
  ['HTTP 501', (response) => response.writeHead(501).end()],
  ['HTTP 403', (response) => response.writeHead(403).end()],
  ['a reply of an unknown type', (response) => response.end('OK')],
  ['a reply that is not JSON-RPC', (response) => json(response, { error: 'no session' })],
  ['the end of the connection', (response) => response.destroy()],
  ['nothing', () => {}],
])('an older server that answers a request before `initialize` with %s is used, and remembered', async (_, answer) => {
  const server = await rawRemote(undefined, (_request, response) => {
    if (server.received.at(-1)!.rpc !== 'server/discover') return false
    answer(response)
    return true
  })
  const upstreams = open([remote('r', server.url)])
  expect(textOf(await echo(upstreams, 'a'))).toBe('a')
  server.sessions.clear()
  server.received.length = 0
  expect(textOf(await echo(upstreams, 'b'))).toBe('b')
  const asked = server.received.map(({ rpc }) => rpc).filter(Boolean)
  expect(asked).toEqual(['tools/call', 'initialize', 'notifications/initialized', 'tools/call'])
})

it(
  'a 2026-07-28 server that is slow to answer for the first time is used, whatever it answers to initialize',
  { tags: ['whole'] },
  async () => {
    const { url } = await bothEras('reject')
    const answers = [undefined, { protocolVersion: '2026-07-28', capabilities: {} }, { capabilities: {} }]
    const used = answers.map(async (answer) => {
      let isFirst = true
      const slow = await listen(async (request, response) => {
        const body = await bodyOf(request)
        if (isFirst) isFirst = false
        else if (answer && body.includes('"initialize"'))
          json(response, { jsonrpc: '2.0', id: (JSON.parse(body) as { id: number }).id, result: answer })
        // The server breaks off its notifications when the test ends.
        else await passOn(request, response, url, body).catch(() => {})
      })
      const upstreams = open([remote('r', `${slow}/mcp`)])
      return [textOf(await echo(upstreams, 'hi')), upstreams.logged.join('').includes('era="modern"')]
    })
    expect(await Promise.all(used)).toEqual(answers.map(() => ['hi', true]))
  },
)

it.each([
  [401, 'UPSTREAM_AUTH_REQUIRED', 'requires authentication'],
  [429, 'UPSTREAM_UNREACHABLE', 'too many requests'],
  [503, 'UPSTREAM_UNREACHABLE', 'failed with HTTP 503'],
])('a server that answers with HTTP %s at the start is asked once', async (status, code, text) => {
  const server = await rawRemote(undefined, (_request, response) => {
    response.writeHead(status).end()
    return true
  })
  const message = expect.stringContaining(text)
  await expect(echo(open([remote('r', server.url)]), 'a')).rejects.toMatchObject({ code, message })
  expect(server.received).toHaveLength(1)
})

it('a server that resets every connection gets one request at a start, after the first, until it is back', async () => {
  let isDown = true
  const server = await rawRemote(undefined, (request) => {
    if (isDown) request.socket.resetAndDestroy()
    return isDown
  })
  const upstreams = open([remote('r', server.url)])
  for (const total of [2, 3]) {
    await expect(echo(upstreams, 'a')).rejects.toMatchObject({ message: expect.stringContaining('was reset') })
    expect(server.received).toHaveLength(total)
  }
  isDown = false
  expect(textOf(await echo(upstreams, 'b'))).toBe('b')
})

it('the negotiated revision of a remote server is remembered: the second connection requests nothing twice', async () => {
  const server = await rawRemote()
  const upstreams = open([remote('r', server.url)])
  await echo(upstreams, 'a')
  expect(server.received.map(({ rpc }) => rpc)).toContain('server/discover')
  server.sessions.clear()
  server.received.length = 0
  expect(textOf(await echo(upstreams, 'b'))).toBe('b')
  const asked = server.received.map(({ rpc }) => rpc).filter(Boolean)
  expect(asked).toEqual(['tools/call', 'initialize', 'notifications/initialized', 'tools/call'])
})

const NAMED = ['2025-06-18', '2024-11-05']

it.each([
  ['in words with HTTP 400', 400, { code: -32_000, message: `Unsupported protocol version (${NAMED.join(', ')})` }],
  ['in data', 200, { code: -32_602, message: 'Unsupported protocol version', data: { supported: NAMED } }],
])('a server that refuses the newest revision and names others %s gets the newest of these', async (_, status, no) => {
  const offered: string[] = []
  const server = await rawRemote(undefined, (_request, response, message) => {
    if (message?.method !== 'initialize') return false
    const { protocolVersion } = message.params
    offered.push(protocolVersion)
    if (NAMED.includes(protocolVersion)) return false
    json(response, { jsonrpc: '2.0', id: message.id, error: no }, {}, status)
    return true
  })
  expect(textOf(await echo(open([remote('r', server.url)]), 'hi'))).toBe('hi')
  expect(offered).toEqual(['2025-11-25', '2025-06-18'])
})

it('requests carry the headers of the definition, and follow redirects within the origin only', async () => {
  const server = await rawRemote()
  const elsewhere = await rawRemote()
  const front = await listen((request, response) => {
    const to = request.url === '/same' ? '/moved' : elsewhere.url
    return request.url === '/moved'
      ? passOn(request, response, server.url)
      : response.writeHead(307, { location: to }).end()
  })
  const headers = { Authorization: 'Bearer s3cr3t-token', 'X-Team': 'blue' }
  const upstreams = open([remote('r', `${front}/same`, headers), remote('other', `${front}/other`, headers)])
  expect(textOf(await echo(upstreams, 'hi'))).toBe('hi')
  expect(server.received.at(-1)!.headers).toMatchObject({ authorization: 'Bearer s3cr3t-token', 'x-team': 'blue' })

  const failure = await upstreams.listTools('other').catch((reason: unknown) => reason)
  expect(failure).toMatchObject({
    code: 'UPSTREAM_UNREACHABLE',
    message: expect.stringContaining(`put it into its entry as the url: ${elsewhere.url}`),
  })
  expect(elsewhere.received).toEqual([])
  expect(JSON.stringify([failure, upstreams.logged])).not.toContain('s3cr3t')
})

it('a connection that its server keeps for one second only is not used again', async () => {
  const server = await rawRemote((call) => {
    const { id, response } = call
    response.setHeader('keep-alive', 'timeout=1')
    json(response, result(id, String(call.request.socket.remotePort)))
  })
  const upstreams = open([remote('r', server.url)])
  const [first, second] = [await echo(upstreams, 'a'), await echo(upstreams, 'b')].map(textOf)
  expect(first).not.toBe(second)
})

it('requests reach a server that closes each connection when it is used again, and calls are made once', async () => {
  const used = new WeakSet<object>()
  let calls = 0
  const server = await rawRemote(
    ({ id, response }) => json(response, result(id, String((calls += 1)))),
    (request) => {
      const isAgain = used.has(request.socket)
      used.add(request.socket)
      if (isAgain) request.socket.destroy()
      return isAgain
    },
  )
  const upstreams = open([remote('r', server.url)])
  for (const count of ['1', '2', '3']) expect(textOf(await echo(upstreams, 'hi'))).toBe(count)
})

it('link-local and metadata addresses are not dialled', async () => {
  const { assertHostAllowed } = await import('../../src/address-guard.ts')
  const hosts = [
    '169.254.169.254',
    '[fe80::1]',
    '[::ffff:169.254.169.254]',
    '100.100.100.200',
    '[fd00:ec2::254]',
    '[64:ff9b::a9fe:a9fe]',
  ]
  for (const host of hosts) {
    expect(() => assertHostAllowed(host), host).toThrow('link-local')
    const upstreams = open([remote('r', `http://${host}/mcp`)])
    await expect(upstreams.listTools('r')).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      message: expect.stringContaining('link-local or serves cloud metadata'),
    })
  }
  for (const host of ['127.0.0.1', '10.0.0.1', '[::1]', 'example.com', '169.253.1.1']) assertHostAllowed(host)
})

it('a name that resolves to a link-local or metadata address is not dialled, except when that is allowed', async () => {
  const { guardedLookup } = await import('../../src/address-guard.ts')
  const resolve = (host: string) =>
    new Promise((done) => guardedLookup(host, { all: true }, (failure, addresses) => done(failure ?? addresses)))
  // Names that are addresses resolve to themselves, so no name server is needed.
  expect(await resolve('169.254.169.254')).toMatchObject({ code: 'ERR_UPSTREAM_ADDRESS_REFUSED' })
  expect(await resolve('127.0.0.1')).toEqual([{ address: '127.0.0.1', family: 4 }])
  const { createHttpFetch } = await import('../../src/http-fetch.ts')
  const abort = AbortSignal.timeout(300)
  const http = createHttpFetch({ allowLinkLocal: true, env: {} })
  const outcome = await http
    .fetch('http://169.254.169.254/', { signal: abort })
    .catch((reason: NodeJS.ErrnoException) => reason.code)
  expect(outcome).not.toBe('ERR_UPSTREAM_ADDRESS_REFUSED')
})

it('requests go through the proxy that the environment names', async () => {
  const server = await rawRemote()
  const seen: string[] = []
  const proxy = await listen((request, response) => {
    seen.push(`${request.headers['proxy-authorization']} ${request.url}`)
    return passOn(request, response, server.url)
  })
  const env = { http_proxy: proxy.replace('://', '://user:pw@'), NO_PROXY: 'direct.example' }
  const upstreams = open([remote('r', 'http://mcp.example/mcp')], { env })
  expect(textOf(await echo(upstreams, 'hi'))).toBe('hi')
  expect(new Set(seen)).toEqual(new Set(['Basic dXNlcjpwdw== http://mcp.example/mcp']))
})

it('a silent connection is pinged after five minutes, and given up when it is dead', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let isGone = false
  const server = await rawRemote(undefined, (_request, response) => {
    if (isGone) response.destroy()
    return isGone
  })
  const upstreams = open([remote('r', server.url)])
  const heard = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve))
  }
  const pings = () => server.received.filter(({ rpc }) => rpc === 'ping').length
  await echo(upstreams, 'x')
  vi.advanceTimersByTime(5 * 60_000)
  await heard(() => pings() === 1)
  await echo(upstreams, 'y')
  expect(upstreams.of('r').state).toBe('running')
  isGone = true
  vi.advanceTimersByTime(5 * 60_000)
  await heard(() => upstreams.of('r').state === 'not-started')
  expect(pings()).toBeGreaterThan(1)
})

it('a dead server is tried at most 30 times in an hour, however often it is used, and again once it is back', async () => {
  let requestCount = 0
  let isBack = false
  const server = await rawRemote(undefined, (_request, response) => {
    requestCount += 1
    if (!isBack) response.writeHead(502).end()
    return !isBack
  })
  let now = 0
  const upstreams = open([remote('r', server.url)], { now: () => now, random: () => 0 })
  const errors = new Set<string>()
  for (; now < 3_600_000; now += 5_000) {
    const failure = await echo(upstreams, 'x').catch((reason: { code: string }) => reason)
    errors.add((failure as { code: string }).code)
  }
  expect(errors).toEqual(new Set(['UPSTREAM_UNREACHABLE']))
  expect(requestCount).toBeGreaterThan(5)
  expect(requestCount).toBeLessThanOrEqual(30)
  isBack = true
  now += 3_600_000
  expect(textOf(await echo(upstreams, 'back'))).toBe('back')
})

it('a dead server that sends Retry-After is left alone for that time, and the error says so', async () => {
  let busy = true
  const server = await rawRemote(({ id, response }) => {
    if (busy) response.writeHead(429, { 'retry-after': '30' }).end()
    else json(response, result(id, 'ok'))
  })
  let now = 0
  const upstreams = open([remote('r', server.url)], { now: () => now })
  await expect(echo(upstreams, 'x')).rejects.toThrow('HTTP 429')
  const before = server.received.length
  busy = false
  now = 29_000
  await expect(echo(upstreams, 'x')).rejects.toThrow("Server 'r' is paused for 1 s after repeated failures. Last one:")
  expect(server.received).toHaveLength(before)
  now = 30_001
  expect(textOf(await echo(upstreams, 'x'))).toBe('ok')
})

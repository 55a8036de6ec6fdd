// This file verifies what one client can use up, and what it leaves behind.
import { spawn } from 'node:child_process'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HEADERS, INITIALIZE, openSocket, TOKEN, useHttpBridge } from '../test/support/raw-http.ts'
import { message } from '@sandbridge/core/test/support/bridges/raw-request.ts'
import { NamedTokens } from './access/named-tokens.ts'

const { serve, bridge } = useHttpBridge()

it('a request body is limited to an exact number of bytes', async () => {
  const { status } = await serve({ bodyBytes: 10_000 })
  const padded = (length: number) => INITIALIZE + ' '.repeat(length - INITIALIZE.length)
  expect(await status({ body: padded(10_000) })).toBe(200)
  expect(await status({ body: padded(10_001) })).toBe(413)
  const chunked = { 'transfer-encoding': 'chunked' }
  expect(await status({ body: padded(10_000), headers: chunked })).toBe(200)
  expect(await status({ body: padded(10_001), headers: chunked })).toBe(413)
  expect(await status({ body: padded(2_000_000), headers: chunked })).toBe(413)
})

it('a request body is limited in its parts, which take time, and one that is nested too deeply is no error of the bridge', async () => {
  const { status } = await serve()
  const withExtra = (extra: string) => INITIALIZE.replace('"params":{', `"params":{"_meta":{"x":${extra}},`)
  expect(await status({ body: withExtra(`[${'1,'.repeat(90_000)}1]`) })).toBe(200)
  expect(await status({ body: withExtra(`[${'1,'.repeat(110_000)}1]`) })).toBe(413)
  expect(await status({ body: withExtra(`"${'[,]'.repeat(110_000)}"`) })).toBe(200)
  expect(await status({ body: '['.repeat(2_000_000) })).toBe(413)
})

it.each([{}, { 'transfer-encoding': 'chunked' }])(
  'a refusal reaches a client that is still sending, and closes its connection: %j',
  async (headers) => {
    const { status } = await serve({ bodyBytes: 10_000 })
    const body = ' '.repeat(5_000_000)
    for (let round = 0; round < 8; round += 1) {
      expect(await status({ body, headers: { connection: 'close', ...headers } })).toBe(413)
      expect(await status({ body, headers: { authorization: '', ...headers } })).toBe(401)
    }
  },
)

it('two hundred clients with the token can connect at the same moment', async () => {
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

it('a connection stays open between two requests for as long as a client may read slowly', async () => {
  const { send } = await serve()
  const ping = { method: 'PUT', headers: { connection: 'keep-alive' } }
  expect((await send(ping)).headers['keep-alive']).toBe('timeout=60')
})

it('strangers with more connections than there may be lock out no client with the token', async () => {
  // A tenth of the real limits: a process may have only 1,024 descriptors, and here both ends take one.
  const limits = { connections: 51, strangers: 6, newcomers: 51 }
  const { port, status, send } = await serve(limits)
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
    Array.from({ length: 56 }, (_, index) => openSocket(port, beginnings[index % 3]!)),
  )
  for (const socket of strangers) socket.resume()
  for (let attempt = 0; attempt < 20; attempt += 1) expect(await status()).toBe(200)
  const open = () => strangers.filter((socket) => !socket.closed).length
  while (open() > limits.strangers) await new Promise((resolve) => setTimeout(resolve, 10))
  // Control: there is room, and the earlier connections are still open.
  expect(open()).toBeGreaterThan(0)
  expect(listening.statusCode).toBe(200)
  expect(listening.closed).toBe(false)
})

it('the connection of a stranger is closed, whatever it sends', async () => {
  const { port, status } = await serve({ strangerMs: 200 })
  const socket = await openSocket(port, 'POST /mcp HTTP/1.1\r\n')
  const timer = setInterval(() => socket.write('X-Slow: 1\r\n'), 20)
  await new Promise((resolve) => socket.resume().once('close', resolve))
  clearInterval(timer)
  // A slow machine does not send the token within that time at once.
  await expect.poll(() => status()).toBe(200)
})

it('a request that does not arrive completely is given up', async () => {
  const { port, status } = await serve({ requestMs: 300 })
  const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n`
  const beginnings = ['', 'POST /mcp', head, `${head}Content-Length: 100\r\n\r\n{`]
  const sockets = await Promise.all(beginnings.slice(1).map((beginning) => openSocket(port, beginning)))
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve))))
  await expect.poll(() => status()).toBe(200)
})

describe('one user cannot take up the places of others', () => {
  /** Opens connections of another user than that of `serve`'s requests, each with the same first bytes. */
  async function flood(port: number, count: number, beginningFor: (token: string) => string): Promise<() => number> {
    const names = new NamedTokens(bridge().stores.of(undefined))
    const token = await names.create('ann')
    onTestFinished(() => names.revoke('ann'))
    let answered = 0
    for (let opened = 0; opened < count; opened += 1) {
      const socket = await openSocket(port, beginningFor(token))
      socket.once('data', () => (answered += 1))
    }
    return () => answered
  }

  it('with requests that never arrive completely', async () => {
    const { port, status } = await serve({ openRequests: 10 })
    const answered = await flood(
      port,
      30,
      (token) =>
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\n{`,
    )
    await expect.poll(answered).toBeGreaterThanOrEqual(20)
    for (let attempt = 0; attempt < 5; attempt += 1) expect(await status()).toBe(200)
  })

  it('with connections that stay open', async () => {
    const { port, status } = await serve({ connections: 10 })
    const answered = await flood(
      port,
      20,
      (token) => `PUT /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    )
    await expect.poll(answered).toBe(20)
    for (let attempt = 0; attempt < 5; attempt += 1) expect(await status()).toBe(200)
  })
})

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

it('the session of an older client that disappears ends soon after its stream has closed', async () => {
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

it('the sessions of fifty older clients that disappear are ended', async () => {
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

it('the session of an older client stays while its stream is open, and where it never had one', async () => {
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

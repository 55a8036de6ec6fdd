// @module-tag whole: it waits for servers to come back
// This file verifies what counts as an outage of a remote server, how long it has consequences, and that no call is
// made twice.
import { expect, it } from 'vitest'
import { type Call, json, rawRemote, remote, result } from '../support/servers/remote-server.ts'
import { open, textOf, until, type TestUpstreams } from './support.ts'

const call = (upstreams: TestUpstreams, tool = 'echo') => upstreams.callTool('r', tool, {})

/** 'ok', or the error message of a call. */
const outcome = (upstreams: TestUpstreams, tool?: string): Promise<string> =>
  call(upstreams, tool).then(textOf, (error: Error) => error.message)

const ok = ({ id, response }: Call): void => json(response, result(id, 'ok'))

it('occasional failures cost one call each, however long the connection lives', async () => {
  let count = 0
  const server = await rawRemote((made) => {
    count += 1
    if (count % 10 === 0) made.response.writeHead(500).end()
    else ok(made)
  })
  const upstreams = open([remote('r', server.url)], { now: () => 0 })
  const outcomes: string[] = []
  for (let i = 0; i < 100; i += 1) outcomes.push(await outcome(upstreams))
  expect(outcomes.filter((text) => text === 'ok')).toHaveLength(90)
})

it('calls that fail together are one failure', async () => {
  let isWell = true
  const waiting: Call[] = []
  const server = await rawRemote((made) => {
    if (isWell) ok(made)
    else waiting.push(made)
  })
  const upstreams = open([remote('r', server.url)], { now: () => 0 })
  await call(upstreams)
  isWell = false
  const calls = Array.from({ length: 20 }, () => outcome(upstreams))
  await until(() => waiting.length === 20)
  for (const { response } of waiting) response.writeHead(502).end()
  expect(new Set(await Promise.all(calls))).toEqual(
    new Set([
      "Server 'r' failed during the call of 'echo', which may or may not have taken effect: it failed with HTTP 502",
    ]),
  )
  isWell = true
  expect(await outcome(upstreams)).toBe('ok')
})

it('after the wait of an outage one call is let through, and the others get its outcome', async () => {
  let now = 0
  let isWell = false
  let requestCount = 0
  const server = await rawRemote((made) => {
    requestCount += 1
    if (isWell) ok(made)
    else made.response.writeHead(503).end()
  })
  const upstreams = open([remote('r', server.url)], { now: () => now })
  for (let i = 0; i < 6; i += 1) {
    await outcome(upstreams)
    now += 100_000
  }
  const together = () => Promise.all(Array.from({ length: 40 }, () => outcome(upstreams)))
  const failed = await together()
  expect(requestCount).toBe(7)
  expect(failed.filter((text) => text.includes('is paused for'))).toHaveLength(39)
  isWell = true
  now += 100_000
  expect(new Set(await together())).toEqual(new Set(['ok']))
})

it('an error that a server returns does not count as an outage, and its hint is not that of a local program', async () => {
  const server = await rawRemote((made) => {
    if (made.name === 'echo') ok(made)
    else made.response.writeHead(Number(made.name)).end()
  })
  const upstreams = open([remote('r', server.url)], { now: () => 0 })
  for (const status of ['403', '413', '403', '409', '413']) {
    const hint = 'Correct the call, or ask the user to check the server.'
    await expect(call(upstreams, status)).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE', hint })
  }
  expect(await outcome(upstreams)).toBe('ok')
  const hint = 'The next use tries again.'
  for (const status of ['500', '501', '500', '500', '505']) {
    await expect(call(upstreams, status)).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE', hint })
  }
  expect(await outcome(upstreams)).toBe('ok')
  for (const status of ['502', '503', '504']) {
    await expect(call(upstreams, status)).rejects.toMatchObject({ code: 'UPSTREAM_UNREACHABLE', hint })
  }
  expect(await outcome(upstreams)).toContain('is paused for')
})

it.each([
  ['of an unknown type', 'UPSTREAM_PROTOCOL', { 'content-type': 'text/plain' }, 'ok'],
  ['without a type', 'UPSTREAM_PROTOCOL', {}, ''],
  ['that is a web page', 'UPSTREAM_UNREACHABLE', { 'content-type': 'text/html' }, '<p>'],
  ['that does not parse', 'UPSTREAM_PROTOCOL', { 'content-type': 'application/json' }, '{"a":'],
  ['that is not JSON-RPC', 'UPSTREAM_PROTOCOL', { 'content-type': 'application/json' }, '{"a":1}'],
])('a tool with a reply %s fails its own calls and no others', async (_what, code, headers, body) => {
  const server = await rawRemote((made) => {
    if (made.name === 'echo') ok(made)
    else made.response.writeHead(200, headers).end(body)
  })
  const upstreams = open([remote('r', server.url)], { now: () => 0 })
  for (let i = 0; i < 5; i += 1) await expect(call(upstreams, 'bad')).rejects.toMatchObject({ code })
  expect(await outcome(upstreams)).toBe('ok')
})

it('a tool list is read from memory: it needs no server, and says nothing of an outage', async () => {
  const server = await rawRemote(({ response }) => void response.writeHead(503).end())
  const upstreams = open([remote('r', server.url)], { now: () => 0 })
  await upstreams.listTools('r')
  for (let i = 0; i < 3; i += 1) {
    await outcome(upstreams)
    await expect(upstreams.listTools('r')).resolves.toHaveLength(1)
  }
  expect(await outcome(upstreams)).toContain('is paused for')
})

/** A call of `pay` on which its server is working when it loses the session, as another call has found out. */
async function payingWhenForgotten() {
  const payments: Call[] = []
  const server = await rawRemote((made) => void (made.name === 'pay' ? payments.push(made) : ok(made)))
  const upstreams = open([remote('r', server.url)])
  await call(upstreams)
  const pay = outcome(upstreams, 'pay')
  await until(() => payments.length === 1)
  server.sessions.clear()
  expect(await outcome(upstreams)).toBe('ok')
  return { upstreams, pay, payments, payment: payments[0]! }
}

it('a call in flight when the server forgets the session is neither cut off nor repeated', async () => {
  const { pay, payments, payment } = await payingWhenForgotten()
  json(payment.response, result(payment.id, 'paid'))
  expect(await pay).toBe('paid')
  expect(payments).toHaveLength(1)
})

it('a call in flight that breaks off after the server has forgotten the session fails once', async () => {
  const { upstreams, pay, payments, payment } = await payingWhenForgotten()
  payment.response.destroy()
  expect(await pay).toContain("failed during the call of 'pay', which may or may not have taken effect")
  expect(await outcome(upstreams)).toBe('ok')
  expect(payments).toHaveLength(1)
})

it('calls that find the session forgotten one after the other share the next session', async () => {
  const waits: (() => void)[] = []
  const server = await rawRemote(ok, (request, response) => {
    const session = request.headers['mcp-session-id'] as string | undefined
    if (request.method !== 'POST' || session === undefined || server.sessions.has(session)) return false
    waits.push(() => void response.writeHead(404).end())
    return true
  })
  const upstreams = open([remote('r', server.url)])
  await call(upstreams)
  server.sessions.clear()
  const calls = Array.from({ length: 10 }, () => outcome(upstreams))
  await until(() => waits.length === 10)
  for (const [i, refuse] of waits.entries()) {
    refuse()
    expect(await calls[i]).toBe('ok')
  }
  expect(server.received.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(2)
})

it('a bridge that ends does not wait for the calls of a forgotten session', async () => {
  let paidCount = 0
  const server = await rawRemote((made) => {
    if (made.name === 'pay') paidCount += 1
    else ok(made)
  })
  const upstreams = open([remote('r', server.url)])
  await call(upstreams)
  const pay = outcome(upstreams, 'pay')
  await until(() => paidCount === 1)
  server.sessions.clear()
  await call(upstreams)
  await upstreams.close()
  expect(await pay).toContain("failed during the call of 'pay', which may or may not have taken effect")
})

it('the last log messages of a server are quoted with its failure', async () => {
  const params = { level: 'error', data: 'the database is gone' }
  const message = { jsonrpc: '2.0', method: 'notifications/message', params }
  const server = await rawRemote(({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`data: ${JSON.stringify(message)}\n\n`)
  })
  expect(await outcome(open([remote('r', server.url)]))).toBe(
    "Server 'r' failed during the call of 'echo', which may or may not have taken effect: the connection broke before the answer came. " +
      'It logged: [error] the database is gone',
  )
})

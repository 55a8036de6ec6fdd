// @module-tag whole: it starts many bridges over HTTP; http.test.ts has the journey
// This file verifies how long an HTTP client keeps its session: by a handle in the modern era, by an id in the older
// one.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type Answer, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { handleIn, talk } from '@sandbridge/core/test/support/bridges/http-talk.ts'
import { descendants, until } from '@sandbridge/core/test/support/machine/processes.ts'
import { runHeaders } from '../support/raw-http.ts'
import { sharedHttpBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'

const shared = sharedHttpBridge({ servers: { asker: fixtureServer('raw.mjs', 'asks', 'elicitation/create') } })

it('a modern client gets a session handle with its first result only, and a new session without it', async () => {
  const client = await shared().connect('modern')
  const first = await client.call({ code: 'x = 1' })
  const session = handleIn(first.text)
  expect(first.structured).toEqual({ status: 'ok', session })
  expect(await client.call({ code: 'x', session })).toEqual({
    text: '1',
    isError: false,
    structured: { status: 'ok', value: '1' },
  })
  const second = await client.call({ code: 'x' })
  expect(second.text).toMatch(/NameError/)
  expect(handleIn(second.text)).not.toBe(session)
})

it('the session handle of a modern client reaches a model whose client shows nothing but text', async () => {
  const bridge = shared()
  const client = await bridge.connect('modern', { clientName: 'claude-code' })
  const { text, structured } = await client.call({ code: 'x = 1' })
  expect(structured).toEqual({})
  expect((await client.call({ code: 'x', session: handleIn(text) })).text).toBe('1')
})

it('an unknown session handle of a modern client is an error, and nothing runs', async () => {
  const bridge = shared()
  const client = await bridge.connect('modern')
  const legacy = await bridge.connect('legacy')
  for (const session of ['nonsense', 'A'.repeat(24), legacy.transport.sessionId!]) {
    const answer = await client.call({ code: 'print("it ran")', session })
    expect(answer.isError).toBe(true)
    expect(answer.text).toMatch(/variables are gone[\s\S]*without `session`/)
    expect(answer.text).not.toContain('it ran')
  }
  for (const session of ['', 7, {}]) {
    expect(await client.call({ code: '1', session })).toMatchObject({
      isError: true,
      structured: { error: { code: 'TOOL_ARGUMENTS_INVALID' } },
    })
  }
})

it('the session of a modern client expires when it is not used for a while, with its sandbox', async () => {
  needsLinux('processes are read from /proc')
  const bridge = await startHttpBridge({
    ownProcess: true,
    env: { MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT: '1', MCP_BRIDGE_POOL: '0' },
  })
  const client = await bridge.connect('modern')
  const session = handleIn(await client.run('x = 1'))
  const afterwards = async () => {
    await until(() => descendants(bridge.pid).length === 0)
    return client.call({ code: 'x', session })
  }
  let answer = await afterwards()
  // The sandbox ends a moment before the session: a call between the two gets a new sandbox, and starts both times
  // again.
  const codeOf = ({ structured }: Answer) => (structured['error'] as { code?: string } | undefined)?.code
  while (codeOf(answer) !== 'SESSION_UNKNOWN') {
    expect(answer.text).toContain('variables are gone')
    answer = await afterwards()
  }
  expect(answer.isError).toBe(true)
})

it('the session of a modern client keeps output where each cell has a sandbox of its own', async () => {
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_SESSION: 'fresh' } })
  const client = await bridge.connect('modern')
  const text = await client.run('print("kept")')
  const [, session] = /To keep the output of this cell, pass session="([\w-]+)"/.exec(text)!
  expect(await client.run('runtime.output(1)', { session })).toBe("'kept'")
})

it('DELETE ends the session of an older client, and its sandbox', async () => {
  needsLinux('processes are read from /proc')
  const bridge = await startHttpBridge({ ownProcess: true, env: { MCP_BRIDGE_POOL: '0' } })
  const [one, other] = [await bridge.connect('legacy'), await bridge.connect('legacy')]
  // Both sessions share the fork server.
  const own = () => descendants(bridge.pid).filter(({ command }) => !command.includes('-forks slots='))
  const sandboxes = () => own().map(({ pid }) => pid)
  await one.run('x = 1')
  const ofOne = sandboxes()
  await other.run('x = 2')
  const ofOther = sandboxes().filter((pid) => !ofOne.includes(pid))
  expect([ofOne.length, ofOther.length].every(Boolean)).toBe(true)
  await one.transport.terminateSession()
  await until(() => !sandboxes().some((pid) => ofOne.includes(pid)))
  expect(sandboxes()).toEqual(expect.arrayContaining(ofOther))
  await expect(one.run('x')).rejects.toThrow()
  expect(await other.run('x')).toBe('2')
})

it('an older client can cancel its cell while that waits for the user’s answer', async () => {
  const bridge = shared()
  const controller = new AbortController()
  const one = await talk(bridge, 'legacy', {
    capabilities: { elicitation: { form: {} } },
    prepare: (client) =>
      client.setRequestHandler('elicitation/create', () => {
        controller.abort()
        return new Promise<never>(() => {})
      }),
  })
  await one.run('x = 1')
  await expect(one.run('await mcp_asker.echo(text="x")', { signal: controller.signal })).rejects.toThrow()
  expect(await one.run('x')).toMatch(/^1\n\[sandbridge: A cell whose result was lost had made calls/)
})

it('the session id of an older client does not open its session without the token', async () => {
  const bridge = shared()
  const client = await bridge.connect('legacy')
  const send = (token: string) =>
    fetch(bridge.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-session-id': client.transport.sessionId!,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'tools/list' }),
    }).then(({ status }) => status)
  expect(await send(`${bridge.token}x`)).toBe(401)
  expect(await send(bridge.token)).toBe(200)
})

it('the sessions of older clients are limited in number, and none is ended while it is used', async () => {
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_HTTP_LIMITS: 'sessions=1' } })
  const one = await bridge.connect('legacy')
  await one.run('x = 1')
  await expect(bridge.connect('legacy')).rejects.toThrow(/the setting http\.sessions/)
  const modern = await bridge.connect('modern')
  expect(await modern.call({ code: '1' })).toMatchObject({ structured: { error: { code: 'SESSION_LIMIT' } } })
  expect(await one.run('x')).toBe('1')
  await one.transport.terminateSession()
  expect(await modern.run('1')).toMatch(/^1/)
})

it('a modern client that drops its connection interrupts its cell', async () => {
  const bridge = shared()
  const one = await talk(bridge, 'modern')
  await one.run('state = "idle"')
  const dropped = new AbortController()
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    progressToken: 1,
  }
  const code = `
import time
state = "running"
try:
    print("on", flush=True)
    time.sleep(25)
    state = "finished"
except KeyboardInterrupt:
    state = "interrupted"`
  const params = { name: 'run_python', arguments: { code, session: one.session }, _meta: meta }
  const response = await fetch(bridge.url, {
    method: 'POST',
    signal: dropped.signal,
    headers: runHeaders(bridge.token),
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const reader = response.body!.getReader()
  for (let heard = ''; !heard.includes('on');) heard += Buffer.from((await reader.read()).value ?? []).toString()
  dropped.abort()
  expect(await one.run('state')).toBe("'interrupted'")
})

it('a modern client that drops its connection in its first call leaves no sandbox behind', async () => {
  needsLinux('processes are read from /proc')
  const bridge = await startHttpBridge({ ownProcess: true, env: { MCP_BRIDGE_POOL: '0' } })
  const client = await bridge.connect('modern')
  const controller = new AbortController()
  const running = client.call(
    { code: 'print("on")\nwhile True: pass' },
    { signal: controller.signal, onprogress: () => controller.abort() },
  )
  await expect(running).rejects.toThrow()
  await until(() => descendants(bridge.pid).length === 0)
})

it('a cell is not run again when its client never answers a question', async () => {
  const bridge = shared()
  const client = await bridge.connect('modern')
  const answer = (requestState: string) =>
    client.client.request({
      method: 'tools/call',
      params: { name: 'run_python', arguments: { code: 'print("it ran")' }, requestState, inputResponses: {} },
    } as never)
  const result = await answer(`${randomUUID()}.1`)
  expect(JSON.stringify(result)).toMatch(/has ended/)
  await expect(answer(`${randomUUID()}.1-changed`)).rejects.toThrow('not one of this server. No code ran.')
  expect(JSON.stringify(result)).not.toContain('it ran')
})

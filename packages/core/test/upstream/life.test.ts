// This file verifies the life of upstreams: stopped when idle, limited in number, and the requests that they may send.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { UpstreamRequests } from '../../src/upstream/connection/requests.ts'
import type { ServerDefinition } from '../../src/config/entries/server-definition.ts'
import type { Reached } from '../../src/upstream/lifecycle/upstream-place.ts'
import { expandTransport } from '../../src/config/entries/expand.ts'
import { rawRemote, remote } from '../support/servers/remote-server.ts'
import { isAlive, open, raw, textOf, until } from './support.ts'
import { newFolder } from '../support/machine/new-folder.ts'

async function temporaryFile(): Promise<string> {
  const folder = newFolder()
  // The bridge may still be writing what it has learned.
  return join(folder, 'file')
}

const named = (name: string) => ({ ...raw('good'), name })

it('idle servers are stopped, and started again on the next use', async () => {
  const upstreams = open([raw('good')], { idleMs: 100 })
  const first = textOf(await upstreams.callTool('good', 'pid', {}))
  await until(() => upstreams.of('good').state === 'not-started')
  await until(() => !isAlive(Number(first)))
  expect(textOf(await upstreams.callTool('good', 'pid', {}))).not.toBe(first)
})

it('a server is stopped when idle, though whoever started it gave up before it ran', async () => {
  const upstreams = open([raw('good')], { idleMs: 300 })
  const abort = new AbortController()
  const list = upstreams.listTools('good', abort.signal)
  abort.abort()
  await expect(list).rejects.toMatchObject({ code: 'CANCELLED' })
  await until(() => upstreams.of('good').state === 'running')
  await until(() => upstreams.of('good').state === 'not-started')
})

it('servers with a call in flight do not count as idle', async () => {
  const upstreams = open([raw('slow', await temporaryFile())], { idleMs: 50 })
  await upstreams.callTool('slow', 'progress', {})
  const abort = new AbortController()
  const call = upstreams.callTool('slow', 'slow', {}, { signal: abort.signal })
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(upstreams.of('slow').state).toBe('running')
  abort.abort()
  await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
  await until(() => upstreams.of('slow').state === 'not-started')
})

it('another list of servers leaves a server running that is the same, and starts one that is new', async () => {
  const upstreams = open([named('a'), named('b')])
  const first = textOf(await upstreams.callTool('a', 'pid', {}))
  const gone = Number(textOf(await upstreams.callTool('b', 'pid', {})))
  upstreams.redefine([named('a'), named('c')])
  expect(textOf(await upstreams.callTool('a', 'pid', {}))).toBe(first)
  expect(textOf(await upstreams.callTool('c', 'pid', {}))).not.toBe(first)
  expect(() => upstreams.of('b').state).toThrow("Unknown server 'b'")
  await until(() => !isAlive(gone))
})

it.each([[undefined], [new AbortController().signal]])(
  'calls that wait for a server to start are made, though its definition has changed meanwhile (signal: %s)',
  async (signal) => {
    const before = named('a')
    const upstreams = open([before])
    const toolsOf: string[] = []
    upstreams.listen({ onTools: (name) => toolsOf.push(name) })
    const listed = upstreams.listTools('a', signal)
    const calls = [1, 2].map(() => upstreams.callTool('a', 'pid', {}, signal ? { signal } : {}))
    expect(upstreams.of('a').state).toBe('starting')
    upstreams.redefine([{ ...before, transport: { ...before.transport, env: { NEW: '1' } } as never }])
    const [first, second] = (await Promise.all(calls)).map(textOf)
    expect(second).toBe(first)
    expect(await listed).toHaveLength(2)
    // They are not those of the new definition.
    expect(toolsOf).toEqual([])
    expect(textOf(await upstreams.callTool('a', 'pid', {}))).not.toBe(first)
    await until(() => !isAlive(Number(first)))
  },
)

it('the limit on server processes stops the server that was used longest ago', async () => {
  const upstreams = open(['a', 'b', 'c'].map(named), { maxProcesses: 2 })
  await upstreams.listTools('a')
  await upstreams.listTools('b')
  await upstreams.callTool('a', 'pid', {})
  await upstreams.listTools('c')
  expect(['a', 'b', 'c'].map((name) => upstreams.of(name).state)).toEqual(['running', 'not-started', 'running'])
})

it('the limit on server processes refuses a start when all are in use, and does not count it as a failure of the server', async () => {
  const upstreams = open([raw('slow', await temporaryFile()), named('b')], { maxProcesses: 1 })
  const abort = new AbortController()
  await upstreams.listTools('slow')
  const call = upstreams.callTool('slow', 'slow', {}, { signal: abort.signal })
  for (let i = 0; i < 5; i += 1) {
    await expect(upstreams.listTools('b')).rejects.toThrow('1 servers are running, and all of them are in use')
  }
  abort.abort()
  await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
  await expect(upstreams.listTools('b')).resolves.toHaveLength(2)
})

it("a call that exceeds the timeout of its server's definition is a timeout", async () => {
  const upstreams = open([{ ...raw('slow', await temporaryFile()), callTimeoutMs: 200 }])
  await expect(upstreams.callTool('slow', 'slow', {})).rejects.toMatchObject({
    code: 'UPSTREAM_TIMEOUT',
    message: "Server 'slow' did not answer the call of 'slow' within 0.2 s, which may or may not have taken effect",
  })
  expect(upstreams.of('slow').state).toBe('running')
})

it('a server that is not trusted is never started', async () => {
  const file = await temporaryFile()
  const upstreams = open([{ ...raw('grandchild', file), trusted: false }])
  await expect(upstreams.listTools('grandchild')).rejects.toMatchObject({ code: 'PROXY_SERVER_UNAVAILABLE' })
  await expect(readFile(file)).rejects.toThrow('ENOENT')
})

it('placeholders are expanded when a server starts, and their values are redacted', async () => {
  const definition = raw('exit', '${SECRET}')
  const upstreams = open([definition], {
    resolveTransport: (one) =>
      expandTransport(one, { env: { SECRET: 'wizard' }, home: '/home/ann', workspaceFolder: '/project' }),
  })
  await expect(upstreams.listTools('exit')).rejects.toThrow('(args [redacted])')
})

describe('what a server may ask for', () => {
  const requests: UpstreamRequests = {
    roots: async (server) => [{ uri: `file:///${server}` }],
    elicit: async (server, params) => ({
      action: 'accept',
      content: { answer: `${server}: ${String(params.message)}` },
    }),
    sample: async () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } }),
  }

  it.each([
    ['roots/list', { roots: [{ uri: 'file:///asks' }] }],
    ['elicitation/create', { action: 'accept', content: { answer: 'asks: Which one?' } }],
    ['sampling/createMessage', { role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } }],
  ])("a server's request %s is answered by the client of the cell", async (method, expected) => {
    const upstreams = open([raw('asks', method)], { requests: () => requests })
    expect(JSON.parse(textOf(await upstreams.callTool('asks', 'ask', {})))).toEqual(expected)
    expect(JSON.parse(upstreams.of('asks').instructions!)).toEqual({
      roots: {},
      elicitation: { form: { applyDefaults: true }, url: {} },
      sampling: {},
    })
  })

  it.each(['roots/list', 'elicitation/create', 'sampling/createMessage'])(
    "a server's request %s is declined at once, with a reason, when no client can answer",
    async (method) => {
      const upstreams = open([raw('asks', method)])
      const answer = JSON.parse(textOf(await upstreams.callTool('asks', 'ask', {})))
      expect(answer).toMatchObject({ code: -32601, message: expect.stringContaining('is not supported') })
      expect(upstreams.of('asks').instructions).toBe('{}')
    },
  )

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'https://bank.example@evil.example/', 7])(
    'the user is not asked to open %s',
    async (url) => {
      const shown: unknown[] = []
      const elicit: UpstreamRequests['elicit'] = async (_server, params) => {
        shown.push(params.url)
        return { action: 'accept' }
      }
      const question = JSON.stringify({ mode: 'url', message: 'Open it', elicitationId: 'e', url })
      const upstreams = open([raw('asks', 'elicitation/create', question)], { requests: () => ({ elicit }) })
      const answer = JSON.parse(textOf(await upstreams.callTool('asks', 'ask', {})))
      expect(answer).toMatchObject({ code: expect.any(Number) })
      expect(shown).toEqual([])
    },
  )

  it('the user is asked to open a web page', async () => {
    const shown: unknown[] = []
    const elicit: UpstreamRequests['elicit'] = async (_server, params) => {
      shown.push(params.url)
      return { action: 'accept' }
    }
    const url = 'https://bank.example/a?b'
    const question = JSON.stringify({ mode: 'url', message: 'Open it', elicitationId: 'e', url })
    const upstreams = open([raw('asks', 'elicitation/create', question)], { requests: () => ({ elicit }) })
    expect(JSON.parse(textOf(await upstreams.callTool('asks', 'ask', {})))).toEqual({ action: 'accept' })
    expect(shown).toEqual([url])
  })

  it('a call does not time out while the user answers', async () => {
    const elicit: UpstreamRequests['elicit'] = async () => {
      await vi.advanceTimersByTimeAsync(120_000)
      return { action: 'decline' }
    }
    const definition = { ...raw('asks', 'elicitation/create'), callTimeoutMs: 60_000 }
    const upstreams = open([definition], { requests: () => ({ elicit }) })
    await upstreams.listTools('asks')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    expect(JSON.parse(textOf(await upstreams.callTool('asks', 'ask', {})))).toEqual({ action: 'decline' })
  })

  it("a failing answer to a server's request is passed to the server", async () => {
    const upstreams = open([raw('asks', 'elicitation/create')], {
      requests: () => ({ elicit: () => Promise.reject(new Error('the user has gone home')) }),
    })
    expect(textOf(await upstreams.callTool('asks', 'ask', {}))).toContain('the user has gone home')
  })
})

it('tools that run as tasks are started, awaited and fetched, whether their list was read or not', async () => {
  const upstreams = open([raw('tasks', await temporaryFile())])
  expect(textOf(await upstreams.callTool('tasks', 'task', {}))).toBe('polled 3 times')
  expect(textOf(await upstreams.callTool('tasks', 'task', {}))).toBe('polled 3 times')
})

it('tools that run as tasks fail with their own messages', async () => {
  const upstreams = open([raw('tasks', await temporaryFile())])
  await expect(upstreams.callTool('tasks', 'broken', {})).rejects.toMatchObject({
    code: 'TOOL_FAILED',
    message: expect.stringContaining('the task broke'),
  })
})

it('tools that run as tasks are cancelled at the server when the call is', async () => {
  const file = await temporaryFile()
  const upstreams = open([raw('tasks', file)])
  await upstreams.listTools('tasks')
  const abort = new AbortController()
  const call = upstreams.callTool('tasks', 'endless', {}, { signal: abort.signal })
  setTimeout(() => abort.abort(), 100)
  await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
  await until(async () => (await readFile(file, 'utf8').catch(() => '')) === 'cancelled endless\n')
})

describe('what a server logs', () => {
  const chatty = () => {
    const definition = raw('chatty')
    Object.assign(definition.transport, { env: { TOKEN: 'hunter22' } })
    return definition
  }
  const last =
    'It logged: [error] {"i":3,"token":"[redacted]"}; [error] db: {"i":4,"token":"[redacted]"}; ' +
    '[error] db: {"i":5,"token":"[redacted]"}'

  it('log messages of a server are requested from warnings on, in both eras', async () => {
    const upstreams = open([chatty(), raw('modern')])
    expect(textOf(await upstreams.callTool('chatty', 'level', {}))).toBe('warning')
    expect(JSON.parse(textOf(await upstreams.callTool('modern', 'meta', {})))).toMatchObject({
      'io.modelcontextprotocol/logLevel': 'warning',
    })
  })

  it('log messages of a server are quoted when it ends, without its secrets', async () => {
    const upstreams = open([chatty()])
    await expect(upstreams.callTool('chatty', 'die', {})).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      message: `Server 'chatty' exited with code 7 during the call of 'die', which may or may not have taken effect. ${last}`,
    })
    expect(upstreams.logged.join('')).not.toContain('hunter22')
  })

  it('log messages of a server are quoted with a call that took too long', async () => {
    const upstreams = open([{ ...chatty(), callTimeoutMs: 300 }])
    const text =
      "Server 'chatty' did not answer the call of 'hang' within 0.3 s, which may or may not have taken effect"
    await expect(upstreams.callTool('chatty', 'hang', {})).rejects.toThrow(`${text}. ${last}`)
    expect(textOf(await upstreams.callTool('chatty', 'echo', { text: 'well' }))).toBe('well')
  })
})

/** Remembers how the only server of a test was reached. */
function reachedBefore() {
  let last: Reached | undefined
  return { of: () => last, keep: (_: ServerDefinition, now: Reached) => void (last = now) }
}

it('how a server was reached is remembered between runs', async () => {
  const reached = reachedBefore()
  const server = await rawRemote()
  const definition = remote('r', server.url, { 'X-Key': 'abracadabra' })
  await open([definition], { reached }).listTools('r')
  server.received.length = 0
  await open([definition], { reached }).listTools('r')
  expect(server.received[0]!.rpc).toBe('initialize')
})

it('a server is reached in another way when the remembered one no longer works', async () => {
  const reached = reachedBefore()
  await open([raw('modern')], { reached }).listTools('modern')
  expect(reached.of()?.era).toBe('modern')
  const downgraded = { ...raw('modern'), transport: raw('modern').transport }
  const upstreams = open([downgraded], {
    reached,
    // The definition is unchanged, but the program behind it has changed.
    resolveTransport: () => raw('good').transport,
  })
  expect((await upstreams.listTools('modern')).map((tool) => tool.name)).toEqual(['echo', 'pid'])
})

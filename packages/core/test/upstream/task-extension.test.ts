// This file verifies calls that a 2026-07-28 server answers with a task, with a raw HTTP server that follows the
// extension's specification.
import { expect, it } from 'vitest'
import type { UpstreamRequests } from '../../src/upstream/connection/requests.ts'
import { bodyOf, json, listen, remote } from '../support/servers/remote-server.ts'
import { open, textOf, until } from './support.ts'

const EXTENSION = 'io.modelcontextprotocol/tasks'
const text = (said: string) => ({ content: [{ type: 'text', text: said }] })
const stamps = { createdAt: '2026-07-28T10:00:00Z', lastUpdatedAt: '2026-07-28T10:00:00Z', ttlMs: null }

interface Seen {
  method: string
  name: string | undefined
  params: Record<string, any>
}

/** Its tasks have the states in `states`, one per poll. */
async function taskServer(states: (update: Record<string, unknown>) => Record<string, unknown>[]) {
  const seen: Seen[] = []
  const inputResponses: Record<string, unknown> = {}
  let polls = 0
  const url = await listen(async (request, response) => {
    const { id, method, params } = JSON.parse(await bodyOf(request))
    seen.push({ method, name: request.headers['mcp-name'] as string | undefined, params })
    const reply = (result: object) =>
      json(response, { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } })
    const declared = params._meta['io.modelcontextprotocol/clientCapabilities'].extensions?.[EXTENSION] !== undefined
    const task = (state: object) => ({ taskId: 'task-1', ...stamps, pollIntervalMs: 50, ...state })
    if (method === 'server/discover') {
      reply({ supportedVersions: ['2026-07-28'], capabilities: { tools: {}, extensions: { [EXTENSION]: {} } } })
    } else if (!declared) {
      json(response, { jsonrpc: '2.0', id, error: { code: -32_021, message: 'Missing required client capability' } })
    } else if (method === 'tools/call' && params.name === 'quick') reply(text('at once'))
    else if (method === 'tools/call')
      reply({ ...task({ status: 'working', statusMessage: 'begun' }), resultType: 'task' })
    else if (method === 'tasks/get') {
      const all = states(inputResponses)
      reply(task(all[Math.min(polls++, all.length - 1)]!))
    } else if (method === 'tasks/update') {
      Object.assign(inputResponses, params.inputResponses)
      reply({})
    } else if (method === 'tasks/cancel') reply({})
    else json(response, { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } })
  })
  const connect = (requests: UpstreamRequests = {}) => open([remote('t', `${url}/mcp`)], { requests: () => requests })
  const methods = () => seen.map(({ method }) => method).filter((method) => method.startsWith('t'))
  return { seen, connect, methods, inputResponses }
}

const working = { status: 'working' }
const done = (said: string) => ({ status: 'completed', result: text(said) })

it('a call that becomes a task is waited for, and its status messages become progress', async () => {
  const server = await taskServer(() => [
    working,
    { ...working, statusMessage: 'halfway' },
    { ...working, statusMessage: 'halfway' },
    done('slowly'),
  ])
  const upstreams = server.connect()
  const told: (string | undefined)[] = []
  const onProgress = ({ message }: { message?: string }): void => void told.push(message)
  expect(textOf(await upstreams.callTool('t', 'slow', {}, { onProgress }))).toBe('slowly')
  expect(told).toEqual(['begun', 'halfway'])
  expect(server.methods()).toEqual(['tools/call', 'tasks/get', 'tasks/get', 'tasks/get', 'tasks/get'])
  // Intermediaries route to the server of the task by this.
  expect(server.seen.at(-1)).toMatchObject({ name: 'task-1', params: { taskId: 'task-1' } })
  expect(textOf(await upstreams.callTool('t', 'quick', {}))).toBe('at once')
})

it('a call that becomes a task returns the tool’s own error', async () => {
  const server = await taskServer(() => [{ status: 'completed', result: { ...text('no such city'), isError: true } }])
  expect(await server.connect().callTool('t', 'slow', {})).toMatchObject({ isError: true, ...text('no such city') })
})

it.each([
  [
    'fails',
    { status: 'failed', error: { code: -32_603, message: 'rate limit exceeded' } },
    /rate limit exceeded \(-32603\)/,
  ],
  ['fails without a word', { status: 'failed' }, /the task has failed/],
  [
    'is cancelled by the server',
    { status: 'cancelled', statusMessage: 'shut down' },
    /the task was cancelled: shut down/,
  ],
])('a call that becomes a task that %s reports why', async (_what, state, message) => {
  const server = await taskServer(() => [working, state])
  await expect(server.connect().callTool('t', 'slow', {})).rejects.toMatchObject({
    code: 'TOOL_FAILED',
    message: expect.stringMatching(message),
  })
})

it.each([[{ status: 'completed' }], [{ status: 7 }], [{ status: 'completed', result: 'text' }]])(
  'a call that becomes a task and then returns %j is an error of the server, which is told to stop',
  async (state) => {
    const server = await taskServer(() => [state])
    await expect(server.connect().callTool('t', 'slow', {})).rejects.toMatchObject({ code: 'UPSTREAM_PROTOCOL' })
    expect(server.methods().at(-1)).toBe('tasks/cancel')
  },
)

it('a call that becomes a task is cancelled at the server when the call is', async () => {
  const server = await taskServer(() => [working])
  const abort = new AbortController()
  const call = server.connect().callTool('t', 'slow', {}, { signal: abort.signal })
  call.catch(() => {})
  await until(() => server.methods().includes('tasks/get'))
  abort.abort()
  await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
  await until(() => server.methods().at(-1) === 'tasks/cancel')
})

it('a call that becomes a task asks the user what it needs, each thing once', async () => {
  const ask = (message: string) => ({ method: 'elicitation/create', params: { mode: 'form', message } })
  // It processes the answers one poll late.
  let late = 0
  const server = await taskServer(({ a, b }) => {
    const waiting = { status: 'input_required', inputRequests: { a: ask('Who?'), b: ask('Where?') } }
    if (!a || !b || late++ < 1) return [waiting]
    return [done(`${(a as any).content.is} in ${(b as any).content.is}`)]
  })
  const asked: unknown[] = []
  const upstreams = server.connect({
    elicit: async (_server, { message }) => {
      asked.push(message)
      return { action: 'accept', content: { is: message === 'Who?' ? 'Ann' : 'Rome' } }
    },
  })
  expect(textOf(await upstreams.callTool('t', 'slow', {}))).toBe('Ann in Rome')
  expect(asked).toEqual(['Who?', 'Where?'])
})

it('a call that becomes a task and asks for input that no client can give ends', async () => {
  const inputRequests = { a: { method: 'sampling/createMessage', params: {} } }
  const server = await taskServer(() => [{ status: 'input_required', inputRequests }])
  await expect(server.connect().callTool('t', 'slow', {})).rejects.toMatchObject({
    code: 'UPSTREAM_PROTOCOL',
    message: expect.stringContaining('that no client supports'),
  })
  expect(server.methods().at(-1)).toBe('tasks/cancel')
})

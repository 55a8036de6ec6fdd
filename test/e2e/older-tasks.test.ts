// @module-tag whole: tasks.test.ts has the journey in the newer form
// This file verifies cells as tasks in the form of MCP 2025-11-25, in JSON-RPC as a client of that revision sends it:
// the packaged client knows the newer form only.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'

type Message = Record<string, any>

/** A connection of such a client. Requests of the bridge are answered by `onRequest`. */
async function connect(onRequest: (request: Message) => unknown = () => ({})) {
  const home = makeHome({ asker: fixtureServer('raw.mjs', 'asks', 'elicitation/create') })
  const child = spawn(process.execPath, [CLI], { env: bridgeEnv(home), stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill())
  const waiting = new Map<number, (message: Message) => void>()
  const write = (message: Message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message
    if (message['method'] === undefined) waiting.get(message['id'] as number)?.(message)
    else if (message['id'] !== undefined) write({ id: message['id'], result: onRequest(message) })
  })
  let count = 0
  const send = (method: string, params: object = {}): Promise<Message> => {
    const id = (count += 1)
    write({ id, method, params })
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  const capabilities = { elicitation: {} }
  const clientInfo = { name: 'older', version: '1' }
  const opened = await send('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo })
  write({ method: 'notifications/initialized' })
  const call = async (code: string): Promise<Message> =>
    (await send('tools/call', { name: 'run_python', arguments: { code }, task: { ttl: 60_000 } }))['result'] as Message
  const stateOf = async (taskId: string): Promise<Message> => (await send('tasks/get', { taskId }))['result'] as Message
  return { opened, send, call, stateOf }
}

it('a call that wants a task is one at once, with its state, progress and result', async () => {
  const { opened, send, call, stateOf } = await connect()
  expect(opened['result'].capabilities.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } })
  const { tools } = (await send('tools/list'))['result']
  expect(tools[0]).toMatchObject({ name: 'run_python', execution: { taskSupport: 'optional' } })
  const { task } = await call('import time\nprint("half way", flush=True)\ntime.sleep(6)\nprint("the end")')
  expect(task).toMatchObject({ status: 'working', ttl: 3_600_000, pollInterval: 1_000 })
  await until(async () => String((await stateOf(task.taskId))['statusMessage']).includes('half way'))
  expect((await send('tasks/list'))['result'].tasks).toMatchObject([{ taskId: task.taskId, status: 'working' }])
  // Waits for the end.
  const { result } = await send('tasks/result', { taskId: task.taskId })
  expect(result.content[0].text).toMatch(/^half way\nthe end/)
  expect(result._meta['io.modelcontextprotocol/related-task']).toEqual({ taskId: task.taskId })
  expect(await stateOf(task.taskId)).toMatchObject({ taskId: task.taskId, status: 'completed' })
  expect((await send('tasks/result', { taskId: task.taskId }))['result']).toEqual(result)
  // Control: a call that wants no task.
  const plain = await send('tools/call', { name: 'run_python', arguments: { code: '1 + 1' } })
  expect(plain['result'].content[0].text).toBe('2')
  expect((await send('tasks/get', { taskId: 'unknown' }))['error']).toMatchObject({ code: -32602 })
})

it('a task asks its client while it waits for the result, and goes on with the answer', async () => {
  const asked: Message[] = []
  const { send, call, stateOf } = await connect((request) => (asked.push(request), { action: 'accept', content: {} }))
  const { task } = await call('print(await mcp_asker.echo(text="x"))')
  await until(async () => (await stateOf(task.taskId))['status'] === 'input_required')
  expect(asked).toEqual([])
  // Each of two that wait gets the result, and the question is asked once.
  const [{ result }, second] = (await Promise.all([1, 2].map(() => send('tasks/result', { taskId: task.taskId })))) as [
    Message,
    Message,
  ]
  expect(second['result']).toEqual(result)
  expect(asked).toMatchObject([
    {
      method: 'elicitation/create',
      params: {
        message: "MCP server 'asker' asks: Which one?",
        _meta: { 'io.modelcontextprotocol/related-task': { taskId: task.taskId } },
      },
    },
  ])
  expect(result.content[0].text).toContain('accept')
})

it('a cancelled task interrupts its cell, and has no result', async () => {
  const { send, call, stateOf } = await connect()
  const { task } = await call('import time\ntime.sleep(60)')
  const { taskId } = task
  const result = send('tasks/result', { taskId })
  expect((await send('tasks/cancel', { taskId }))['result']).toMatchObject({ taskId, status: 'cancelled' })
  expect((await result)['error']).toMatchObject({ code: -32602 })
  expect(await stateOf(taskId)).toMatchObject({ status: 'cancelled' })
  expect((await send('tasks/cancel', { taskId }))['error']).toMatchObject({ code: -32602 })
  expect((await call('1'))['task']).toMatchObject({ status: 'working' })
})

it('tasks that have ended make room for others', async () => {
  const { send, call } = await connect()
  for (let count = 1; count <= 66; count += 1) {
    const { task } = await call(`print(${count})`)
    expect((await send('tasks/result', { taskId: task.taskId }))['result'].content[0].text).toBe(String(count))
  }
})

it('over HTTP, a task outlives the connection that waits for its result, and is nobody else’s', async () => {
  const { url, token } = await startHttpBridge()
  let count = 0
  /** A client's requests, each in a connection of its own. */
  const connectOver = async () => {
    let session: string | undefined
    const send = async (method: string, params: object, signal?: AbortSignal): Promise<Message> => {
      const headers = {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
      }
      const body = JSON.stringify({ jsonrpc: '2.0', id: (count += 1), method, params })
      const response = await fetch(url, { method: 'POST', headers, body, ...(signal && { signal }) })
      session = response.headers.get('mcp-session-id') ?? session
      const text = await response.text()
      const messages = text.startsWith('{') ? [text] : [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => json!)
      return JSON.parse(messages.at(-1)!) as Message
    }
    const clientInfo = { name: 'older', version: '1' }
    await send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    return send
  }
  const send = await connectOver()
  const code = 'import time\ntime.sleep(3)\nprint("the end")'
  const { task } = (await send('tools/call', { name: 'run_python', arguments: { code }, task: {} }))['result']
  await expect(send('tasks/result', { taskId: task.taskId }, AbortSignal.timeout(500))).rejects.toThrow()
  const other = await connectOver()
  expect((await other('tasks/list', {}))['result'].tasks).toEqual([])
  const { result } = await send('tasks/result', { taskId: task.taskId })
  expect(result.content[0].text).toMatch(/^the end/)
})

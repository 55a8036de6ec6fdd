// This file verifies cells as tasks (extension io.modelcontextprotocol/tasks): a client that declares the extension
// gets a handle for a long cell, answers its questions and fetches its result, also over another connection.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { sharedHttpBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { EXTENSIONS, sendTask, type TaskAnswer } from '@sandbridge/core/test/support/bridges/task-client.ts'

const shared = sharedHttpBridge({ servers: { asker: fixtureServer('raw.mjs', 'asks', 'elicitation/create') } })

const send = (method: string, params: Record<string, unknown>, extensions?: object): Promise<TaskAnswer> =>
  sendTask(shared(), { method, params, ...(extensions && { extensions }) })

const run = (code: string, extensions?: object) =>
  send('tools/call', { name: 'run_python', arguments: { code } }, extensions)

async function until(taskId: string, status: string): Promise<TaskAnswer> {
  for (;;) {
    const state = await send('tasks/get', { taskId })
    if (state.status === status || state.error) return state
    expect(['working', 'input_required'], JSON.stringify(state)).toContain(state.status)
    await sleep(200)
  }
}

// Each has a session of its own, and waits most of its time: all at once.
it.concurrent('a long cell becomes a task with progress, and its result is fetched over another connection', async () => {
  const task = await run('import time\nprint("half way", flush=True)\ntime.sleep(8)\nprint("the end")')
  expect(task).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 3_600_000, pollIntervalMs: 1_000 })
  expect(task).not.toHaveProperty('requestState')
  const messages: (string | undefined)[] = []
  let state = await send('tasks/get', { taskId: task.taskId })
  while (state.status === 'working') {
    messages.push(state.statusMessage)
    await sleep(200)
    state = await send('tasks/get', { taskId: task.taskId })
  }
  expect(messages.join('\n')).toContain('half way')
  expect(state).toMatchObject({ resultType: 'complete', status: 'completed' })
  expect(state.result!.content[0]!.text).toMatch(/^half way\nthe end/)
  expect((await send('tasks/get', { taskId: task.taskId })).result).toEqual(state.result)
})

it.concurrent('a failing cell is a completed task whose result is an error', async () => {
  const { taskId } = await run('import time\ntime.sleep(8)\n1 / 0')
  const { result } = await until(taskId, 'completed')
  expect(result).toMatchObject({ isError: true })
  expect(result!.content[0]!.text).toContain('ZeroDivisionError')
})

it.concurrent('a task asks its client, and goes on with the answer', { tags: ['whole'] }, async () => {
  const { taskId } = await run('import time\ntime.sleep(8)\nprint(await mcp_asker.echo(text="x"))')
  const { inputRequests } = await until(taskId, 'input_required')
  const [[key, asked]] = Object.entries(inputRequests!) as [[string, { method: string; params: { message: string } }]]
  expect(asked).toMatchObject({
    method: 'elicitation/create',
    params: { message: "MCP server 'asker' asks: Which one?" },
  })
  const wrong = { another: { action: 'accept', content: {} } }
  expect(await send('tasks/update', { taskId, inputResponses: wrong })).toMatchObject({ resultType: 'complete' })
  expect((await send('tasks/get', { taskId })).status).toBe('input_required')
  await send('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content: { it: 'blue' } } } })
  const { result } = await until(taskId, 'completed')
  expect(result!.content[0]!.text).toContain('blue')
})

it.concurrent('a cancelled task interrupts its cell', async () => {
  const { taskId } = await run('while True: pass')
  expect(await send('tasks/cancel', { taskId })).toMatchObject({ resultType: 'complete' })
  const cancelled = await until(taskId, 'cancelled')
  expect(cancelled).not.toHaveProperty('result')
  expect(await send('tasks/cancel', { taskId })).toMatchObject({ resultType: 'complete' })
})

it.concurrent(
  'only a client that declares the extension gets tasks, and only ids that were given are known',
  { tags: ['whole'] },
  async () => {
    const answer = await run('import time\ntime.sleep(8)\nprint("whole")', {})
    expect(answer).toMatchObject({ resultType: 'complete', content: [{ text: expect.stringMatching(/^whole/) }] })
    const task = await run('import time\ntime.sleep(8)')
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const refused = await send(method, { taskId: task.taskId }, {})
      expect(refused.error).toMatchObject({ code: -32_021, data: { requiredCapabilities: { extensions: EXTENSIONS } } })
      expect((await send(method, { taskId: 'guessed' })).error).toMatchObject({ code: -32_602 })
    }
    expect((await send('tasks/list', {})).error).toMatchObject({ code: -32_601 })
    await send('tasks/cancel', { taskId: task.taskId })
  },
)

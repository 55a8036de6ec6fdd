// This file verifies what a client of protocol revision 2025-11-25 or older, which is asked while its call stays open,
// can hold up.
import { devNull } from 'node:os'
import type { Server } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { fixtureServer } from '../../../../test/support/bridges/bridge-process.ts'
import { openObserved } from '../../../../test/support/bridges/observed-bridge.ts'
import { OpenRun } from '../runs/open-run.ts'
import { OpenRuns } from '../runs/open-runs.ts'

const hub = { ...fixtureServer('ruled.mjs', devNull), permissions: { ask: ['create_issue'] } }

it.each([
  [
    'never answers a question',
    200,
    () => new Promise<never>(() => {}),
    /went on: .*no answer came within/,
    'withdrawn',
  ],
  [
    'answers a question with an error',
    60_000,
    () => Promise.reject(new Error('no')),
    /went on: .*the client failed to ask: no/,
    'answered',
  ],
])('an older client that %s gets the result of its cell, which goes on without the call', async (...given) => {
  const [, askTimeoutMs, answer, expected, outcome] = given
  let question = 'not asked'
  const { run } = await openObserved({
    servers: { hub },
    settings: { askTimeoutMs },
    capabilities: { elicitation: { form: {} } },
    prepare: (client) =>
      client.setRequestHandler('elicitation/create', (_request, { mcpReq: { signal } }) => {
        question = 'answered'
        signal.addEventListener('abort', () => (question = 'withdrawn'))
        return answer()
      }),
  })
  const { content } = await run(
    'try: await mcp_hub.create_issue(title="x")\nexcept Exception as error: print("went on:", error)',
  )
  expect(JSON.stringify(content)).toMatch(expected)
  expect(question).toBe(outcome)
})

it('an older client that asks for a task gets an error, and no code runs, where too many tasks run', async () => {
  const runs = new OpenRuns()
  const tasks = (await runs.tasks()).serve({} as Server, false, () => ({}))
  for (let count = 0; count < 64; count += 1) {
    const endless = new OpenRun({})
    endless.start(new Promise(() => {}))
    void tasks.taskFor(true)!.answer(endless)
  }
  const { client, run } = await openObserved({ runs })
  const params = { name: 'run_python', arguments: { code: 'ran = True' }, task: {} }
  await expect(client.callTool(params)).rejects.toThrow('64 tasks are running. No code ran.')
  // Other calls need no task.
  expect(JSON.stringify(await run('"ran" in globals()'))).toContain('False')
})

// This file verifies what a client of protocol revision 2025-11-25 or older, which is asked while its call stays open,
// can hold up.
import { devNull } from 'node:os'
import { expect, it } from 'vitest'
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { openObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'

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

// This file verifies calls that a 2026-07-28 server answers with questions, with a raw HTTP server that follows the
// specification.
import { expect, it } from 'vitest'
import type { UpstreamRequests } from '../../src/upstream/connection/requests.ts'
import { bodyOf, json, listen, remote } from '../support/servers/remote-server.ts'
import { open, textOf } from './support.ts'

const PARAMS = {
  'elicitation/create': { message: 'Which one?', requestedSchema: { type: 'object', properties: {} } },
  'sampling/createMessage': { messages: [], maxTokens: 5 },
  'roots/list': {},
}

/** Each call asks for one thing, and returns the answer. */
async function asking(method: keyof typeof PARAMS, requests: UpstreamRequests) {
  const url = await listen(async (request, response) => {
    const { id, method: called, params } = JSON.parse(await bodyOf(request))
    const reply = (result: object) =>
      json(response, { jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } })
    if (called === 'server/discover') reply({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } })
    else if (params.inputResponses === undefined)
      reply({ resultType: 'input_required', inputRequests: { q: { method, params: PARAMS[method] } } })
    // Some servers write null for what is missing.
    else reply({ resultType: null, content: [{ type: 'text', text: JSON.stringify(params.inputResponses.q) }] })
  })
  return open([remote('asks', `${url}/mcp`)], { requests: () => requests })
}

it('a call that asks for an answer of the user gets it', async () => {
  const upstreams = await asking('elicitation/create', { elicit: async () => ({ action: 'decline' }) })
  expect(JSON.parse(textOf(await upstreams.callTool('asks', 'ask', {})))).toEqual({ action: 'decline' })
})

it.each(['roots/list', 'elicitation/create', 'sampling/createMessage'] as const)(
  'a call that asks for %s without the capability fails with what it asked for',
  async (method) => {
    const upstreams = await asking(method, {})
    await expect(upstreams.callTool('asks', 'ask', {})).rejects.toMatchObject({
      code: 'UPSTREAM_PROTOCOL',
      message: `Server 'asks' asked for ${method} during the call of 'ask', which no client supports`,
    })
  },
)

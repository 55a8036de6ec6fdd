// Asks a client of 2025-11-25 or older: each question is a request on the stream of its call. The SDK's own bridging
// would let a withdrawn question hold the call's result.
import { randomUUID } from 'node:crypto'
import type { Server, ServerContext } from '@modelcontextprotocol/server'
import type { SendQuestion } from '../runs/open-run.ts'
import { ANSWER_MS } from '../runs/open-runs.ts'

/** Returns undefined for a client of a later revision, which gets its questions with the call's response. */
export function sendQuestion(server: Server, { mcpReq }: ServerContext): SendQuestion | undefined {
  if (mcpReq.envelope !== undefined) return undefined
  return async ({ method, params }, signal) => {
    const mode = params['mode'] ?? 'form'
    // Both fields are required or expected in the older revision (MCP 2025-11-25, Elicitation).
    const added =
      method === 'elicitation/create' ? { mode, ...(mode === 'url' && { elicitationId: randomUUID() }) } : {}
    // The type of one method stands for all: the package chooses the schema of the result by the method's name.
    const request = { method: method as 'elicitation/create', params: { ...added, ...params } as never }
    return server.request(request, {
      relatedRequestId: mcpReq.id,
      timeout: ANSWER_MS,
      // A client that is waiting for its user may say so.
      resetTimeoutOnProgress: true,
      onprogress: () => {},
      signal,
    })
  }
}

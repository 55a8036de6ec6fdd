// Calls as tasks in the form of MCP 2025-11-25 (Tasks): a client that wants one says so in its call, which is answered
// with a handle at once. The questions of its cell are sent while the client waits for the result (`tasks/result`).
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Question } from '../../../calls/questions/questions.ts'
import { sendQuestion } from '../send-question.ts'
import type { OpenRun } from './open-run.ts'
import type { TaskRuns } from './task-runs.ts'

export const OLDER_TASKS = { list: {}, cancel: {}, requests: { tools: { call: {} } } }
const RELATED = 'io.modelcontextprotocol/related-task'

const params = z.looseObject({ taskId: z.string() })

/** Answers the requests about tasks. @returns a function that turns a run into a task, and gives the call's answer */
export function serveOlderTasks(server: Server, tasks: TaskRuns): (run: OpenRun) => CallToolResult {
  /** Of this connection: no other one learns an id. */
  const own = new Set<string>()
  const stateOf = (id: string): Result => {
    const {
      status,
      statusMessage,
      createdAt,
      lastUpdatedAt,
      ttlMs: ttl,
      pollIntervalMs: pollInterval,
    } = tasks.stateOf(id)
    const said = statusMessage === undefined ? {} : { statusMessage }
    return { taskId: id, status, ...said, createdAt, lastUpdatedAt, ttl, pollInterval }
  }
  server.setRequestHandler('tasks/get', { params }, ({ taskId }) => stateOf(taskId))
  server.setRequestHandler('tasks/list', { params: z.looseObject({}).optional() }, () => ({
    tasks: [...own].filter((id) => tasks.has(id)).map(stateOf),
  }))
  server.setRequestHandler('tasks/cancel', { params }, ({ taskId }) => {
    const { status } = tasks.stateOf(taskId)
    if (status === 'completed' || status === 'cancelled')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task has ended: it is ${status}`)
    tasks.cancel(taskId)
    return stateOf(taskId)
  })
  server.setRequestHandler('tasks/result', { params }, async ({ taskId }, context) => {
    const result = await tasks.resultOf(taskId, context.mcpReq.signal, (question) => ask(taskId, question, context))
    return { ...result, _meta: { ...result._meta, [RELATED]: { taskId } } }
  })

  function ask(taskId: string, { method, params: asked }: Question, context: ServerContext) {
    const _meta = { [RELATED]: { taskId } }
    return sendQuestion(server, context)!({ method, params: { ...asked, _meta } }, context.mcpReq.signal)
  }

  return (run) => {
    const id = tasks.open(run)
    for (const one of own) if (!tasks.has(one)) own.delete(one)
    own.add(id)
    // The package sends no answer of tools/call that has no content. Any result may have more fields than its own.
    return { content: [], task: stateOf(id) }
  }
}

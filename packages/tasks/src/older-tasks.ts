// Calls as tasks in the form of MCP 2025-11-25 (Tasks): a client that wants one says so in its call, which is answered
// with a handle at once. The questions of its cell are sent while the client waits for the result (`tasks/result`).
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Result, Server, CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import type { Question } from '@sandbridge/core/calls'
import type { ServedTasks } from '@sandbridge/core/parts'
import { type OpenRun, sendQuestion } from '@sandbridge/core/serve/mcp'
import { MAX_TASKS, type TaskRuns } from './task-runs.ts'

const RELATED = 'io.modelcontextprotocol/related-task'

export function olderTasks(server: Server, tasks: TaskRuns): ServedTasks {
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
  const cancel = (taskId: string): Result => {
    const { status } = tasks.stateOf(taskId)
    if (status === 'completed' || status === 'cancelled')
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task has ended: it is ${status}`)
    tasks.cancel(taskId)
    return stateOf(taskId)
  }
  const resultOf = async (taskId: string, context: ServerContext): Promise<Result> => {
    const result = await tasks.resultOf(taskId, context.mcpReq.signal, (question) => ask(taskId, question, context))
    return { ...result, _meta: { ...result._meta, [RELATED]: { taskId } } }
  }

  function ask(taskId: string, { method, params: asked }: Question, context: ServerContext) {
    const _meta = { [RELATED]: { taskId } }
    return sendQuestion(server, context)!({ method, params: { ...asked, _meta } }, context.mcpReq.signal)
  }

  return {
    answer(method, taskId, context) {
      if (method === 'tasks/list') return { tasks: [...own].filter((id) => tasks.has(id)).map(stateOf) }
      if (method === 'tasks/cancel') return cancel(taskId)
      return method === 'tasks/result' ? resultOf(taskId, context) : stateOf(taskId)
    },
    taskFor(isAsked) {
      if (!isAsked) return undefined
      if (!tasks.hasRoom) {
        // A client that asked for a task cannot read the answer of another call.
        throw new ProtocolError(
          ProtocolErrorCode.InternalError,
          `${MAX_TASKS} tasks are running. No code ran. Call again when one has ended, or cancel one.`,
        )
      }
      const answer = (run: OpenRun): CallToolResult => {
        const id = tasks.open(run)
        for (const one of own) if (!tasks.has(one)) own.delete(one)
        own.add(id)
        // The package sends no answer of tools/call that has no content. Any result may have more fields than its own.
        return { content: [], task: stateOf(id) }
      }
      return { answer }
    },
  }
}

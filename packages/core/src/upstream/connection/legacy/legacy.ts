// Revisions to 2025-11-25: a server starts with `initialize`, and says in its tool list which tools run only as a task.
import type { Client } from '@modelcontextprotocol/client'
import { signalOf } from '../../../util/async/cancellation.ts'
import { LOG_LEVEL, request, requestOptions, type Revision, taskRequests } from '../revision.ts'
import { NO_TIMEOUT_MS } from '../sdk.ts'
import type { DirectCalls } from './direct-calls.ts'
import { runAsTask } from './tasks.ts'

/** A server that does not respond to the log level is used without one. */
const LOG_LEVEL_TIMEOUT_MS = 2000
/** The JSON-RPC error code for a tool that runs as a task only. */
const METHOD_NOT_FOUND = -32_601

/** @param direct a faster path for tool calls, if the transport has one */
export function legacy(client: Client, server: string, direct: DirectCalls | undefined): Revision {
  const runsTasks = client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined
  let taskTools = new Set<string>()
  return {
    meta: undefined,
    anyMethod: 'ping',
    send(params, signal) {
      if (runsTasks && taskTools.has(params.name))
        return runAsTask(taskRequests(client, server), server, params, signal && signalOf(signal))
      if (direct) return direct.call(params, signal)
      return request(client, 'tools/call', params, requestOptions(NO_TIMEOUT_MS, signal && signalOf(signal)))
    },
    // A task that has run may have failed with any code.
    isCalledOtherwise: (error, name) =>
      runsTasks && !taskTools.has(name) && (error as { code?: unknown }).code === METHOD_NOT_FOUND,
    learn: (list) => {
      taskTools = list.taskTools
      return list
    },
    begin: async () => {
      if (!client.getServerCapabilities()?.logging) return
      const options = requestOptions(LOG_LEVEL_TIMEOUT_MS)
      await request(client, 'logging/setLevel', { level: LOG_LEVEL }, options).catch(() => {})
    },
  }
}

// What the core uses of tasks: those of a client in both forms, of MCP 2026-07-28 and of 2025-11-25.
import { type CallToolResult, MissingRequiredClientCapabilityError } from '@modelcontextprotocol/server'
import {
  type CapabilitiesOf,
  knowsTasks,
  type ServedTasks,
  type Tasks,
  TASKS_EXTENSION,
  type TaskWaits,
} from '@sandbridge/core/parts'
import { olderTasks } from './older-tasks.ts'
import { TaskRuns } from './task-runs.ts'

/** How long a call may take before it becomes a task: most are faster than a client's first poll. */
const PATIENCE_MS = 3_000

export function createTasks(waits: TaskWaits): Tasks {
  const runs = new TaskRuns(waits)
  return {
    get unfetchedCount() {
      return runs.unfetchedCount
    },
    serve: (server, isModern, capabilitiesOf) =>
      isModern ? modernTasks(runs, capabilitiesOf) : olderTasks(server, runs),
  }
}

/** For clients with the extension. */
function modernTasks(runs: TaskRuns, capabilitiesOf: CapabilitiesOf): ServedTasks {
  return {
    answer(method, taskId, context) {
      if (!knowsTasks(capabilitiesOf(context))) {
        const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } }
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities })
      }
      if (method === 'tasks/get') return runs.get(taskId)
      if (method === 'tasks/cancel') runs.cancel(taskId)
      // The package takes them out of the params of every request.
      else runs.update(taskId, context.mcpReq.inputResponses)
      return {}
    },
    taskFor: () =>
      runs.hasRoom ? { afterMs: PATIENCE_MS, answer: (run) => runs.add(run) as CallToolResult } : undefined,
  }
}

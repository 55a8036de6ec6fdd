// Long calls as tasks of MCP, as far as the core knows them: it announces them, and asks a package for the rest.
import type { CallToolResult, ClientCapabilities, Result, Server, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { Part } from '../../../util/part.ts'
import type { OpenRun } from './open-run.ts'

export const tasks = new Part<TasksPart>('tasks of MCP')

interface TasksPart {
  createTasks: (waits: TaskWaits) => Tasks
}

export interface TaskWaits {
  /** The client must answer a question within some time. */
  awaitAnswer(run: OpenRun): void
  stopWaiting(run: OpenRun): void
  delete(run: OpenRun): boolean
}

/** The tasks of a client, over all its connections. */
export interface Tasks {
  /** How many tasks run, or have ended a moment ago with a result that their client has not fetched. */
  readonly unfetchedCount: number
  serve(server: Server, isModern: boolean, capabilitiesOf: CapabilitiesOf): ServedTasks
}

export type CapabilitiesOf = (context: ServerContext) => ClientCapabilities

/** The tasks of one connection. */
export interface ServedTasks {
  /** @throws ProtocolError */
  answer(method: string, taskId: string, context: ServerContext): Result | Promise<Result>
  /**
   * How a call is answered as a task; undefined if it is answered by its result.
   * @param isAsked the call asks to be a task @throws ProtocolError where too many run for one that asks
   */
  taskFor(isAsked: boolean): LateAnswer | undefined
}

export interface LateAnswer {
  /** When the call is answered, if its cell still runs; missing: when another call would be. */
  afterMs?: number
  answer: (run: OpenRun) => CallToolResult | Promise<CallToolResult>
}

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** What a server announces that has tasks, and the requests about them. */
const MODERN = {
  capabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  methods: ['tasks/get', 'tasks/update', 'tasks/cancel'],
}
const OLDER = {
  capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  methods: ['tasks/get', 'tasks/cancel', 'tasks/result'],
}

export const taskEra = (isModern = false) => (isModern ? MODERN : OLDER)

/** Whether calls of this client may become tasks. */
export const knowsTasks = ({ extensions }: ClientCapabilities): boolean => extensions?.[TASKS_EXTENSION] !== undefined

/** Answers requests about tasks. @param served loads what answers them, at the first */
export function serveTasks(server: Server, isModern: boolean, served: () => Promise<ServedTasks>): void {
  const params = z.looseObject({ taskId: z.string() })
  for (const method of taskEra(isModern).methods)
    server.setRequestHandler(method, { params }, async ({ taskId }, context) =>
      (await served()).answer(method, taskId, context),
    )
  if (!isModern)
    server.setRequestHandler('tasks/list', { params: z.looseObject({}).optional() }, async (_, context) =>
      (await served()).answer('tasks/list', '', context),
    )
}

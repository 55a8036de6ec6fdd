// Revisions to 2025-11-25: a server starts with `initialize`, and says in its tool list which tools run only as a task.
import type { Client } from '@modelcontextprotocol/client'
import { type Abortable, signalOf } from '../../../util/async/cancellation.ts'
import type { ToolList } from '../../listing/tool-list.ts'
import { LOG_LEVEL, request, requestOptions, type Revision, taskRequests, type ToolCall } from '../revision.ts'
import { NO_TIMEOUT_MS, type LooseResult } from '../sdk.ts'
import type { DirectCalls } from './direct-calls.ts'
import { runAsTask } from './tasks.ts'

/** A server that does not respond to the log level is used without one. */
const LOG_LEVEL_TIMEOUT_MS = 2000
/** The JSON-RPC error code for a tool that runs as a task only. */
const METHOD_NOT_FOUND = -32_601

export class Legacy implements Revision {
  readonly meta = undefined
  readonly anyMethod = 'ping'
  readonly #client: Client
  readonly #server: string
  readonly #direct: DirectCalls | undefined
  readonly #runsTasks: boolean
  #taskTools = new Set<string>()

  /** @param direct a faster path for tool calls, if the transport has one */
  constructor(client: Client, server: string, direct: DirectCalls | undefined) {
    this.#client = client
    this.#server = server
    this.#direct = direct
    this.#runsTasks = client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined
  }

  send(params: ToolCall, signal: Abortable | undefined): Promise<LooseResult> {
    if (this.#runsTasks && this.#taskTools.has(params.name)) {
      return runAsTask(taskRequests(this.#client, this.#server), this.#server, params, signal && signalOf(signal))
    }
    if (this.#direct) return this.#direct.call(params, signal)
    return request(this.#client, 'tools/call', params, requestOptions(NO_TIMEOUT_MS, signal && signalOf(signal)))
  }

  isCalledOtherwise(error: unknown, name: string): boolean {
    // A task that has run may have failed with any code.
    return this.#runsTasks && !this.#taskTools.has(name) && (error as { code?: unknown }).code === METHOD_NOT_FOUND
  }

  learn(list: ToolList): ToolList {
    this.#taskTools = list.taskTools
    return list
  }

  async begin(): Promise<void> {
    if (!this.#client.getServerCapabilities()?.logging) return
    const options = requestOptions(LOG_LEVEL_TIMEOUT_MS)
    await request(this.#client, 'logging/setLevel', { level: LOG_LEVEL }, options).catch(() => {})
  }
}

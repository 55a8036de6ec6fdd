// What the eras of the protocol do differently on an open connection: one object for each, in a folder of its own.
import type { Client, RequestOptions } from '@modelcontextprotocol/client'
import { BridgeError } from '../../errors.ts'
import type { Abortable } from '../../util/async/cancellation.ts'
import { REMOTE_HINT } from '../failures/failures.ts'
import { sessionAfter } from '../failures/refusals.ts'
import type { ToolList } from '../listing/tool-list.ts'
import type { CallOptions } from '../upstream.ts'
import { looseResult, NO_TIMEOUT_MS, type LooseResult } from './sdk.ts'

/** The log level requested from servers: their messages are shown when a call fails. */
export const LOG_LEVEL = 'warning'

/** The params of a `tools/call`. */
export interface ToolCall extends Record<string, unknown> {
  name: string
  arguments: Record<string, unknown>
}

export interface Revision {
  /** What each call carries in `_meta`. */
  readonly meta: Record<string, unknown> | undefined
  /** A request that every server answers, be it with an error. */
  readonly anyMethod: 'ping' | 'tools/list'
  send(params: ToolCall, signal: Abortable | undefined): Promise<LooseResult>
  /** Whether the error of `send` says that the tool must be called in a way that only the server's tool list states. */
  isCalledOtherwise(error: unknown, name: string): boolean
  /** The tool's result, where the server may answer with something else. */
  awaited?(answer: LooseResult, options: CallOptions): Promise<LooseResult>
  /** Remembers how tools must be called, and leaves out those that no client may call. */
  learn(list: ToolList): ToolList
  /** Asks for the server's messages. Never rejects. @param onError told of what was refused later */
  begin(onError: (message: string) => void): Promise<void>
}

export function requestOptions(timeout: number, signal?: AbortSignal): RequestOptions {
  return { timeout, ...(signal && { signal }) }
}

export function request(
  client: Client,
  method: string,
  params: Record<string, unknown>,
  options: RequestOptions,
): Promise<LooseResult> {
  return client.request({ method, params }, looseResult, options)
}

/** Sends a request about a task. */
export type TaskRequest = (
  method: string,
  params: Record<string, unknown>,
  signal?: AbortSignal,
) => Promise<LooseResult>

/** When the server loses the session, the task may still have taken effect: the call must not be repeated. */
export function taskRequests(client: Client, server: string): TaskRequest {
  return async (method, params, signal) => {
    try {
      return await request(client, method, params, requestOptions(NO_TIMEOUT_MS, signal))
    } catch (error) {
      if (method === 'tools/call' || sessionAfter(error) !== 'lost') throw error
      const text = `Server '${server}' no longer knows the session. Its task may or may not have taken effect`
      throw new BridgeError('UPSTREAM_UNREACHABLE', text, { hint: REMOTE_HINT })
    }
  }
}

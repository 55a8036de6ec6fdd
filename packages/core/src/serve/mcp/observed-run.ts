// Describes a client's request to run Python for observers: the client, the trace, and the events.
import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { BridgeError, messageOf } from '../../errors.ts'
import type { EventOf, Stamp } from '../../observe/events/event.ts'
import type { EventStream } from '../../observe/events/event-stream.ts'
import { newId } from '../../observe/events/new-id.ts'
import { readTraceContext } from '../../observe/events/trace-context.ts'

/** A client's request, with the id that all its calls refer to. */
export type RunRequest = Omit<EventOf<'run.started'>, 'type' | 'tool' | keyof Stamp> & { tool?: string }

/** In the modern era each request names its client, in the older era the handshake did. */
export function runRequest(server: Server, { mcpReq, http }: ServerContext): RunRequest {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined
  const info: { name?: unknown; version?: unknown } | undefined =
    envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion()
  const version = envelope?.[PROTOCOL_VERSION_META_KEY] ?? server.getNegotiatedProtocolVersion()
  return {
    id: newId(),
    requestId: String(mcpReq.id),
    client: shortText(info?.name),
    clientVersion: shortText(info?.version),
    protocolVersion: shortText(version),
    transport: http ? 'tcp' : 'pipe',
    trace: readTraceContext(mcpReq._meta),
  }
}

/** @throws what `work` throws */
export async function observedRun(
  events: EventStream,
  request: RunRequest,
  work: () => Promise<CallToolResult>,
): Promise<CallToolResult> {
  if (!events.active) return work()
  const { id, client, user } = request
  const startedAt = performance.now()
  const timed = () => ({ type: 'run.ended' as const, id, client, user, durationMs: performance.now() - startedAt })
  events.emit({ type: 'run.started', tool: 'run_python', ...request })
  try {
    const result = await work()
    events.emit({ ...timed(), outcome: result.isError ? 'tool_error' : 'ok', content: result.content })
    return result
  } catch (error) {
    const code = BridgeError.isInstance(error) ? error.code : 'INTERNAL'
    events.emit({ ...timed(), outcome: 'tool_error', error: { code, message: messageOf(error) }, content: [] })
    throw error
  }
}

/** Text from the client, which may be anything. */
function shortText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, 100) : undefined
}

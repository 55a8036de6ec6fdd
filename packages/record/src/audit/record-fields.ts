// Converts events into record fields. Uses the names of OpenTelemetry's MCP semantic conventions where they exist, else
// names with `sandbridge.`.
import type { BridgeEvent, CallFlow, EventOf } from '@sandbridge/core/observe/events/event.ts'
import { MCP_METHODS } from '@sandbridge/core/observe/events/mcp-methods.ts'
import type { RecordOptions } from '@sandbridge/core/observe/record-part.ts'
import { hashOf, shapeOf, sizeOf } from './describe-value.ts'
import type { Redactor } from '@sandbridge/core/config/secrets/redact.ts'
import { isSecret } from '@sandbridge/core/config/secrets/secret-names.ts'
import { shortened, shortName } from '@sandbridge/core/util/text/short-name.ts'

const REDACTED = '[redacted]'
/** Keeps each line short enough for tools to read. */
const MAX_CHARS = 16_384
const MAX_STRING = 2_000
/** Limit for a value that a workflow can use. */
const MAX_WHOLE_CHARS = 256 * 1024
/** Most arguments that a line names with their origins; the others are `*`. */
const MAX_NAMED = 30

let second = Number.NaN
let secondText = ''

export type Fields = Record<string, unknown>

type FieldOptions = Pick<RecordOptions, 'full' | 'replay' | 'redact'>

/** Fields of every line. */
function common(type: string, event: BridgeEvent): Fields {
  const { at, id, parent, run, session, client, user } = event
  return {
    time: isoTime(at),
    type,
    id,
    parent_id: parent,
    'sandbridge.run.id': run,
    'sandbridge.session.id': session,
    'mcp.client.name': client,
    'user.name': user,
  }
}

// Runs and calls are frequent: their fields are one object literal each, with all possible keys. Spreading several
// objects takes ten times as long.

/** @param cell the run's cell; missing if it had none */
export function runFields(
  event: EventOf<'run.ended'> | EventOf<'cell.ended'>,
  run: EventOf<'run.started'> | undefined,
  cell: { started: EventOf<'cell.started'>; codeHash: string; ended: EventOf<'cell.ended'> } | undefined,
  options: FieldOptions,
): Fields {
  const { at, id, parent, session, client, user } = event
  const failed = event.type === 'run.ended' ? event.error?.code : undefined
  return {
    time: isoTime(at),
    type: 'run',
    id,
    parent_id: parent,
    'sandbridge.run.id': id,
    'sandbridge.session.id': cell?.started.session ?? session,
    'mcp.client.name': client,
    'user.name': user,
    'mcp.client.version': run?.clientVersion,
    'mcp.method.name': run && 'tools/call',
    'gen_ai.tool.name': run?.tool,
    'jsonrpc.request.id': run?.requestId,
    'mcp.protocol.version': run?.protocolVersion,
    'network.transport': run?.transport,
    trace_id: run?.trace?.traceId,
    'sandbridge.cell.id': cell?.started.id,
    'sandbridge.cell.number': cell?.started.number,
    'sandbridge.cell.status': cell?.ended.status,
    'sandbridge.code.sha256': cell?.codeHash,
    'sandbridge.code': cell && options.replay ? codeOf(cell.started, options) : undefined,
    'sandbridge.provider': cell?.started.provider,
    'error.type': failed ?? cell?.ended.raised?.name,
    'sandbridge.duration': seconds(event.durationMs),
    'sandbridge.result.bytes': event.type === 'run.ended' ? sizeOf(event.content) : undefined,
  }
}

export function callFields(
  started: EventOf<'call.started'>,
  ended: EventOf<'call.ended'> | undefined,
  { full, replay, redact }: FieldOptions,
): Fields {
  const { at, id, parent, run, session, client, user } = ended ?? started
  const { kind, server, name, args, allowed, flow } = started
  const outcome = ended?.outcome
  return {
    time: isoTime(at),
    type: ended ? 'call' : 'call.started',
    id,
    parent_id: parent,
    'sandbridge.run.id': run,
    'sandbridge.session.id': session,
    'mcp.client.name': client,
    'user.name': user,
    'mcp.method.name': MCP_METHODS[kind],
    'mcp.server.name': server,
    'gen_ai.tool.name': kind === 'tool' ? name : undefined,
    'gen_ai.prompt.name': kind === 'prompt' ? name : undefined,
    // A URI may contain a key.
    'mcp.resource.uri': kind === 'resource' ? redact(server, name) : undefined,
    'sandbridge.arguments.shape': shapeOf(args, started.isNamed ?? (() => false)),
    'sandbridge.arguments.sha256': hashOf(args),
    'gen_ai.tool.call.arguments': full ? argumentsOf(started, replay, redact) : undefined,
    'gen_ai.tool.call.result': replay ? keepWhole(ended?.result, (text) => redact(server, text)) : undefined,
    'sandbridge.decision': allowed?.decision,
    'sandbridge.rule': allowed?.rule,
    'sandbridge.rule.source': allowed?.source,
    ...flowFields(flow, full ? () => true : started.isNamed),
    'sandbridge.outcome': outcome,
    'error.type': outcome === 'tool_error' ? 'tool_error' : ended?.error?.code,
    'sandbridge.error.message': full ? ended?.error?.message : undefined,
    'sandbridge.duration': ended && seconds(ended.durationMs),
    'sandbridge.result.bytes': ended && ended.result !== undefined ? sizeOf(ended.result) : undefined,
  }
}

/** Fields of a denied call, which has no other line. */
export function denialFields(event: EventOf<'call.decided'>, { full, redact }: FieldOptions): Fields {
  const { kind, server, name, decision, rule, source, flow } = event
  return {
    ...common('denial', event),
    'mcp.method.name': MCP_METHODS[kind],
    'mcp.server.name': server,
    'gen_ai.tool.name': kind === 'tool' ? name : undefined,
    'gen_ai.prompt.name': kind === 'prompt' ? name : undefined,
    'mcp.resource.uri': kind === 'resource' ? redact(server, name) : undefined,
    'sandbridge.decision': decision,
    'sandbridge.rule': rule,
    'sandbridge.rule.source': source,
    ...flowFields(flow, () => full),
  }
}

/** Fields of other recorded events; undefined for events that are not recorded. */
export function otherFields(event: BridgeEvent, { full }: FieldOptions): Fields | undefined {
  switch (event.type) {
    case 'question.asked': {
      const { method, server, message, calls = [] } = event
      const about = calls.map((call) => `${call.server}__${call.name}`)
      return {
        ...common('question', event),
        'mcp.method.name': method,
        'mcp.server.name': server,
        'sandbridge.calls': about.length > 0 ? about.slice(0, 50) : undefined,
        ...(full && { 'sandbridge.question.message': message.slice(0, 2_000) }),
      }
    }
    case 'question.answered':
      return {
        ...common('answer', event),
        'mcp.method.name': event.method,
        'mcp.server.name': event.server,
        'sandbridge.answer': event.answer,
        'sandbridge.duration': seconds(event.durationMs),
      }
    case 'sign-in':
      return {
        ...common('sign-in', event),
        'mcp.server.name': event.server,
        'sandbridge.outcome': event.outcome,
        'error.type': event.error?.code,
      }
    case 'config.changed': {
      const { added, removed, changed } = event
      return { ...common('config', event), 'sandbridge.config': { added, removed, changed } }
    }
    default:
      return undefined
  }
}

function argumentsOf(
  { server, args }: EventOf<'call.started'>,
  replay: boolean,
  redact: FieldOptions['redact'],
): string {
  const redactor = (text: string): string => redact(server, text)
  return (replay ? keepWhole(args, redactor) : undefined) ?? redactArguments(args, redactor)
}

/** Names of arguments that no definition has are data. */
function flowFields(flow: CallFlow | undefined, isNamed: (name: string) => boolean = () => false): Fields {
  if (!flow) return {}
  // Not as an object: an argument may be called `constructor`.
  const from = new Map<string, Set<string>>()
  for (const [name, origins] of Object.entries(flow.from)) {
    const known = isNamed(name) && from.size < MAX_NAMED ? shortName(name) : '*'
    from.set(known, new Set([...(from.get(known) ?? []), ...origins]))
  }
  const lists = [...from].map(([name, origins]) => [name, [...origins]])
  return { 'sandbridge.flow.from': Object.fromEntries(lists), 'sandbridge.flow.seen': flow.seen }
}

/** Undefined when the code is too long. */
function codeOf({ code, servers }: EventOf<'cell.started'>, { redact }: FieldOptions): string | undefined {
  if (code.length > MAX_WHOLE_CHARS) return undefined
  return servers.reduce((text, server) => redact(server, text), code)
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000
}

/**
 * Like `new Date(ms).toISOString()`, but ten times as fast for a time in the same second as the one before.
 * @param ms whole milliseconds since 1970
 */
function isoTime(ms: number): string {
  const of = Math.floor(ms / 1000)
  if (of !== second) {
    secondText = new Date(of * 1000).toISOString().slice(0, -4)
    second = of
  }
  return `${secondText}${String(ms - of * 1000).padStart(3, '0')}Z`
}

// Prepares values for the record: removes the secrets of the server's definition, and values whose key marks them as
// secret.

/** Returns JSON of the arguments, or its start if it is long. */
export function redactArguments(args: unknown, redact: Redactor): string {
  const short = (shown: string, length: number) => shortened(shown, MAX_STRING, length)
  return shortened(withoutSecrets(args, redact, short) ?? 'null', MAX_CHARS)
}

/** Returns JSON of code, arguments or a reply for use in a workflow; undefined if it is too long. */
function keepWhole(value: unknown, redact: Redactor): string | undefined {
  if (value === undefined || sizeOf(value) > MAX_WHOLE_CHARS) return undefined
  const whole = withoutSecrets(value, redact, (shown) => shown)
  return whole !== undefined && whole.length <= MAX_WHOLE_CHARS ? whole : undefined
}

function withoutSecrets(
  value: unknown,
  redact: Redactor,
  show: (redacted: string, length: number) => string,
): string | undefined {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (isSecret(key, inner)) return REDACTED
    return typeof inner === 'string' ? show(redact(inner), inner.length) : inner
  }) as string | undefined
  // Redact the whole JSON once more: a key may contain a secret, too.
  return text === undefined ? undefined : redact(text)
}

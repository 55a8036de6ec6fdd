// Writes runs, calls and other events as lines of the record: in the shape in which observers follow them, but without
// output, and with values as far as the settings allow.
import { hash } from 'node:crypto'
import type { BridgeEvent, CallFlow, EventOf } from '@sandbridge/core/observe/events'
import type { RecordOptions } from '@sandbridge/core/parts'
import type { Call, Run } from '@sandbridge/core/observe/runs'
import { argumentsHash } from '@sandbridge/core/util/json/arguments-hash.ts'
import { shapeOf, sizeOf } from './describe-value.ts'
import { isSecret, type Redactor } from '@sandbridge/core/config/secrets'
import { shortened, shortName } from '@sandbridge/core/util/text'

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
function common(type: string, { at, id, parent: cell, run, session, client, user }: BridgeEvent): Fields {
  return { time: isoTime(at), type, id, cell, run, session, client, user }
}

// Frequent, so one literal with all possible keys: spreading objects takes ten times as long.

export function runFields(run: Run, at: number, durationMs: number, options: FieldOptions): Fields {
  const { request, number } = run
  return {
    time: isoTime(at),
    type: 'run',
    id: run.id,
    run: run.run,
    session: run.session || undefined,
    client: run.client || undefined,
    user: run.user,
    clientVersion: request?.clientVersion,
    tool: request?.tool,
    requestId: request?.requestId,
    protocolVersion: request?.protocolVersion,
    transport: request?.transport,
    traceId: request?.trace?.traceId,
    number: number || undefined,
    status: run.status,
    codeHash: number > 0 ? hash('sha256', run.code) : undefined,
    code: number > 0 && options.replay ? codeOf(run, options) : undefined,
    provider: run.provider || undefined,
    error: run.error && { code: run.error.code },
    at: run.at,
    durationMs: Math.round(durationMs),
    callCount: run.callCount,
    deniedCount: run.deniedCount,
    failedCount: run.failedCount,
    calledChars: run.calledChars,
    returnedChars: run.returnedChars,
    delivered: run.delivered,
  }
}

/** Written when it is known, after the line of the run. */
export function deliveryFields({ id, run, session, client, user, delivered }: Run, at: number): Fields {
  return { time: isoTime(at), type: 'delivered', id, run, session, client, user, delivered }
}

/** @param event its end; its beginning, for a call that is recorded before it is made; its denial */
export function callFields(
  event: EventOf<'call.started' | 'call.ended' | 'call.decided'>,
  call: Call,
  { full, replay, redact }: FieldOptions,
): Fields {
  const { kind, server, name, args, allowed, flow, outcome, error } = call
  const isDenied = event.type === 'call.decided'
  const result = event.type === 'call.ended' ? event.result : undefined
  return {
    time: isoTime(event.at),
    type: isDenied ? 'denial' : event.type === 'call.ended' ? 'call' : 'call.started',
    id: call.id,
    cell: event.parent,
    run: event.run,
    session: event.session,
    client: event.client,
    user: event.user,
    kind,
    server,
    // A URI may contain a key.
    name: kind === 'resource' ? redact(server, name) : name,
    args: isDenied
      ? undefined
      : full
        ? argumentsOf(call, replay, redact)
        : shapeOf(args, call.isNamed ?? (() => false)),
    argsHash: isDenied ? undefined : argumentsHash(args),
    result: replay ? keepWhole(result, (text) => redact(server, text)) : undefined,
    decision: isDenied ? 'deny' : allowed?.decision,
    rule: allowed?.rule,
    source: allowed?.source,
    flow: flow && flowFields(flow, full ? () => true : call.isNamed),
    state: call.state,
    reused: call.isReused,
    outcome,
    error: error && !isDenied ? { code: error.code, message: full ? error.message : undefined } : undefined,
    at: call.at,
    durationMs: call.durationMs === undefined ? undefined : Math.round(call.durationMs),
    bytes: result === undefined ? undefined : sizeOf(result),
  }
}

/** Fields of other recorded events; undefined for events that are not recorded. */
export function otherFields(event: BridgeEvent, { full }: FieldOptions): Fields | undefined {
  switch (event.type) {
    case 'question.asked': {
      const { method, server, message, calls = [] } = event
      const about = calls.slice(0, 50).map((call) => `${call.server}__${call.name}`)
      const text = full ? message.slice(0, MAX_STRING) : undefined
      return {
        ...common('question', event),
        method,
        server,
        calls: about.length > 0 ? about : undefined,
        message: text,
      }
    }
    case 'question.answered': {
      const { method, server, answer, durationMs } = event
      return { ...common('answer', event), method, server, answer, durationMs: Math.round(durationMs) }
    }
    case 'sign-in': {
      const { server, outcome, error } = event
      return { ...common('sign-in', event), server, outcome, error: error && { code: error.code } }
    }
    case 'config.changed': {
      const { added, removed, changed } = event
      return { ...common('config', event), config: { added, removed, changed } }
    }
    default:
      return undefined
  }
}

function argumentsOf({ server, args }: Call, replay: boolean, redact: FieldOptions['redact']): string {
  const redactor = (text: string): string => redact(server, text)
  return (replay ? keepWhole(args, redactor) : undefined) ?? redactArguments(args, redactor)
}

/** Names of arguments that no definition has are data. */
function flowFields(flow: CallFlow, isNamed: (name: string) => boolean = () => false): Fields {
  // Not as an object: an argument may be called `constructor`.
  const from = new Map<string, Set<string>>()
  for (const [name, origins] of Object.entries(flow.from)) {
    const known = isNamed(name) && from.size < MAX_NAMED ? shortName(name) : '*'
    from.set(known, new Set([...(from.get(known) ?? []), ...origins]))
  }
  const lists = [...from].map(([name, origins]) => [name, [...origins]])
  return { from: Object.fromEntries(lists), seen: flow.seen }
}

function codeOf({ code, servers }: Run, { redact }: FieldOptions): string | undefined {
  if (code.length > MAX_WHOLE_CHARS) return undefined
  return servers.reduce((text, server) => redact(server, text), code)
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

// Values for the record, without secrets of the definition, and those whose key marks them as secret.

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

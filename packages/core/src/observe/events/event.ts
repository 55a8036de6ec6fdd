// The events for observers, who share the objects and must not change them. They never contain secrets of definitions.
import type { RunLog } from './run-log.ts'
import type { TraceContext } from './trace-context.ts'

interface About {
  /** The same in all events of one run, cell, call, question or session (`newId`), or of one sandbox. */
  id: string
  /** Id of the enclosing run or cell: a cell's run, a call's cell. */
  parent?: string | undefined
  /** Id of the run; a cell that no client runs uses its own id. */
  run?: string | undefined
  session?: string | undefined
  client?: string | undefined
  /** The user whose token the client presented; missing for the owner of the bridge. */
  user?: string | undefined
}

/** An error without its stack. `code` is a code of packages/core/src/errors.ts, or `INTERNAL`. */
export interface EventError {
  code: string
  message: string
}

/** What a call requests. The last two list what a server offers. */
export type CallKind = 'tool' | 'resource' | 'prompt' | 'completion' | 'resources' | 'prompts'

interface Ruled<D extends string> {
  decision: D
  /** The matching rule, as written in its file; missing if no rule matches. */
  rule?: string | undefined
  /** Where the rule is defined, as shown to people. */
  source?: string | undefined
}

/** Why a call is allowed. `ask`: the user was asked. */
export type Allowed = Ruled<'allow' | 'ask'>

/** Where the arguments of a call came from, and what its model had read. */
export interface CallFlow {
  /** Results by the argument that has a part of them: `mail.read_email`. */
  from: Readonly<Record<string, readonly string[]>>
  seen: readonly string[]
}

interface OfCall {
  kind: CallKind
  server: string
  /** The server's own name of the tool or prompt, or the URI of the resource. */
  name: string
}

/** What the events of each type tell, beside what they are about. */
export interface Events {
  'run.started': {
    tool: string
    /** Id of the client's JSON-RPC request. */
    requestId?: string | undefined
    clientVersion?: string | undefined
    protocolVersion?: string | undefined
    transport: 'pipe' | 'tcp'
    trace?: TraceContext | undefined
  }
  'run.ended': {
    /** `tool_error`: the client got a result marked as an error. */
    outcome: 'ok' | 'tool_error'
    /** Why no cell could run. */
    error?: EventError | undefined
    durationMs: number
    /** Content of the result that the client got. */
    content: readonly unknown[]
  }
  /** Whether the client got the result is known by now. */
  'run.delivered': {
    /** False: it was cancelled or came too late, or the client was gone before it had read it. */
    delivered: boolean
  }
  'cell.started': {
    /** Number of the cell in the session. */
    number: number
    code: string
    servers: readonly string[]
    timeoutMs: number
    sandbox: string
    provider: string
    trace?: TraceContext | undefined
  }
  'cell.output': {
    stream: 'stdout' | 'stderr'
    /** As the cell wrote it, without cleaning. */
    text: string
    /** Characters that were cut off for pages. */
    dropped?: number
  }
  'cell.display': {
    /** By media type. */
    data: Record<string, unknown>
  }
  'cell.ended': {
    status: 'ok' | 'error' | 'timeout' | 'interrupted' | 'killed'
    durationMs: number
    value?: Record<string, unknown> | undefined
    raised?: { name: string; message: string } | undefined
    stateLost: boolean
  }
  /** A call was denied, or the user is about to be asked, who may still deny it. Has the id of the call's events. */
  'call.decided': Ruled<'ask' | 'deny'> &
    OfCall & {
      /** Missing where flows are not followed. */
      flow?: CallFlow | undefined
    }
  'call.started': OfCall & {
    args: Readonly<Record<string, unknown>>
    /** Whether the tool or prompt is defined with an argument, or a field in one, of this name. Others are data. */
    isNamed?: ((name: string) => boolean) | undefined
    /** Missing where no rules apply to calls. */
    allowed?: Allowed | undefined
    /** It is not sent: it gets the answer of the same call of a cell whose result was lost. */
    isReused?: true | undefined
    /** Missing where flows are not followed. */
    flow?: CallFlow | undefined
  }
  'call.progress': {
    done: number
    total?: number | undefined
    message?: string | undefined
  }
  'call.ended': OfCall & {
    /** `tool_error`: the server's result is marked as an error. */
    outcome: 'ok' | 'tool_error' | 'failed' | 'cancelled'
    durationMs: number
    /** As the server sent it; missing if there was no result. */
    result?: unknown
    error?: EventError | undefined
    /** See `call.started`. */
    isReused?: true | undefined
  }
  /** The user is asked a question. `server` is missing when the bridge itself asks. */
  'question.asked': {
    method: string
    server?: string | undefined
    message: string
    calls?: readonly { server: string; name: string; args: Readonly<Record<string, unknown>> }[] | undefined
  }
  'question.answered': {
    method: string
    server?: string | undefined
    /** MCP's `accept`, `decline` or `cancel`, a word of the policy such as `session`, or `unanswered`. */
    answer: string
    durationMs: number
  }
  'sandbox.started': {
    provider: string
    python: string
    /** From the request for a sandbox to its first frame. */
    durationMs: number
  }
  /** A session got a sandbox. Ids of sessions are never reused. */
  'sandbox.taken': {
    provider: string
    /** The sandbox was started ahead of need. */
    wasPooled: boolean
    durationMs: number
  }
  'sandbox.ended': {
    provider: string
    /** `disposed` if the bridge ended it. */
    reason: string
  }
  'server.state': {
    server: string
    state: 'starting' | 'installing' | 'running' | 'failed' | 'stopped'
    transport: 'stdio' | 'http' | 'sse'
    /** Duration of the start, or of the time that the server ran. */
    durationMs?: number | undefined
    protocolVersion?: string | undefined
    error?: EventError | undefined
  }
  /** A user signed in to a server or out of it, or a sign-in failed. */
  'sign-in': {
    server: string
    outcome: 'signed-in' | 'signed-out' | 'failed'
    error?: EventError | undefined
  }
  'config.changed': {
    added: readonly string[]
    removed: readonly string[]
    changed: readonly string[]
  }
  'session.started': object
  'session.ended': { durationMs: number }
}

export type EventType = keyof Events
/** An event as the emitting code creates it, without its stamp. */
export type EventBody = { [T in EventType]: { type: T } & About & Events[T] }[EventType]

/** The place of an event in time and order. */
export interface Stamp {
  /** Sequence number of the event within the bridge. */
  seq: number
  /** Milliseconds since 1970, from the system clock. */
  at: number
  /** Milliseconds since the bridge started, from the monotonic clock. */
  mono: number
}

export type BridgeEvent = EventBody & Stamp
export type EventOf<T extends EventType> = Extract<BridgeEvent, { type: T }>

/** Identifies a cell and its owner: fields shared by the cell's events and those of its calls. */
export interface Origin {
  cell: string
  log: RunLog
  session?: string | undefined
  client?: string | undefined
  user?: string | undefined
  trace?: TraceContext | undefined
}

/** The fields that say which cell an event belongs to. */
export function ofCell({ cell, log, session, client, user }: Origin) {
  return { parent: cell, run: log.run, session, client, user }
}

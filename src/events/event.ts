// What the bridge tells its observers: one typed union. An event is data that observers share, so none of them may change it.
// Secrets of server definitions never enter one: error texts are redacted where they are made.
import type { MimeBundle } from '../protocol/frames.ts'
import type { RunLog } from './run-log.ts'
import type { TraceContext } from './trace-context.ts'

/** Common to all events. */
interface About {
  /** The same in all events about one run, cell, call, question, sandbox or session: of `newId`, but for a sandbox its engine's. */
  id: string
  /** What it is part of: a cell's run, a call's cell. */
  parent?: string | undefined
  /** The run that it belongs to; a cell that no client runs is its own. */
  run?: string | undefined
  session?: string | undefined
  /** As the client calls itself. */
  client?: string | undefined
  /** Whom the client has shown the token of; missing for the owner of the bridge. */
  user?: string | undefined
}

/** An error without its stack: `code` is one of src/errors.ts, or `INTERNAL`. */
interface EventError {
  code: string
  message: string
}

/** What a call is for. */
export type CallKind = 'tool' | 'resource' | 'prompt'

/** One request of a client to run Python, from its arrival to its answer. */
export interface RunStarted extends About {
  type: 'run.started'
  tool: string
  /** The id of the client's JSON-RPC request. */
  requestId?: string | undefined
  clientVersion?: string | undefined
  protocolVersion?: string | undefined
  transport: 'pipe' | 'tcp'
  trace?: TraceContext | undefined
}

interface RunEnded extends About {
  type: 'run.ended'
  /** `tool_error`: the client got a result that is marked as an error. */
  outcome: 'ok' | 'tool_error'
  /** Why no cell could be run. */
  error?: EventError | undefined
  durationMs: number
  /** What the client got. */
  content: readonly unknown[]
}

interface CellStarted extends About {
  type: 'cell.started'
  /** Its number in the session. */
  number: number
  code: string
  /** The names of the servers it may reach. */
  servers: readonly string[]
  timeoutMs: number
  /** The id of the sandbox it runs in, and its provider. */
  sandbox: string
  provider: string
  trace?: TraceContext | undefined
}

interface CellOutput extends About {
  type: 'cell.output'
  stream: 'stdout' | 'stderr'
  /** As the cell wrote it: not cleaned. */
  text: string
}

interface CellDisplay extends About {
  type: 'cell.display'
  data: MimeBundle
}

interface CellEnded extends About {
  type: 'cell.ended'
  status: 'ok' | 'error' | 'timeout' | 'interrupted' | 'killed'
  durationMs: number
  /** Of its last expression. */
  value?: MimeBundle | undefined
  /** What it raised. */
  raised?: { name: string; message: string } | undefined
  /** The session's variables are gone. */
  stateLost: boolean
}

/** What is said of a call by the rules. */
interface Ruled<D extends string> {
  decision: D
  /** The rule, as its file has it; missing where none is for the call. */
  rule?: string | undefined
  /** Where the rule is from. */
  source?: string | undefined
}

/** What decided that a call is made. `ask`: the user was asked. */
export type Allowed = Ruled<'allow' | 'ask'>

/** A call is denied, or its user is about to be asked. It has the id that the call has when it is made. What asked first may be denied afterwards. */
interface CallDecided extends About, Ruled<'ask' | 'deny'> {
  type: 'call.decided'
  kind: CallKind
  server: string
  name: string
}

/** A request goes out to a server. */
export interface CallStarted extends About {
  type: 'call.started'
  kind: CallKind
  server: string
  /** The server's own name of the tool or prompt, or the URI of the resource. */
  name: string
  args: Readonly<Record<string, unknown>>
  /** Missing where no rules are held against calls. */
  allowed?: Allowed | undefined
}

interface CallProgress extends About {
  type: 'call.progress'
  done: number
  total?: number | undefined
  message?: string | undefined
}

export interface CallEnded extends About {
  type: 'call.ended'
  kind: CallKind
  server: string
  name: string
  /** `tool_error`: the server's result is marked as an error. */
  outcome: 'ok' | 'tool_error' | 'failed' | 'cancelled'
  durationMs: number
  /** As the server sent it; missing when there was none. */
  result?: unknown
  error?: EventError | undefined
}

/** A person is asked. `server` is missing for a question of the bridge itself. */
interface QuestionAsked extends About {
  type: 'question.asked'
  method: string
  server?: string | undefined
  /** What the person reads. */
  message: string
  /** The calls that the question is about. */
  calls?: readonly { server: string; name: string; args: Readonly<Record<string, unknown>> }[] | undefined
}

interface QuestionAnswered extends About {
  type: 'question.answered'
  method: string
  server?: string | undefined
  /** `accept`, `decline` or `cancel` as MCP has them, a word of the policy such as `session`, or `unanswered`. */
  answer: string
  durationMs: number
}

interface SandboxStarted extends About {
  type: 'sandbox.started'
  provider: string
  python: string
  /** From the wish for one to its first word. */
  durationMs: number
}

/** The id of a session is never reused. */
interface SandboxTaken extends About {
  type: 'sandbox.taken'
  provider: string
  /** It had been started ahead of need. */
  wasPooled: boolean
  /** That the session waited. */
  durationMs: number
}

interface SandboxEnded extends About {
  type: 'sandbox.ended'
  provider: string
  /** `disposed` when the bridge ended it. */
  reason: string
}

export interface ServerStateChanged extends About {
  type: 'server.state'
  server: string
  state: 'starting' | 'running' | 'failed' | 'stopped'
  transport: 'stdio' | 'http' | 'sse'
  /** Of the start, or of the time it was running. */
  durationMs?: number | undefined
  protocolVersion?: string | undefined
  error?: EventError | undefined
}

/** Somebody has signed in to a server, signed out of it, or could not sign in. */
interface SignIn extends About {
  type: 'sign-in'
  server: string
  outcome: 'signed-in' | 'signed-out' | 'failed'
  error?: EventError | undefined
}

interface ConfigChanged extends About {
  type: 'config.changed'
  added: readonly string[]
  removed: readonly string[]
  changed: readonly string[]
}

interface SessionStarted extends About {
  type: 'session.started'
}

interface SessionEnded extends About {
  type: 'session.ended'
  durationMs: number
}

/** An event as those who emit it make it. */
export type EventBody =
  | RunStarted
  | RunEnded
  | CellStarted
  | CellOutput
  | CellDisplay
  | CellEnded
  | CallDecided
  | CallStarted
  | CallProgress
  | CallEnded
  | QuestionAsked
  | QuestionAnswered
  | SandboxStarted
  | SandboxTaken
  | SandboxEnded
  | ServerStateChanged
  | SignIn
  | ConfigChanged
  | SessionStarted
  | SessionEnded

/** When it happened. */
export interface Stamp {
  /** Counts the events of one bridge. */
  seq: number
  /** Milliseconds since 1970, by the clock of the machine. */
  at: number
  /** Milliseconds since the bridge started, by the monotonic clock. */
  mono: number
}

export type BridgeEvent = EventBody & Stamp
export type EventType = BridgeEvent['type']
/** The event of one type. */
export type EventOf<T extends EventType> = Extract<BridgeEvent, { type: T }>

/** Whose doing something is: what a cell's events and those of its calls have in common. */
export interface Origin {
  /** The id of the cell. */
  cell: string
  /** What is logged about it; names the run. */
  log: RunLog
  session?: string | undefined
  client?: string | undefined
  user?: string | undefined
  trace?: TraceContext | undefined
}

// A run of code with its calls, as observers, pages and the record have it. The page imports them, too. Pure.
import type { BridgeEvent, EventError, EventOf, Events } from '../events/event.ts'
import { shortened } from '../../util/text/server-words.ts'

/**
 * `sent`: its server has not answered yet. `unknown`: it never answered, so the call may or may not have taken effect.
 * `unsent`: a rule, the user or the bridge refused it before it reached the server.
 */
export type CallState = 'sent' | 'answered' | 'unknown' | 'unsent'

/** A request of a run to a server. */
export interface Call extends Readonly<Omit<Events['call.started'], 'args'>> {
  readonly id: string
  readonly cell: string
  /** As sent. For pages, the beginning of its JSON; in the record, its JSON or its shape. */
  readonly args: unknown
  /** Milliseconds since 1970, and since the run began. */
  readonly at: number
  readonly startMs: number
  state: CallState
  /** Missing while it is open. */
  outcome?: Events['call.ended']['outcome'] | 'denied'
  durationMs?: number
  /** Text, for pages. */
  result?: string | undefined
  error?: Partial<EventError> | undefined
  /** 0 to 1, or -1 when the total is unknown. */
  progress?: number
  message?: string | undefined
}

/** A piece of a run's output, in order. */
type Part = { kind: 'stdout' | 'stderr'; text: string } | { kind: 'display'; shown: Shown }

type OfCell = 'user' | 'code' | 'at' | 'mono' | 'timeoutMs' | 'provider' | 'servers' | 'trace'

/** Code that ran, or a client's request for it that failed before it had a cell. */
export interface Run extends Pick<EventOf<'cell.started'>, OfCell> {
  /** Id of its cell; of the request while it has none. */
  id: string
  /** Id of the client's request; of its cell when no client asked for it. */
  readonly run: string
  session: string
  client: string
  /** Number of the cell in the session; 0 without a cell. */
  number: number
  status: 'running' | Events['cell.ended']['status']
  durationMs?: number
  parts: Part[]
  /** Characters of output that are kept, and that were dropped. */
  kept: number
  dropped: number
  value?: Shown | undefined
  /** What the code raised, or why no code could run. */
  error?: EventError | undefined
  stateLost: boolean
  /** Open ones. For pages also the last ones that have ended. */
  calls: Call[]
  /** Of all calls, of those that were denied, and of the others that were not answered with success. */
  callCount: number
  deniedCount: number
  failedCount: number
  /** Characters of text in the results of its calls, and in what the client got. */
  calledChars: number
  returnedChars: number
  /** Whether the client got the result; missing while that is not known. */
  delivered?: boolean
  /** The client's request. Missing for a cell that a person typed. */
  readonly request?: EventOf<'run.started'>
}

export interface SessionState {
  readonly id: string
  readonly at: number
  client: string
  cellCount: number
  ended: boolean
}

export interface QuestionState {
  readonly id: string
  readonly cell: string | undefined
  readonly server: string | undefined
  readonly message: string
  readonly at: number
}

export interface ServerState {
  state: string
  since: number
  calls: number
  failed: number
  durationMs: number
  error?: string | undefined
}

/** An event with what it is about, as it is by now: the run may have gone on since. */
export interface Told {
  event: BridgeEvent
  run?: Run | undefined
  call?: Call | undefined
}

/** Errors that are the server's own answer. */
const ANSWERED = /^TOOL_FAILED$/
/** Errors of calls that were never sent, or that the server did not carry out before the user has signed in. */
const UNSENT = /^(UPSTREAM_(AUTH|LINK)_REQUIRED|UPSTREAM_JAIL_|PERMISSION_|PROXY_|STATE_UNWRITABLE|QUOTA_)/

/** @param code of the error that the call ended with; undefined for a result, also one that is marked as an error */
export function stateAfter(code: string | undefined): CallState {
  if (code === undefined || ANSWERED.test(code)) return 'answered'
  return UNSENT.test(code) ? 'unsent' : 'unknown'
}

export interface Shown {
  text?: string | undefined
  /** An image in base64, of a type that browsers can draw and that contains no script. */
  image?: { type: string; data: string } | undefined
}

const TEXT_CHARS = 32 * 1024
const PICTURE_CHARS = 3 * 1024 * 1024
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** @param bundle a value by media type */
export function shownOf(bundle: Readonly<Record<string, unknown>>): Shown {
  const type = PICTURES.find((one) => typeof bundle[one] === 'string' && bundle[one].length <= PICTURE_CHARS)
  const plain = bundle['text/plain'] ?? Object.values(bundle).find((content) => typeof content === 'string')
  return {
    ...(typeof plain === 'string' && { text: shortened(plain, TEXT_CHARS) }),
    ...(type !== undefined && { image: { type, data: bundle[type] as string } }),
  }
}

export const shownSize = ({ text = '', image }: Shown): number => text.length + (image?.data.length ?? 0)

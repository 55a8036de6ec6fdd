// What is known about the process or connection that failed, and what becomes of it. Pure.
import type { BridgeError } from '../../errors.ts'
import type { Redactor } from '../../config/secrets/redact.ts'
import type { OwnCredentials } from '../auth/own-credentials.ts'
import type { SignInPlace } from '../sign-in-part.ts'
import type { InstallFacts } from '../installs-part.ts'
import type { ProcessExit } from '../stdio/server-process.ts'

export interface Circumstances {
  server: string
  signInPlace?: SignInPlace | undefined
  redact: Redactor
  remote: boolean
  /** What its errors mean. Missing for a process. */
  errors?: RemoteErrors | undefined
  /** The first word of its command. */
  program?: string
  /** Its working directory. */
  cwd?: string | undefined
  /** The config file that defines it. */
  file?: string
  /** How it is started or reached, as in its definition and without secrets. */
  command?: string
  /** Its definition has them: no sign-in helps. */
  credentials?: OwnCredentials | undefined
  exit?: ProcessExit | undefined
  /** What it did that made the bridge end it. */
  endedFor?: string | undefined
  /** The server's output, not redacted. */
  stderrTail?: string | undefined
  /** How its package manager installed it, if one starts it. */
  installation?: InstallFacts | undefined
  /** Its last log messages, redacted; empty when it sent none. */
  logged?: string
}

/** A failure as a BridgeError, with what the caller needs to handle it. */
export interface Failure {
  error: BridgeError
  /** The server works but does not accept this way of connecting: another era or transport may work. */
  refused?: boolean
  /** The server was reached, but did not say which era it supports. It was not asked to initialize. */
  ofProbe?: boolean
  /** What the request threw. */
  cause?: unknown
  /** The server does not know the session any more and did not act on the request, or that is to be found out. */
  session?: 'lost' | 'in doubt' | undefined
  /** The server could not be reached or takes no requests. A response to one request, even a failure, is no outage. */
  isOutage?: boolean
  /** The server responded, even if with a refusal. */
  answered?: boolean
  /** JSON-RPC error code, when the server returned one. */
  rpcCode?: number
  retryAfterMs?: number | undefined
}

export interface RemoteErrors {
  /** Describes the root cause of a failed request; undefined when it is unknown. */
  reasonOf: (error: unknown) => string | undefined
  /** What the server wrote in the response, on one line and not redacted; empty when it wrote nothing. */
  saidIn: (error: unknown) => string
  /** False when the server could not be reached, or takes no requests now. */
  wasReached: (error: unknown) => boolean
  /** The wait that the server asked for, if that is why the request failed. */
  retryAfterOf: (error: unknown) => number | undefined
  /** Undefined for an error that no login can fix. */
  loginNeeded: (error: unknown, about: Circumstances) => BridgeError | undefined
  /** @param what the request in words @param effect follows it where the request may have taken effect */
  requestFailure: (error: unknown, what: string, about: Circumstances, effect: string) => Failure
}

/** JSON-RPC error code for a response that was cut off; from the range for implementations. */
export const ANSWER_LOST = -32_065

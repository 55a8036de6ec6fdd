// What is known about the process or connection that failed. Pure.
import type { Redactor } from '../../config/secrets/redact.ts'
import type { SignInPlace } from '../oauth-part.ts'
import type { InstallFacts } from '../stdio/launcher/installation.ts'
import type { ProcessExit } from '../stdio/server-process.ts'

export interface Circumstances {
  server: string
  signInPlace?: SignInPlace | undefined
  redact: Redactor
  remote: boolean
  /** The first word of its command. */
  program?: string
  /** Its working directory. */
  cwd?: string | undefined
  /** The config file that defines it. */
  file?: string
  /** How it is started or reached, as in its definition and without secrets. */
  command?: string
  /** Its definition has client credentials. */
  usesClientCredentials?: boolean
  exit?: ProcessExit | undefined
  /** What it sent that made the bridge end it. */
  endedFor?: string | undefined
  /** The server's output, not redacted. */
  stderrTail?: string | undefined
  /** How its package manager installed it, if one starts it. */
  installation?: InstallFacts | undefined
  /** Its last log messages, redacted; empty when it sent none. */
  logged?: string
}

// Where a command reads, prints and is interrupted: this process, or the one whose command a resident runs.
import type { Readable, Writable } from 'node:stream'
import type { Bridge } from '../../../bridge/bridge.ts'
import type { AnswerPage } from '../../../calls/permissions/answer-page.ts'
import type { AskInput } from '../../../config/entries/input-answers.ts'
import { type ClientContext, processContext } from '../../../config/settings/client-context.ts'
import { type EndSignal, onShutdown } from '../../../util/process/shutdown.ts'
import type { OpenTenant } from '../../../bridge/tenants/open-tenant.ts'
import { type Printer, printer } from './print.ts'

export type TerminalInput = Readable & {
  isTTY?: boolean
  isRaw?: boolean
  setRawMode?(isRaw: boolean): unknown
}

export type TerminalOutput = Writable & { isTTY?: boolean; columns?: number; rows?: number }

interface ResidentHere {
  /** It with the servers of this terminal's folder. */
  open(ask: AskInput | undefined): Promise<OpenTenant>
  /**
   * Its page, which shows the servers of this terminal's folder from now on.
   * @param port missing means any
   * @throws BridgeError CONFIG_INVALID when it cannot be listened on
   */
  page(port: number | undefined): Promise<AnswerPage>
  /** What it does now. */
  now(): Promise<ResidentNow>
}

type Live = Bridge['live']

/** The folder of a session is that of its client. */
export interface ResidentNow extends Live {
  sessions: (Live['sessions'][number] & { folder: string })[]
}

export interface Terminal extends Printer {
  readonly context: ClientContext
  readonly stdin: TerminalInput
  readonly stdout: TerminalOutput
  readonly stderr: TerminalOutput
  exitCode: number | undefined
  /** Calls `end` once, at the first of these signals or when the terminal is gone. The command then ends. */
  onEnd(end: () => Promise<void>, signals?: EndSignal[]): void
  /** Instead of ending, at Ctrl-C. */
  onInterrupt(listener: () => void): void
  /** As Ctrl-C does, where it was read as a key. */
  interrupt(): void
  /** Missing: the command opens a bridge of its own. */
  resident?: ResidentHere
}

export const OWN_TERMINAL: Terminal = {
  ...printer(process),
  get context() {
    return processContext()
  },
  get stdin() {
    return process.stdin
  },
  get stdout() {
    return process.stdout
  },
  get stderr() {
    return process.stderr
  },
  get exitCode() {
    return typeof process.exitCode === 'number' ? process.exitCode : undefined
  },
  set exitCode(code) {
    process.exitCode = code
  },
  onEnd: (end, signals) => onShutdown(end, signals && { signals }),
  onInterrupt: (listener) => void process.on('SIGINT', listener),
  interrupt: () => void process.kill(process.pid, 'SIGINT'),
}

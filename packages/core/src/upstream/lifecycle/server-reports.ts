// What a server says besides its answers (log, errors, finished pages): for errors of calls, and logged.
import { createRedactor, redactEnd, redactStart, type Redactor } from '../../config/secrets/redact.ts'
import type { RemoteServer, ServerDefinition, StdioServer } from '../../config/entries/server-definition.ts'
import type { LogLevel } from '../../util/log.ts'
import type { ServerMessage } from '../connection/log-messages.ts'
import { FinishedPages } from '../connection/required-pages.ts'
import type { ToolList } from '../listing/tool-list.ts'
import { CallTimeouts } from './call-timeouts.ts'
import { Callers } from './callers.ts'
import type { UpstreamPlace } from './upstream-place.ts'
import type { InstallNews } from '../installs-part.ts'
import type { CallOptions } from '../upstream.ts'

const LOGGED_CHARS = 1000
const ERROR_CHARS = 2000
/** How many things that were left out are told of one server. */
const MAX_DROPPED = 50
const LOG_INSTALL_EVERY_S = 30

export class ServerReports {
  readonly callers = new Callers()
  readonly callTimeouts = new CallTimeouts()
  readonly finishedPages = new FinishedPages()
  readonly lastLogged: LastLogged
  /** Progress callbacks of calls that wait for its installation, if it has one. */
  readonly installListeners = new Set<NonNullable<CallOptions['onProgress']>>()
  readonly #server: string
  readonly #place: UpstreamPlace
  readonly #dropped = new Set<string>()
  #install: InstallNews | undefined
  #installLoggedAt = 0
  redact: Redactor

  constructor(definition: ServerDefinition, place: UpstreamPlace) {
    this.#server = definition.name
    this.#place = place
    this.redact = createRedactor(definition.transport, place.context.env, place.signIns.held)
    this.lastLogged = new LastLogged(place.now)
  }

  /** A start begins. @param transport with its placeholders filled in: only now are all secrets known */
  starting(transport: StdioServer | RemoteServer): void {
    this.redact = createRedactor(transport, this.#place.context.env, this.#place.signIns.held)
    this.lastLogged.clear()
  }

  log(level: LogLevel, message: string, fields: Record<string, unknown> = {}): void {
    this.#place.log[level](message, { server: this.#server, ...fields })
  }

  /** Its installation, such as `is being installed by npm, for 12 s so far`; undefined without one. */
  get installation(): string | undefined {
    if (!this.#install) return undefined
    const { manager, isWaiting, seconds } = this.#install
    return isWaiting
      ? `waits for another server that ${manager} installs, for ${seconds} s so far`
      : `is being installed by ${manager}, for ${seconds} s so far`
  }

  /** Tells the calls that wait, and the log: at first, at each change, every 30 s. @param news undefined at the end */
  installing(news: InstallNews | undefined): void {
    const before = this.#install
    this.#install = news
    if (!news) return
    const { manager, isWaiting, seconds } = news
    for (const listener of this.installListeners)
      listener({ progress: seconds, message: `the server ${this.installation}` })
    if (before?.isWaiting === isWaiting && seconds - this.#installLoggedAt < LOG_INSTALL_EVERY_S) return
    this.#installLoggedAt = seconds
    const message = isWaiting ? 'A server waits for the installation of another' : 'A server is being installed'
    this.log('info', message, { manager, seconds })
  }

  message({ level, logger, data }: ServerMessage): void {
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
    const from = logger === undefined ? '' : ` ${logger}:`
    const shown = redactStart(this.redact, `[${level}]${from} ${text}`, LOGGED_CHARS)
    this.lastLogged.add(shown)
    this.log('debug', 'Log message of a server', { message: shown })
  }

  listed({ tools, skipped, isCut, isCircular }: ToolList): void {
    if (isCut) this.log('warning', 'Truncated a tool list that is too long', { toolCount: tools.length })
    if (isCircular) this.log('warning', 'A page of a tool list links to an earlier one')
    const skippedCount = skipped.length
    if (skippedCount > 0) this.log('warning', 'Skipped tools that cannot be called', { skippedCount })
  }

  /** Something in a message of the server was left out. It is said once. */
  dropped(what: string): void {
    if (this.#dropped.has(what) || this.#dropped.size === MAX_DROPPED) return
    this.#dropped.add(what)
    this.log('warning', 'Ignored what a server should not have sent', { what: this.redact(what) })
  }

  error(message: string): void {
    this.log('debug', 'A server reported an error', { detail: redactStart(this.redact, message, ERROR_CHARS) })
  }

  /** All of its output: an error carries only output during its own call, and only if no other session called then. */
  exited(exit: object | undefined, stderr: string | undefined): void {
    const stderrTail = stderr ? redactEnd(this.redact, stderr, LOGGED_CHARS) : undefined
    this.log('warning', 'A server exited; its next use restarts it', { ...exit, ...(stderrTail && { stderrTail }) })
  }
}

const KEPT_COUNT = 3
/** Older messages are unrelated to a failure. */
const RECENT_MS = 60_000

/** The last log messages, redacted, for errors of calls and starts. */
export class LastLogged {
  readonly #now: () => number
  #messages: { at: number; text: string; number: number }[] = []
  #count = 0

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now
  }

  add(text: string): void {
    this.#count += 1
    this.#messages = [...this.#messages, { at: this.#now(), text, number: this.#count }].slice(-KEPT_COUNT)
  }

  clear(): void {
    this.#messages = []
  }

  get count(): number {
    return this.#count
  }

  /** The messages after the first `after`, oldest first; empty when none are recent. */
  text(after = 0): string {
    const since = this.#now() - RECENT_MS
    return this.#messages
      .filter(({ at, number }) => at >= since && number > after)
      .map(({ text }) => text)
      .join('; ')
  }
}

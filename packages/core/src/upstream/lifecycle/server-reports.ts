// What a server says besides its answers (log, errors, finished pages): for errors of calls, and logged.
import { createRedactor, redactEnd, redactStart, type Redactor } from '../../config/secrets/redact.ts'
import type { RemoteServer, ServerDefinition, StdioServer } from '../../config/entries/server-definition.ts'
import type { LogLevel } from '../../util/log.ts'
import type { ServerMessage } from '../connection/log-messages.ts'
import { FinishedPages } from '../connection/required-pages.ts'
import { CallTimeouts } from './call-timeouts.ts'
import { Callers } from './callers.ts'
import { InstallReports } from './install-reports.ts'
import { LastLogged } from './last-logged.ts'
import { ToldStates } from './told-states.ts'
import type { UpstreamPlace } from './upstream-place.ts'

const LOGGED_CHARS = 1000
const ERROR_CHARS = 2000
/** How many things that were left out are told of one server. */
const MAX_DROPPED = 50

export class ServerReports {
  readonly callers = new Callers()
  readonly callTimeouts = new CallTimeouts()
  readonly finishedPages = new FinishedPages()
  readonly states: ToldStates
  readonly lastLogged: LastLogged
  readonly installs: InstallReports
  readonly #server: string
  readonly #place: UpstreamPlace
  readonly #dropped = new Set<string>()
  #redact: Redactor

  constructor(definition: ServerDefinition, place: UpstreamPlace) {
    this.#server = definition.name
    this.#place = place
    this.#redact = createRedactor(definition.transport, place.context.env, place.signIns.held)
    this.states = new ToldStates(definition, place.events)
    this.lastLogged = new LastLogged(place.now)
    this.installs = new InstallReports(({ manager, isWaiting, seconds }, isFirst) => {
      const message = isWaiting ? 'A server waits for the installation of another' : 'A server is being installed'
      this.log('info', message, { manager, seconds })
      if (isFirst) this.states.installing()
    })
  }

  get redact(): Redactor {
    return this.#redact
  }

  /** A start begins. @param transport with its placeholders filled in: only now are all secrets known */
  starting(transport: StdioServer | RemoteServer): void {
    this.#redact = createRedactor(transport, this.#place.context.env, this.#place.signIns.held)
    this.lastLogged.clear()
  }

  log(level: LogLevel, message: string, fields: Record<string, unknown> = {}): void {
    this.#place.log[level](message, { server: this.#server, ...fields })
  }

  message({ level, logger, data }: ServerMessage): void {
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
    const from = logger === undefined ? '' : ` ${logger}:`
    const shown = redactStart(this.#redact, `[${level}]${from} ${text}`, LOGGED_CHARS)
    this.lastLogged.add(shown)
    this.log('debug', 'Log message of a server', { message: shown })
  }

  /** Something in a message of the server was left out. It is said once. */
  dropped(what: string): void {
    if (this.#dropped.has(what) || this.#dropped.size === MAX_DROPPED) return
    this.#dropped.add(what)
    this.log('warning', 'Ignored what a server should not have sent', { what: this.#redact(what) })
  }

  error(message: string): void {
    this.log('debug', 'A server reported an error', { detail: redactStart(this.#redact, message, ERROR_CHARS) })
  }

  /** All of its output: an error carries only output during its own call, and only if no other session called then. */
  exited(exit: object | undefined, stderr: string | undefined): void {
    const stderrTail = stderr ? redactEnd(this.#redact, stderr, LOGGED_CHARS) : undefined
    this.log('warning', 'A server exited; its next use restarts it', { ...exit, ...(stderrTail && { stderrTail }) })
  }
}

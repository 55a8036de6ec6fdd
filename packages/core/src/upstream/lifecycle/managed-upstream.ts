// One upstream over its whole life: started on first use, shared, stopped when idle, restarted after it exited.
import { Turns } from '../../util/async/turns.ts'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { BridgeError, type ErrorCode, shuttingDown } from '../../errors.ts'
import { untilAborted } from '../../util/async/wait.ts'
import { type Abortable, signalOf } from '../../util/async/cancellation.ts'
import { callerOf } from './callers.ts'
import { Circuit } from './circuit.ts'
import type { Connection } from '../connection/connection.ts'
import { StartFailedError, unexpectedExit, UNSURE } from '../failures/failures.ts'
import type { Circumstances } from '../failures/circumstances.ts'
import { IdleWatch, Silence } from './idle-watch.ts'
import { openUpstream } from './open-upstream.ts'
import { ToolCache } from '../listing/tool-cache.ts'
import type { SkippedTool, CallOptions, ServerStart, ToolChanges, UpstreamState, UpstreamTool } from '../upstream.ts'
import { ServerReports } from './server-reports.ts'
import { startErrorOf } from './told-states.ts'
import type { UpstreamPlace } from './upstream-place.ts'

/** A call that its caller gives up sooner says nothing about the server. */
const SILENT_AFTER_MS = 1_000
/** After these errors the server may still be working on the request. */
const GIVEN_UP = new Set<string>(['CANCELLED', 'UPSTREAM_TIMEOUT', 'UPSTREAM_UNREACHABLE'] satisfies ErrorCode[])
/** Changes come in bursts: they are reported this long after the first. */
const OFFERINGS_DELAY_MS = 200

const DEAF = 'It does not answer a ping either. Its next use restarts it'

/** What the sets of servers that use an upstream hear from it. */
export interface UpstreamSubscriber {
  onTools: (tools: UpstreamTool[]) => void
  /** The server says that its resources or prompts have changed. */
  onOfferings: () => void
  /** The server failed to start or exited by itself. */
  onError: (error: BridgeError) => void
}

/** @param inTime the signal to obey in place of the caller's, for a call with a time limit */
type Work<T> = (connection: Connection, inTime?: AbortSignal) => Promise<T>

interface ToolUse {
  tool: string
  onProgress: CallOptions['onProgress']
}

export class ManagedUpstream {
  readonly definition: ServerDefinition
  readonly #place: UpstreamPlace
  readonly #subscriber: UpstreamSubscriber
  readonly #makeRoom: (newcomer: ManagedUpstream) => Promise<void>
  /** What it says besides its answers. */
  readonly reports: ServerReports
  readonly #circuit: Circuit
  readonly #tools: ToolCache
  readonly #silence: Silence
  readonly #idleness: IdleWatch
  readonly #shutdown = new AbortController()
  #connection: Connection | undefined
  /** Of its calls, where only a few may be open at once. */
  readonly turns: Turns | undefined
  /** Connections whose session the server no longer knows, with requests in flight. */
  readonly #retired = new Set<Connection>()
  /** Clean-up of processes that have exited. */
  readonly #ending = new Set<Promise<void>>()
  #starting: Promise<Connection> | undefined
  #closing: Promise<void> | undefined
  #failed = false
  instructions: string | undefined
  /** Entries of its last list that no cell can call. */
  skippedTools: readonly SkippedTool[] = []
  /** Requests that were sent and not answered. */
  #sentCount = 0
  #offeringsTimer: NodeJS.Timeout | undefined
  lastStart: ServerStart | undefined

  /** @param makeRoom called before a process is started; may wait until another one has stopped. @throws BridgeError */
  constructor(
    definition: ServerDefinition,
    place: UpstreamPlace,
    subscriber: UpstreamSubscriber,
    makeRoom: (newcomer: ManagedUpstream) => Promise<void>,
  ) {
    this.definition = definition
    this.#place = place
    this.#subscriber = subscriber
    this.#makeRoom = makeRoom
    this.turns = definition.atOnce === undefined ? undefined : new Turns(definition.atOnce)
    this.reports = new ServerReports(definition, place)
    this.#silence = new Silence(place.pingTimeoutMs)
    this.#idleness = new IdleWatch(place, this.isProcess, {
      onIdle: () => {
        this.reports.log('info', 'An idle server was stopped')
        void this.stop()
      },
      onGone: (connection) => void this.#drop(connection),
    })
    this.#circuit = new Circuit({ server: definition.name, now: place.now, random: place.random })
    this.#tools = new ToolCache({
      onList: (list) => {
        this.reports.listed(list)
        this.skippedTools = list.skipped
        subscriber.onTools(list.tools)
      },
      onError: (error) => this.reports.log('warning', 'The changed tool list could not be read', { error }),
    })
  }

  get state(): UpstreamState {
    if (this.#connection) return 'running'
    if (this.#starting) return this.reports.installs.isInstalling ? 'installing' : 'starting'
    return this.#failed ? 'failed' : 'not-started'
  }

  get isProcess(): boolean {
    return this.definition.transport.type === 'stdio'
  }

  get isIdle(): boolean {
    return !this.#idleness.isInUse && this.#connection !== undefined
  }

  /** By the clock of its place. */
  get lastUsed(): number {
    return this.#idleness.lastUsed
  }

  /** Why the server left a call unanswered that was just given up; undefined when it answers a ping. */
  async whyUnanswered(): Promise<string | undefined> {
    const { name } = this.definition
    const { text } = this.reports.installs
    if (text !== undefined) return `Server '${name}' ${text}. That goes on: call it again later.`
    if (this.#tools.isReading) return `Server '${name}' has not answered the listing of its tools.`
    return (await this.#silence.isDeaf()) ? `Server '${name}' did not answer. ${DEAF}.` : undefined
  }

  /** What the server has said, since its start, of changes of its tools. */
  get toolChanges(): ToolChanges {
    if (!this.#tools.hasChanged) return 'none'
    return this.#tools.isOutdated ? 'unread' : 'read'
  }

  /** Concurrent callers share one listing, which none can cancel. @param again asks the server in any case */
  async listTools(signal?: AbortSignal, again = false): Promise<UpstreamTool[]> {
    const known = again ? undefined : this.#connection && this.#tools.known(this.#connection)
    if (known) this.#idleness.touch(this.#connection)
    const list = known ?? (await this.use(signal, (on) => this.#orCancelled(this.#tools.list(on, again), signal)))
    return list.tools
  }

  /** Stops the server; its next use restarts it. Never rejects. */
  async stop(): Promise<void> {
    if (this.#connection) await this.#drop(this.#connection)
  }

  /** Closes it when its open calls have ended, and those that wait for its start: its definition has changed. */
  async retire(): Promise<void> {
    await this.#idleness.unused()
    await this.#connection?.idle()
    await this.close()
  }

  /** Stops it permanently. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#shutdown.abort(new Error('the bridge is shutting down'))
    await Promise.allSettled([
      this.stop(),
      this.#starting,
      ...this.#ending,
      ...[...this.#retired].map((retired) => retired.close()),
    ])
  }

  /**
   * Runs work on a live connection, starting the server if necessary. Retries once on a new connection when the server
   * no longer knows the session. The result decides whether the circuit lets the next use through.
   * @param call the tool call that the work makes: it has the time limit of the definition, and its progress tells of
   * an installation
   * @throws BridgeError
   */
  async use<T>(signal: Abortable | undefined, work: Work<T>, call?: ToolUse): Promise<T> {
    while (this.#circuit.halfOpenProbe) await this.#orCancelled(this.#circuit.halfOpenProbe, signal)
    const leave = this.#circuit.enter()
    const leaveCallers = this.reports.callers.enter(callerOf(signal))
    const { onProgress } = call ?? {}
    const unhear = !this.#connection && onProgress && this.reports.installs.listen(onProgress)
    const limitMs = call && this.definition.callTimeoutMs
    let mayGoOn = false
    this.#idleness.enter()
    if (call) this.#tools.hurry()
    try {
      for (let attempt = 1; ; attempt += 1) {
        let connection = this.#connection ?? (await this.#connect(signal))
        if (this.#silence.doubts(connection)) connection = await this.#renewed(connection, signal)
        const since = this.#circuit.generation
        const sentAt = this.#place.now()
        this.#sentCount += 1
        try {
          const result = await (limitMs === undefined
            ? work(connection)
            : this.#inTime(connection, signal, work, { ...call!, limitMs }))
          this.#circuit.succeeded(since)
          return result
        } catch (error) {
          if (this.#isUnanswered(error, sentAt)) void this.#silence.ask(connection)
          const failure = connection.failureOf(error)
          if (failure?.isOutage) this.#circuit.failed(failure.error, since, failure.retryAfterMs)
          const session = failure?.session && (await connection.sessionAfter(failure))
          if (failure?.answered && !failure.isOutage && !session?.isLost) this.#circuit.succeeded(since)
          // Other requests on the connection may be under way and continue.
          if (session?.isLost && attempt === 1) this.#retire(connection)
          if (attempt > 1 || !session?.mayRepeat || signal?.aborted) throw error
        } finally {
          this.#sentCount -= 1
        }
      }
    } catch (error) {
      mayGoOn = !BridgeError.isInstance(error) || GIVEN_UP.has(error.code)
      throw error
    } finally {
      leave()
      leaveCallers(mayGoOn)
      if (unhear) unhear()
      this.#idleness.leave(this.#connection)
    }
  }

  async #inTime<T>(
    connection: Connection,
    given: Abortable | undefined,
    work: Work<T>,
    { tool, limitMs }: { tool: string; limitMs: number },
  ): Promise<T> {
    const { name } = this.definition
    const words = connection.wordsFromNow()
    const limit = this.reports.callTimeouts.begin(limitMs)
    try {
      return await work(connection, given ? AbortSignal.any([signalOf(given), limit.signal]) : limit.signal)
    } catch (error) {
      if (!limit.signal.aborted || given?.aborted) throw error
      const text = `Server '${name}' did not answer the call of '${tool}' within ${limitMs / 1000} s${UNSURE}`
      const said = words()
      const isDeaf = !(await this.#orCancelled(this.#silence.ask(connection), given))
      const full = isDeaf ? `${text}. ${DEAF}` : text
      throw new BridgeError('UPSTREAM_TIMEOUT', said === '' ? full : `${full}.${said}`)
    } finally {
      limit.end()
    }
  }

  #isUnanswered(error: unknown, sentAt: number): boolean {
    if (!BridgeError.isInstance(error)) return false
    if (error.code === 'UPSTREAM_TIMEOUT') return true
    return error.code === 'CANCELLED' && this.#place.now() - sentAt >= SILENT_AFTER_MS
  }

  /** Restarts a server that left a call and a ping unanswered, unless other callers still wait for it. */
  async #renewed(connection: Connection, signal: Abortable | undefined): Promise<Connection> {
    const doesAnswer = await this.#orCancelled(this.#silence.ask(connection), signal)
    if (!doesAnswer && this.#connection === connection && this.#sentCount === 0) {
      this.reports.log('warning', 'A server answers neither calls nor a ping; it is restarted')
      const text = `Server '${this.definition.name}' answered neither calls nor a ping, and was restarted`
      this.#subscriber.onError(new BridgeError('UPSTREAM_TIMEOUT', text))
      await this.#drop(connection)
    }
    return this.#connection ?? (await this.#connect(signal))
  }

  async #connect(signal: Abortable | undefined): Promise<Connection> {
    const { name, trusted } = this.definition
    if (this.#shutdown.signal.aborted) throw shuttingDown()
    if (signal?.aborted) throw cancelled(name)
    if (trusted === false) {
      throw new BridgeError('PROXY_SERVER_UNAVAILABLE', `Server '${name}' is defined by an untrusted project file`, {
        hint: 'Ask the user to run `sandbridge trust` in the project.',
        userHint: 'Read its config file, and run `sandbridge trust` in the project.',
      })
    }
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined))
    return this.#orCancelled(this.#starting, signal)
  }

  /** Waits for work that others wait for, too: an abort ends the waiting, not the work. */
  #orCancelled<T>(shared: Promise<T>, signal: Abortable | undefined): Promise<T> {
    return untilAborted(shared, signal, () => cancelled(this.definition.name))
  }

  async #start(): Promise<Connection> {
    const since = this.#circuit.generation
    this.reports.states.starting()
    try {
      if (this.isProcess) await this.#makeRoom(this)
      const connection = await this.#open()
      this.#circuit.succeeded(since)
      this.#failed = false
      this.#connection = connection
      this.lastStart = { at: Date.now(), tookMs: this.reports.states.stateMs }
      // A server that lost its session may still be working on earlier requests.
      if (this.#retired.size === 0) this.reports.callers.opened({ asksWithinCalls: connection.era === 'modern' })
      this.instructions = connection.instructions || undefined
      this.reports.log('info', 'A server was started', { era: connection.era })
      this.reports.states.changed('running', { protocolVersion: connection.protocolVersion })
      return connection
    } catch (error) {
      this.#failed = true
      this.reports.states.changed('failed', { error: startErrorOf(error) })
      if (!(error instanceof StartFailedError)) throw error
      const { failure } = error
      if (failure.isOutage) this.#circuit.failed(failure.error, since, failure.retryAfterMs)
      this.#subscriber.onError(failure.error)
      throw failure.error
    } finally {
      this.reports.installs.over()
    }
  }

  async #open(): Promise<Connection> {
    const { definition } = this
    const place = this.#place
    const transport = await place.resolveTransport(definition)
    this.reports.starting(transport)
    let connection: Connection | undefined
    connection = await openUpstream({
      definition,
      transport,
      place,
      reports: this.reports,
      auth:
        transport.type === 'stdio'
          ? undefined
          : await place.signIns.authOf(definition.name, transport, this.reports.redact),
      signal: this.#shutdown.signal,
      onToolsChanged: () => this.#tools.changed(),
      onOfferingsChanged: () => this.#offeringsChanged(),
      onClose: (about) => connection && this.#lost(connection, about),
    })
    return connection
  }

  #lost(connection: Connection, about: Circumstances): void {
    if (this.#connection !== connection) return
    // A jail must be cleaned up after its process has exited.
    if (this.isProcess) {
      const closing = connection.close().finally(() => this.#ending.delete(closing))
      this.#ending.add(closing)
    }
    this.#forget()
    this.#failed = true
    this.reports.exited(about.exit, about.stderrTail)
    this.reports.states.changed('failed', { error: { code: 'UPSTREAM_UNREACHABLE', message: 'The server exited' } })
    if (about.exit) this.#subscriber.onError(unexpectedExit(about, about.exit))
  }

  async #drop(connection: Connection): Promise<void> {
    if (this.#connection === connection) this.#stopped()
    await connection.close()
  }

  /** The server no longer knows the session, but may still answer earlier requests. */
  #retire(connection: Connection): void {
    if (this.#connection === connection) this.#stopped()
    if (this.#retired.has(connection)) return
    this.#retired.add(connection)
    void connection
      .idle()
      .then(() => connection.close())
      .finally(() => this.#retired.delete(connection))
  }

  #stopped(): void {
    this.#forget()
    this.reports.states.changed('stopped')
  }

  #forget(): void {
    this.#connection = undefined
    this.#tools.reset()
    this.#idleness.end()
  }

  #offeringsChanged(): void {
    if (this.#offeringsTimer) return
    this.#offeringsTimer = setTimeout(() => {
      this.#offeringsTimer = undefined
      if (this.#connection) this.#subscriber.onOfferings()
    }, OFFERINGS_DELAY_MS).unref()
  }
}

function cancelled(server: string): BridgeError {
  return new BridgeError('CANCELLED', `The request to server '${server}' was cancelled`)
}

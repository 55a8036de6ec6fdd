// One upstream over its whole life, which all uses share. `close` ends it for good, in any state:
//
//       ┌───────── idle timeout, stop(), unknown session, unanswered ping ─────────┐
//       ▼                                                                          │
//  not-started ──use──▶ starting ──package manager──▶ installing ──connected──▶ running
//                        ▲  │ └─────────────────connected────────────────────────▶ │
//                       use │                             │                        │
//                        │  └───error──▶ failed ◀──error──┘                        │
//                        └────────────────┘  ▲                                     │
//                                            └─────────────── exit ────────────────┘
import { Turns } from '../../util/async/turns.ts'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { BridgeError, type ErrorCode, messageOf, shuttingDown } from '../../errors.ts'
import type { Events } from '../../observe/events/event.ts'
import { newId } from '../../observe/events/new-id.ts'
import { untilAborted } from '../../util/async/wait.ts'
import { type Abortable, signalOf } from '../../util/async/cancellation.ts'
import { callerOf } from './callers.ts'
import { Circuit } from './circuit.ts'
import type { Connection } from '../connection/connection.ts'
import { StartFailedError, unexpectedExit, UNSURE } from '../failures/failures.ts'
import type { Circumstances } from '../failures/circumstances.ts'
import { openUpstream } from './open-upstream.ts'
import { ToolCache } from '../listing/tool-cache.ts'
import type {
  SkippedTool,
  CallOptions,
  ServerStart,
  ToolChanges,
  UpstreamListener,
  UpstreamState,
  UpstreamTool,
} from '../upstream.ts'
import { ServerReports } from './server-reports.ts'
import type { UpstreamPlace } from './upstream-place.ts'

/** A call that its caller gives up sooner says nothing about the server. */
const SILENT_AFTER_MS = 1_000
/** After these errors the server may still be working on the request. */
const GIVEN_UP = new Set<string>(['CANCELLED', 'UPSTREAM_TIMEOUT', 'UPSTREAM_UNREACHABLE'] satisfies ErrorCode[])
/** Changes come in bursts: they are reported this long after the first. */
const OFFERINGS_DELAY_MS = 200
/** How long a remote connection may be idle before the bridge pings it. */
const PING_AFTER_MS = 5 * 60_000
const DEAF = 'It does not answer a ping either. Its next use restarts it'

/** Tells the sets of servers that use an upstream. @param say called for each of their listeners */
export type Tell = (say: (listener: UpstreamListener, server: string) => void) => void

/** @param inTime the signal to obey in place of the caller's, for a call with a time limit */
type Work<T> = (connection: Connection, inTime?: AbortSignal) => Promise<T>

interface ToolUse {
  tool: string
  onProgress: CallOptions['onProgress']
}

type Life =
  | { state: 'not-started' | 'failed' }
  | { state: 'starting' | 'installing'; connecting: Promise<Connection> }
  | { state: 'running'; connection: Connection }

export class ManagedUpstream {
  readonly definition: ServerDefinition
  readonly #place: UpstreamPlace
  readonly #tell: Tell
  readonly #makeRoom: (newcomer: ManagedUpstream) => Promise<void>
  /** What it says besides its answers. */
  readonly reports: ServerReports
  readonly #circuit: Circuit
  readonly #tools: ToolCache
  readonly #shutdown = new AbortController()
  #life: Life = { state: 'not-started' }
  /** When that began. */
  #since = 0
  /** Event id of the latest start. */
  #startId = ''
  /** Of its calls, where only a few may be open at once. */
  readonly turns: Turns | undefined
  /** Connections that are over and not closed yet. */
  readonly #closings = new Set<Promise<void>>()
  /** Of those, the ones whose session the server no longer knows, with requests in flight. */
  #retiredCount = 0
  #closed: Promise<void> | undefined
  instructions: string | undefined
  /** Entries of its last list that no cell can call. */
  skippedTools: readonly SkippedTool[] = []
  lastStart: ServerStart | undefined
  /** When it was last used, by the clock of its place. */
  lastUsed = 0
  /** Uses, also those that wait for its start. */
  #useCount = 0
  #onUnused: (() => void) | undefined
  #idleTimer: NodeJS.Timeout | undefined
  /** Requests that were sent and not answered. */
  #sentCount = 0
  #offeringsTimer: NodeJS.Timeout | undefined

  /** @param makeRoom called before a process is started; may wait until another one has stopped. @throws BridgeError */
  constructor(
    definition: ServerDefinition,
    place: UpstreamPlace,
    tell: Tell,
    makeRoom: (newcomer: ManagedUpstream) => Promise<void>,
  ) {
    this.definition = definition
    this.#place = place
    this.#tell = tell
    this.#makeRoom = makeRoom
    this.turns = definition.atOnce === undefined ? undefined : new Turns(definition.atOnce)
    this.reports = new ServerReports(definition, place)
    this.#circuit = new Circuit({ server: definition.name, now: place.now, random: place.random })
    this.#tools = new ToolCache({
      onList: (list) => {
        this.reports.listed(list)
        this.skippedTools = list.skipped
        tell((listener, server) => listener.onTools?.(server, list.tools))
      },
      onError: (error) => this.reports.log('warning', 'The changed tool list could not be read', { error }),
    })
  }

  get state(): UpstreamState {
    return this.#life.state
  }

  get #connection(): Connection | undefined {
    return this.#life.state === 'running' ? this.#life.connection : undefined
  }

  get isProcess(): boolean {
    return this.definition.transport.type === 'stdio'
  }

  get isIdle(): boolean {
    return this.#useCount === 0 && this.state === 'running'
  }

  /** Why the server left a call unanswered that was just given up; undefined when it answers a ping. */
  async whyUnanswered(): Promise<string | undefined> {
    const { name } = this.definition
    const { installation } = this.reports
    if (installation !== undefined) return `Server '${name}' ${installation}. That goes on: call it again later.`
    if (this.#tools.isReading) return `Server '${name}' has not answered the listing of its tools.`
    return (await this.#connection?.isDeaf()) ? `Server '${name}' did not answer. ${DEAF}.` : undefined
  }

  get toolChanges(): ToolChanges {
    return this.#tools.changes
  }

  /** Concurrent callers share one listing, which none can cancel. @param again asks the server in any case */
  async listTools(signal?: AbortSignal, again = false): Promise<UpstreamTool[]> {
    const known = again ? undefined : this.#connection && this.#tools.known(this.#connection)
    if (known) this.#touch()
    const list = known ?? (await this.use(signal, (on) => this.#orCancelled(this.#tools.list(on, again), signal)))
    return list.tools
  }

  /** Stops the server; its next use restarts it. Never rejects. */
  async stop(): Promise<void> {
    if (this.#connection) await this.#drop(this.#connection)
  }

  /** Closes it when its open calls have ended, and those that wait for its start: its definition has changed. */
  async retire(): Promise<void> {
    if (this.#useCount > 0) await new Promise<void>((resolve) => (this.#onUnused = resolve))
    await this.#connection?.idle()
    await this.close()
  }

  /** Stops it permanently. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#shutdown.abort(new Error('the bridge is shutting down'))
    if ('connecting' in this.#life) await this.#life.connecting.catch(() => {})
    await Promise.all([this.stop(), ...this.#closings])
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
    if (onProgress && this.state !== 'running') this.reports.installListeners.add(onProgress)
    const limitMs = call && this.definition.callTimeoutMs
    let mayGoOn = false
    this.#useCount += 1
    if (call) this.#tools.hurry()
    try {
      for (let attempt = 1; ; attempt += 1) {
        let connection = this.#connection ?? (await this.#connect(signal))
        if (connection.isDoubted) connection = await this.#renewed(connection, signal)
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
          if (this.#isUnanswered(error, sentAt)) void connection.answers()
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
      if (onProgress) this.reports.installListeners.delete(onProgress)
      this.#useCount -= 1
      this.#touch()
      if (this.#useCount === 0) this.#onUnused?.()
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
      const doesAnswer = await this.#orCancelled(connection.answers(), given)
      const full = doesAnswer ? text : `${text}. ${DEAF}`
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
    const doesAnswer = await this.#orCancelled(connection.answers(), signal)
    if (!doesAnswer && this.#connection === connection && this.#sentCount === 0) {
      this.reports.log('warning', 'A server answers neither calls nor a ping; it is restarted')
      const text = `Server '${this.definition.name}' answered neither calls nor a ping, and was restarted`
      this.#erred(new BridgeError('UPSTREAM_TIMEOUT', text))
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
    const connecting = 'connecting' in this.#life ? this.#life.connecting : this.#start()
    if (!('connecting' in this.#life)) this.#become({ state: 'starting', connecting })
    return this.#orCancelled(connecting, signal)
  }

  /** Waits for work that others wait for, too: an abort ends the waiting, not the work. */
  #orCancelled<T>(shared: Promise<T>, signal: Abortable | undefined): Promise<T> {
    return untilAborted(shared, signal, () => cancelled(this.definition.name))
  }

  async #start(): Promise<Connection> {
    const { definition, reports } = this
    const place = this.#place
    const since = this.#circuit.generation
    try {
      if (this.isProcess) await this.#makeRoom(this)
      const transport = await place.resolveTransport(definition)
      reports.starting(transport)
      const isRemote = transport.type !== 'stdio'
      const connection = await openUpstream({
        definition,
        transport,
        place,
        reports,
        auth: isRemote ? await place.signIns.authOf(definition.name, transport, reports.redact) : undefined,
        signal: this.#shutdown.signal,
        onInstalling: (news) => {
          reports.installing(news)
          if (this.#life.state === 'starting') this.#become({ ...this.#life, state: 'installing' })
        },
        onToolsChanged: () => this.#tools.changed(),
        onOfferingsChanged: () => this.#offeringsChanged(),
        onClose: (lost, about) => this.#lost(lost, about),
      })
      this.#circuit.succeeded(since)
      this.lastStart = { at: Date.now(), tookMs: performance.now() - this.#since }
      // A server that lost its session may still be working on earlier requests.
      if (this.#retiredCount === 0) reports.callers.opened({ asksWithinCalls: connection.era === 'modern' })
      this.instructions = connection.instructions || undefined
      reports.log('info', 'A server was started', { era: connection.era })
      this.#become({ state: 'running', connection }, { protocolVersion: connection.protocolVersion })
      // Whoever started it may have given up.
      this.#touch()
      return connection
    } catch (thrown) {
      const failure = thrown instanceof StartFailedError ? thrown.failure : undefined
      const error = failure?.error ?? thrown
      const { code = 'INTERNAL' } = error as { code?: string }
      this.#become({ state: 'failed' }, { error: { code, message: messageOf(error) } })
      if (failure?.isOutage) this.#circuit.failed(failure.error, since, failure.retryAfterMs)
      if (failure) this.#erred(failure.error)
      throw error
    } finally {
      reports.installing(undefined)
    }
  }

  #lost(connection: Connection, about: Circumstances): void {
    if (this.#connection !== connection) return
    // A jail must be cleaned up after its process has exited.
    if (this.isProcess) this.#end(connection.close())
    this.reports.exited(about.exit, about.stderrTail)
    this.#become({ state: 'failed' }, { error: { code: 'UPSTREAM_UNREACHABLE', message: 'The server exited' } })
    if (about.exit) this.#erred(unexpectedExit(about, about.exit))
  }

  async #drop(connection: Connection): Promise<void> {
    if (this.#connection === connection) this.#become({ state: 'not-started' })
    await connection.close()
  }

  /** The server no longer knows the session, but may still answer earlier requests. */
  #retire(connection: Connection): void {
    if (this.#connection !== connection) return
    this.#become({ state: 'not-started' })
    this.#retiredCount += 1
    const idle = untilAborted(connection.idle(), this.#shutdown.signal).catch(() => {})
    this.#end(idle.then(() => connection.close()).finally(() => (this.#retiredCount -= 1)))
  }

  #end(closing: Promise<void>): void {
    this.#closings.add(closing)
    void closing.finally(() => this.#closings.delete(closing))
  }

  /** Its event says how long the state before lasted; an installation is a part of the start. */
  #become(life: Life, about: Partial<Events['server.state']> = {}): void {
    const now = performance.now()
    const durationMs = life.state === 'starting' ? undefined : now - this.#since
    if (life.state === 'starting') this.#startId = newId()
    if (life.state !== 'installing') this.#since = now
    if (this.#life.state === 'running') {
      this.#tools.reset()
      clearTimeout(this.#idleTimer)
    }
    this.#life = life
    this.#place.events.emit({
      type: 'server.state',
      id: this.#startId,
      server: this.definition.name,
      state: life.state === 'not-started' ? 'stopped' : life.state,
      transport: this.definition.transport.type,
      ...(durationMs !== undefined && { durationMs }),
      ...about,
    })
  }

  #touch(): void {
    this.lastUsed = this.#place.now()
    this.#watchIdle()
  }

  /** Stops an unused server after its idle timeout, and drops a remote one that does not answer a ping. */
  #watchIdle(): void {
    clearTimeout(this.#idleTimer)
    const connection = this.#connection
    if (!connection || this.#useCount > 0) return
    const { idleMs, now } = this.#place
    const leftMs = idleMs > 0 ? this.lastUsed + idleMs - now() : Infinity
    const waitMs = Math.min(leftMs, this.isProcess ? Infinity : PING_AFTER_MS)
    if (waitMs === Infinity) return
    this.#idleTimer = setTimeout(() => {
      // A call that began meanwhile watches again when it ends.
      if (this.#useCount > 0) return
      if (waitMs === leftMs) {
        this.reports.log('info', 'An idle server was stopped')
        void this.#drop(connection)
      }
      // A failed ping is not reported: the next use reconnects.
      else
        connection.ping().then(
          () => this.#watchIdle(),
          () => this.#drop(connection),
        )
    }, waitMs).unref()
  }

  #erred(error: BridgeError): void {
    this.#tell((listener, server) => listener.onError?.(server, error))
  }

  #offeringsChanged(): void {
    if (this.#offeringsTimer) return
    this.#offeringsTimer = setTimeout(() => {
      this.#offeringsTimer = undefined
      if (this.#connection) this.#tell((listener, server) => listener.onOfferings?.(server))
    }, OFFERINGS_DELAY_MS).unref()
  }
}

function cancelled(server: string): BridgeError {
  return new BridgeError('CANCELLED', `The request to server '${server}' was cancelled`)
}

// Runs the cells of all sessions: decides which servers each can reach, starts the servers it names, and lets it be
// interrupted.
import type { CellResult } from '../cell/cell-result.ts'
import type { LiveSettings } from '../config/settings/file/live-settings.ts'
import type { Settings } from '../config/settings/settings.ts'
import type { BridgeError } from '../errors.ts'
import type { Origin } from '../observe/events/event.ts'
import type { EventStream } from '../observe/events/event-stream.ts'
import { newId } from '../observe/events/new-id.ts'
import { RunLog } from '../observe/events/run-log.ts'
import type { TraceContext } from '../observe/events/trace-context.ts'
import type { Log } from '../util/log.ts'
import type { CellMasker, Maskers } from '../cell/masking-part.ts'
import type { Methods } from '../calls/methods/method.ts'
import { type ServerApp, ServerApps } from '../calls/methods/server-apps.ts'
import { namedServers } from '../calls/named-servers.ts'
import type { Hold } from '../calls/permissions/answer-page.ts'
import { CellPermissions } from '../calls/permissions/cell-permissions.ts'
import { deniedByRule } from '../calls/permissions/denied.ts'
import type { WatchedFlows } from '../config/rules/declared-flows.ts'
import type { Policy } from '../config/rules/policy.ts'
import type { SessionFlow } from '../calls/flow-part.ts'
import { CalledTools } from '../calls/notes/called-tools.ts'
import { unansweredNotes } from '../calls/notes/unanswered-notes.ts'
import { serveCalls } from '../calls/proxy.ts'
import { type Scope, scopeFor } from '../calls/scope.ts'
import { refuseUntrusted } from '../calls/trust-hint.ts'
import type { Asker, Questions } from '../calls/questions/questions.ts'
import type { ShownResult } from '../cell/render/render-result.ts'
import type { CellListeners, CellRequest } from '../cell/session/cell-run.ts'
import type { Session } from '../cell/session/session.ts'
import { ARTIFACT_LIMITS, type Artifact } from '../keep/saved/artifact-store.ts'
import type { SavedToolContent } from '../keep/saved/saved-tool.ts'
import { Uploads } from '../keep/saved/uploads.ts'
import type { UserState } from '../keep/user-state.ts'
import type { SignInPage } from '../upstream/oauth-part.ts'
import type { SignInOptions, Upstreams } from '../upstream/upstream.ts'
import { CellNews } from './cell-news.ts'
import { finishResult } from './finish-result.ts'
import type { ServerSet } from './server-set.ts'
import { startServers } from './start-servers.ts'
import { type KeptContent, readKept, SessionFlows } from './session-flows.ts'
import type { Tenant } from './tenant.ts'

export interface RunCellRequest extends Pick<
  CellRequest,
  'code' | 'language' | 'aside' | 'guest' | 'timeoutMs' | 'timeLimit' | 'signal' | 'listeners'
> {
  /** Names or aliases of servers; the cell can reach only these. */
  servers?: string[] | undefined
  /** The client can show apps to its user. */
  showsApps?: boolean
  /** Answers questions that upstreams ask during the cell's calls. */
  asker?: Asker
  /** For an unattended cell: where a rule says to ask, only calls of these tools are made. */
  allowed?: readonly { server: string; tool: string }[]
  /** The workflow that the cell runs without a model. */
  workflow?: WatchedFlows
  /** Serves the cell's calls in place of the bridge's own upstreams. */
  upstreams?: Upstreams
  /** The reader is a person at a terminal: hints then say what to do, instead of what to ask the user. */
  forPerson?: boolean
  /** False when the session ends with the cell, so that a question cannot be answered later. */
  keepsQuestions?: boolean
  /** The page shows this cell, and questions about its calls in it: they wait, in this way, for an answer there. */
  hold?: Hold
  /** The client's run that contains the cell. */
  run?: RunOrigin
}

/** A client's request to run Python, as recorded with its cell and the cell's calls. */
export interface RunOrigin {
  /** Missing when no client request runs the cell. */
  id?: string
  /** Missing: only the bridge's own log gets the lines. */
  log?: RunLog | undefined
  client?: string | undefined
  /** The servers whose text its client's models have read, in any session. */
  seen?: Set<string>
  trace?: TraceContext | undefined
}

interface CellsOptions {
  settings: Settings
  log: Log
  events: EventStream
  questions: Questions
  /** Undefined when masking is off. */
  maskers: Maskers | undefined
  /** Whose session it is. */
  tenantOf: (session: Session) => Tenant
  signInPage: SignInPage | undefined
  checkSavedTool: (tool: SavedToolContent, state: UserState) => Promise<void>
  /** Why runs and calls cannot be recorded; undefined while they can be. */
  recordFailure: () => BridgeError | undefined
  /** Applies changes of settings.json, and tells which take effect later. @throws BridgeError CONFIG_INVALID */
  refreshSettings: LiveSettings['refresh'] | undefined
  /** Methods of features. */
  methods: Methods | undefined
}

type Serve = ReturnType<typeof serveCalls>

/** State of one cell, from its request to its result. */
interface OpenCell {
  session: Session
  /** The id of the client's run. */
  run: string | undefined
  /** The request named the servers that the cell can reach. */
  isNamed: boolean
  scope: Scope
  tenant: Tenant
  servers: ServerSet
  /** The rules at its start. */
  policy: Policy | undefined
  flow: SessionFlow | undefined
  masker: CellMasker | undefined
  asker: Asker | undefined
  listeners: CellListeners | undefined
  log: RunLog
  origin: Origin
  /** Interrupts the cell, as its client can. */
  interrupt: AbortController
  called: CalledTools
  notes: Set<string>
  savedArtifacts: Artifact[]
}

const STOPPED = 'The user did not allow a call, and stopped the cell.'

export class Cells {
  readonly #options: CellsOptions
  /** Controllers of running and waiting cells, by the cell's id in events. */
  readonly #interrupts = new Map<string, AbortController>()
  readonly #news: CellNews
  /** What the models of sessions have read. */
  readonly flows = new SessionFlows()
  readonly #apps = new WeakMap<Session, ServerApps>()

  constructor(options: CellsOptions) {
    this.#options = options
    this.#news = new CellNews(options.settings.stateDir)
  }

  /** Number of running and waiting cells. */
  get count(): number {
    return this.#interrupts.size
  }

  /**
   * Interrupt a cell, as its client can.
   * @param cell its id in events
   * @returns false when no such cell runs or waits
   */
  interrupt(cell: string): boolean {
    const interrupt = this.#interrupts.get(cell)
    interrupt?.abort()
    return interrupt !== undefined
  }

  /**
   * Run one cell in a session.
   * @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name in `servers`, and what Session.run throws
   */
  async run(session: Session, request: RunCellRequest): Promise<ShownResult> {
    const { servers, forPerson = false } = request
    // Rules and servers depend on settings.
    this.#news.settingsChanged((await this.#options.refreshSettings?.()) ?? [])
    const tenant = this.#options.tenantOf(session)
    const set = await tenant.now()
    const { untrusted } = set.configured.discovered
    refuseUntrusted(servers, untrusted)
    const cell = await this.#open(session, tenant, set, request)
    const ran = await this.#runIn(cell, request, this.#server(cell, request))
    const { scope, notes, masker, savedArtifacts } = cell
    tenant.person.quota?.spendCell(ran.durationMs)
    if (cell.interrupt.signal.reason === STOPPED) notes.add(STOPPED)
    // The files are those of the bridge's owner. A command has told its own user.
    if (request.asker !== undefined && tenant.user === undefined && !forPerson)
      for (const note of await this.#news.next(set)) notes.add(note)
    const isFailed = ran.status === 'error' || ran.status === 'killed'
    const done = isFailed ? cell.called.beforeError() : undefined
    if (done !== undefined) notes.add(done)
    // A time limit or an interrupt has told of its open calls already.
    const cutOff = isFailed || ran.status === 'ok' ? cell.called.cutOff() : undefined
    if (cutOff !== undefined) notes.add(cutOff)
    const notDone = ran.status === 'ok' ? cell.called.notDone() : undefined
    if (notDone !== undefined) {
      ran.notDone = notDone
      notes.add(`Not all was done: ${notDone}.`)
    }
    if (ran.status === 'timeout')
      for (const note of await unansweredNotes(cell.called, set.connected.upstreams, cell.flow)) notes.add(note)
    // A command tells its user itself, after the last lines could not be written.
    if (!forPerson) for (const note of this.#news.ofRecord(session, this.#options.recordFailure())) notes.add(note)
    return finishResult(ran, {
      catalog: set.connected.catalog,
      scope,
      untrusted: servers ? [] : untrusted,
      forPerson,
      notes,
      artifacts: savedArtifacts,
      masker,
      signal: request.signal,
      outputs: session.outputs,
    })
  }

  /** The apps of servers that a session's calls have opened. */
  appsOf(session: Session): ServerApps {
    const apps = this.#apps.get(session) ?? new ServerApps()
    this.#apps.set(session, apps)
    return apps
  }

  /**
   * The app of a tool with its newest call; undefined without one.
   * @throws BridgeError PERMISSION_DENIED if a rule denies its page by now, or flow rules refuse the app
   */
  async appOf(session: Session, name: string): Promise<ServerApp | undefined> {
    const tenant = this.#options.tenantOf(session)
    const { rules } = await tenant.now()
    const policy = await rules.readPolicyOf(tenant.person.rules)
    const app = this.appsOf(session).find(name)
    if (!app || !policy) return app
    const subject = rules.subject(app.reading)
    const flow = this.flows.find(session)
    const { validate } = await import('../config/rules/policy.ts')
    const decision = validate(policy, { ...subject, args: { uri: app.uri }, flow })
    if (decision.verdict === 'deny') throw deniedByRule(subject, decision, [])
    if (flow) {
      const { refuseApp } = await import('../calls/permissions/refuse-app.ts')
      refuseApp(policy, JSON.stringify([app.html, app.args, app.result]), flow, app.server)
    }
    return app
  }

  /**
   * A client reads what sessions kept, and may show it to its model.
   * @param app the page, where it is shown to the user as an app
   * @throws BridgeError PERMISSION_DENIED if flow rules refuse the app
   */
  async read(
    { tenant, seen }: { tenant: Tenant; seen: Set<string> },
    place: string,
    kept: KeptContent,
    app?: string,
  ): Promise<void> {
    const set = await tenant.now()
    const { rules, state } = tenant.person
    const policy = await set.rules.readPolicyOf(rules)
    if (!policy?.followsFlow) return
    let judge: ((flow: SessionFlow) => void) | undefined
    if (app !== undefined) {
      const { refuseApp } = await import('../calls/permissions/refuse-app.ts')
      judge = (flow) => refuseApp(policy, app, flow)
    }
    await readKept(place, kept, { set, state, seen, judge })
  }

  /** Determines whom a cell is for and what it can reach. @throws BridgeError */
  async #open(
    session: Session,
    tenant: Tenant,
    set: ServerSet,
    { servers, asker, listeners, run }: RunCellRequest,
  ): Promise<OpenCell> {
    const { settings, log: bridgeLog, events, maskers } = this.#options
    const scope = scopeFor(set.connected.catalog, servers, settings.load)
    const { person, user } = tenant
    person.quota?.checkCells()
    const policy = await set.rules.readPolicyOf(person.rules)
    const masker = maskers?.of(session)
    const flow = policy?.followsFlow ? await this.flows.of(session, set, person.state, run?.seen) : undefined
    const trace = run?.id === undefined ? events.startTrace(undefined) : run.trace
    const id = newId()
    const log = run?.log ?? new RunLog(bridgeLog, run?.id ?? id)
    if (masker) log.mask = (text) => masker.maskedNow(text) ?? '[left out]'
    return {
      session,
      run: run?.id,
      isNamed: servers !== undefined,
      scope,
      tenant,
      servers: set,
      policy,
      flow,
      masker,
      asker: asker && masker ? masker.asker(asker) : asker,
      listeners: listeners && masker ? masker.listeners(listeners) : listeners,
      log,
      origin: { cell: id, log, session: session.id, client: run?.client, user, trace },
      interrupt: new AbortController(),
      called: new CalledTools(),
      notes: new Set(),
      savedArtifacts: [],
    }
  }

  /** Runs the cell. Meanwhile starts the servers that it names. */
  async #runIn(cell: OpenCell, request: RunCellRequest, serve: Serve): Promise<CellResult> {
    const { session, scope, masker, log, origin, interrupt } = cell
    const { language } = request
    const { projects } = cell.tenant.person.state
    const code = masker ? masker.unmaskSource(request.code, language) : request.code
    cell.flow?.wrote(code, language === 'bash')
    // What its code has was there when its flows were declared.
    if (request.workflow?.declared) cell.flow?.wrote(request.workflow.source)
    this.#interrupts.set(origin.cell, interrupt)
    const named = namedServers(code, scope.servers, language)
    const starting = startServers(named, cell.servers.connected, (name, signal) =>
      this.#options.questions.enter(name, cell, signal),
    )
    // AbortSignal.any takes longer than everything else in this function.
    const onAbort = (): void => interrupt.abort()
    request.signal?.addEventListener('abort', onAbort, { once: true })
    if (request.signal?.aborted) onAbort()
    try {
      // Every name is written out: spreading another object takes ten times as long.
      return await session.run({
        code,
        language,
        aside: request.aside,
        guest: request.guest,
        timeoutMs: request.timeoutMs,
        timeLimit: request.timeLimit,
        servers: scope.visible,
        named: cell.isNamed || undefined,
        onCall: masker ? (call, signal) => serve({ ...call, params: masker.unmaskData(call.params) }, signal) : serve,
        onCallFailed: (error) => log.failure('A call failed', error),
        projects: projects && (() => projects.revision()),
        listeners: cell.listeners,
        signal: interrupt.signal,
        onResumed: cell.flow && (() => cell.flow?.resumed()),
        origin,
        run: cell.run,
      })
    } finally {
      request.signal?.removeEventListener('abort', onAbort)
      starting?.abort()
      this.#interrupts.delete(origin.cell)
    }
  }

  /** Creates the handler of a cell's calls. */
  #server(cell: OpenCell, request: RunCellRequest): Serve {
    const { settings, events, questions, signInPage } = this.#options
    const { session, scope, policy, flow, asker, origin, interrupt } = cell
    const { person } = cell.tenant
    const { connected, configured, rules } = cell.servers
    const { allowed, workflow, keepsQuestions = true, hold, forPerson = false } = request
    const { upstreams = connected.upstreams } = request
    const apps = request.showsApps ? this.appsOf(session) : undefined
    const stop = () => interrupt.abort(STOPPED)
    const permitted = {
      session,
      userRules: person.rules,
      asker,
      allowed,
      origin,
      events,
      flow,
      workflow,
      stop,
      keepsQuestions,
      hold,
    }
    return serveCalls(
      {
        permissions: policy && new CellPermissions(rules, permitted, policy),
        events,
        origin,
        quota: person.quota,
        client: connected.context,
        jail: connected.jailPlace,
        refreshServers: () => configured.refresh(),
        catalog: connected.catalog,
        upstreams,
        signIn: (server, options) => this.#signIn(cell, server, options),
        signInPage,
        questions,
        state: person.state,
        facts: settings,
        checkSavedTool: (tool) => this.#options.checkSavedTool(tool, person.state),
        scope,
        asker,
        session,
        flow,
        learned: person.learned,
        called: cell.called,
        notes: cell.notes,
        seenErrors: new Set(),
        apps,
        savedArtifacts: cell.savedArtifacts,
        uploads: new Uploads(ARTIFACT_LIMITS.artifactBytes),
        forPerson,
        listeners: cell.listeners,
      },
      this.#options.methods,
    )
  }

  /** Signs in through the user's own servers, so that one user's sign-in never applies to shared connections. */
  async #signIn({ tenant, servers }: OpenCell, server: string, options: SignInOptions): Promise<'now' | 'next-cell'> {
    const own = await tenant.now(true)
    await own.connected.upstreams.signIn(server, options)
    return own === servers ? 'now' : 'next-cell'
  }
}

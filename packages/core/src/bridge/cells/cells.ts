// Runs the cells of all sessions: decides which servers each can reach, starts them, and lets it be interrupted.
import type { CellResult } from '../../cell/cell-result.ts'
import type { LiveSettings } from '../../config/settings/file/live-settings.ts'
import { RULES } from '../../config/rules/rules-part.ts'
import type { Settings } from '../../config/settings/settings.ts'
import { BridgeError, messageOf } from '../../errors.ts'
import type { EventStream } from '../../observe/events/event-stream.ts'
import { newId } from '../../observe/events/new-id.ts'
import { RunLog } from '../../observe/events/run-log.ts'
import type { Log } from '../../util/log.ts'
import type { Maskers } from '../../cell/masking-part.ts'
import type { Methods } from '../../calls/methods/method.ts'
import { namedServers, startServers } from '../tenants/start-servers.ts'
import { gates } from '../../calls/permissions/gates-part.ts'
import type { SessionFlow } from '../../calls/flow-part.ts'
import { CalledTools } from '../../calls/notes/called-tools.ts'
import { smallerResults } from '../../calls/notes/smaller-results.ts'
import { unansweredNotes } from '../../calls/notes/unsearched-note.ts'
import { serveCalls } from '../../calls/proxy.ts'
import { scopeFor } from '../../calls/scope.ts'
import { refuseUntrusted } from '../../calls/trust-hint.ts'
import type { Questions } from '../../calls/questions/questions.ts'
import type { ShownResult } from '../../cell/render/render-result.ts'
import { keptForClient } from '../../cell/session/kept-for.ts'
import type { Session } from '../../cell/session/session.ts'
import { isRecord } from '../../util/json/json.ts'
import type { SignInPage } from '../../upstream/sign-in-part.ts'
import type { SignInOptions } from '../../upstream/upstream.ts'
import type { Cell, RunCellRequest } from './cell.ts'
import { CellNews } from './cell-news.ts'
import { callDirectly, type DirectCall, type DirectReply } from './direct-call.ts'
import { finishResult } from './finish-result.ts'
import { type KeptContent, readKept, SessionFlows } from './session-flows.ts'
import type { Tenant } from '../tenants/tenant.ts'

interface CellsOptions {
  settings: Settings
  log: Log
  events: EventStream
  questions: Questions
  /** Undefined when masking is off. */
  maskers: Maskers | undefined
  tenantOf: (session: Session) => Tenant
  signInPage: SignInPage | undefined
  /** Why runs and calls cannot be recorded; undefined while they can be. */
  recordFailure: () => BridgeError | undefined
  /** Applies changes of settings.json, and tells which take effect later. @throws BridgeError CONFIG_INVALID */
  refreshSettings: LiveSettings['refresh'] | undefined
  methods: Methods | undefined
}

const STOPPED = 'The user did not allow a call, and stopped the cell.'

export class Cells {
  readonly #options: CellsOptions
  /** Controllers of running and waiting cells, by the cell's id in events. */
  readonly #interrupts = new Map<string, AbortController>()
  readonly #news: CellNews
  /** What the models of sessions have read. */
  readonly flows = new SessionFlows()

  constructor(options: CellsOptions) {
    this.#options = options
    this.#news = new CellNews(options.settings.stateDir)
  }

  get count(): number {
    return this.#interrupts.size
  }

  /** Interrupts a cell as its client can. @param cell its id in events @returns false when no such cell is open */
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
    const cell = await this.#open(session, request)
    const { tenant, set, notes, forPerson } = cell
    const ran = await this.#interruptible(cell, request, () => this.#runIn(cell))
    tenant.person.quota?.spendCell(ran.durationMs)
    // Notes of the bridge's own words, which no server has said.
    const own: string[] = []
    if (cell.interrupt.signal.reason === STOPPED) own.push(`${STOPPED} ${cell.called.notDone() ?? ''}`.trim())
    // The files are those of the bridge's owner. A command has told its own user.
    if (request.asker !== undefined && tenant.user === undefined && !forPerson)
      for (const note of await this.#news.next(cell)) notes.add(note)
    const reused = cell.journal?.ended(ran.status === 'ok')
    if (reused !== undefined) own.push(reused)
    // A person who presses Ctrl-C reads what was done until then, too.
    const isFailed = ['error', 'killed', ...(forPerson ? ['interrupted'] : [])].includes(ran.status)
    const done = isFailed ? cell.called.beforeError() : undefined
    if (done !== undefined) own.push(done)
    const cutOff = cell.called.cutOff()
    if (cutOff !== undefined) own.push(cutOff)
    const notDone = ran.status === 'ok' ? cell.called.notDone() : undefined
    if (notDone !== undefined) {
      ran.notDone = notDone
      const printed = `${ran.stdout}${ran.stderr}${Object.values(ran.value ?? {}).join('')}`
      if (!cell.called.isTold(printed)) own.push(`Not all was done: ${notDone}.`)
    }
    if (ran.status === 'timeout')
      for (const note of await unansweredNotes(cell.called, set.connected.upstreams, cell.flow)) notes.add(note)
    own.push(...this.#news.ofRules(cell))
    for (const note of own) notes.add(note)
    ran.ownNotes = own
    // A command tells its user itself, after the last lines could not be written.
    if (!forPerson) for (const note of this.#news.ofRecord(session, this.#options.recordFailure())) notes.add(note)
    return finishResult(ran, cell, request)
  }

  /**
   * Makes a call that a cell could make, for the client itself: without code, a kernel or a sandbox. Rules, questions,
   * masking and observers treat it as the call of a cell.
   * @param shown makes what the client gets: masked after that, since a change can complete a value
   * @throws BridgeError as the call does, and what `run` throws before its cell runs
   */
  async call<Result>(
    session: Session,
    call: DirectCall,
    request: Omit<RunCellRequest, 'code'>,
    shown: (reply: unknown) => Result | Promise<Result>,
  ): Promise<DirectReply<Result>> {
    // It names its server by itself.
    const cell = await this.#open(session, { ...request, code: call.code }, 'lazy')
    const { masker, notes, tenant } = cell
    let isOk = false
    let reused: string | undefined
    const ended = (): void => void (reused = cell.journal?.ended(isOk))
    const result = await this.#interruptible(cell, request, async () => {
      const answer = await callDirectly(cell, call)
      isOk = true
      // Masks read a copy, which has no source with exact numbers beside it.
      return shown(masker && isRecord(answer) ? { ...answer } : answer)
    })
      .catch(async (error: unknown) => {
        throw masker && BridgeError.isInstance(error) ? await masker.failure(error) : error
      })
      .finally(ended)
    if (reused !== undefined) notes.add(reused)
    if (tenant.user === undefined) for (const note of await this.#news.next(cell)) notes.add(note)
    const ownNotes = this.#news.ofRules(cell)
    for (const note of [...ownNotes, ...this.#news.ofRecord(session, this.#options.recordFailure())]) notes.add(note)
    const whole = { result, notes: [...notes], ownNotes }
    return masker ? masker.reply(whole) : whole
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
      const { refuseApp } = await gates.for(RULES)
      judge = (flow) => refuseApp(policy, app, flow)
    }
    await readKept(place, kept, { set, state, seen, judge })
  }

  /** Determines whom a cell is for and what it can reach. @throws BridgeError */
  async #open(session: Session, request: RunCellRequest, load?: Settings['load']): Promise<Cell> {
    // Rules and servers depend on settings.
    this.#news.settingsChanged((await this.#options.refreshSettings?.()) ?? [])
    const tenant = this.#options.tenantOf(session)
    const set = await tenant.now()
    refuseUntrusted(request.servers, set.configured.discovered.untrusted)
    const { settings, events, questions, signInPage, maskers, methods } = this.#options
    const { servers, language, asker, listeners, run, forPerson = false, keepsQuestions = true } = request
    const { connected, rules } = set
    const { person, user } = tenant
    const { projects } = person.state
    const scope = scopeFor(connected.catalog, servers, load ?? settings.load)
    person.quota?.checkCells()
    const policy = await rules.readPolicyOf(person.rules)
    const masker = maskers?.of(session)
    const flow = policy?.followsFlow ? await this.flows.of(session, set, person.state, run?.seen) : undefined
    const trace = run?.id === undefined ? events.startTrace(undefined) : run.trace
    const id = newId()
    const log = run?.log ?? new RunLog(this.#options.log, run?.id ?? id)
    if (masker) log.mask = (text) => masker.maskedNow(text) ?? '[left out]'
    const interrupt = new AbortController()
    // Every name is written out: spreading another object takes ten times as long.
    const cell: Cell = {
      session,
      tenant,
      set,
      scope,
      masker,
      flow,
      interrupt,
      origin: { cell: id, log, session: session.id, client: run?.client, user, trace },
      run: run?.id,
      code: masker ? masker.unmaskSource(request.code, language) : request.code,
      language,
      aside: request.aside,
      guest: request.guest,
      timeoutMs: request.timeoutMs,
      timeLimit: request.timeLimit,
      servers: scope.visible,
      named: servers === undefined ? undefined : true,
      projects: projects && (() => projects.revision()),
      asker: asker && masker ? masker.asker(asker) : asker,
      listeners: listeners && masker ? masker.listeners(listeners) : listeners,
      signal: interrupt.signal,
      onCall: async (call, cancellation) => {
        const reply = await serve({ ...call, params: masker!.unmaskData(call.params) }, cancellation)
        masker!.returned(reply)
        return reply
      },
      onCallFailed: (error, call) => {
        const told = log.failure('A call failed', error)
        cell.called.threw(messageOf(error))
        return [smallerResults(error, call, connected.catalog), told].filter(Boolean).join(' ')
      },
      onResumed: flow && (() => flow.resumed()),
      events,
      quota: person.quota,
      catalog: connected.catalog,
      upstreams: request.upstreams ?? connected.upstreams,
      signIn: (server, options) => this.#signIn(cell, server, options),
      signInPage,
      questions,
      state: person.state,
      facts: settings,
      learned: person.learned,
      called: new CalledTools(),
      journal: request.journal ?? this.#journalOf(session, tenant, request),
      notes: new Set(),
      seenErrors: new Set(),
      apps: request.apps,
      savedArtifacts: [],
      forPerson,
      permissions: undefined,
      userRules: person.rules,
      allowed: request.allowed,
      workflow: request.workflow,
      keepsQuestions,
      hold: request.hold,
      stop: () => interrupt.abort(STOPPED),
    }
    cell.permissions = policy && (await gates.for(RULES)).gateOf(rules, cell, policy)
    const serve = serveCalls(cell, methods)
    if (!masker) cell.onCall = serve
    return cell
  }

  /** A client's cells have one. A cell of a person is sent again on purpose. */
  #journalOf(session: Session, tenant: Tenant, { run, upstreams }: Pick<RunCellRequest, 'run' | 'upstreams'>) {
    if (run?.id === undefined || session.owner === undefined || upstreams) return undefined
    const { user, context, person } = tenant
    const origin = { client: run.client, user }
    const { owner } = session.owner(origin)
    const { owner: client } = keptForClient(context.cwd)(origin)
    return person.journals?.begin(session, { run: run.id, owner, client })
  }

  /** Runs the cell. Meanwhile starts the servers that it names. */
  async #runIn(cell: Cell): Promise<CellResult> {
    const named = namedServers(cell.code, cell.scope.servers, cell.language)
    const starting = startServers(named, cell.set.connected, (name, signal) => cell.questions.enter(name, cell, signal))
    try {
      return await cell.session.run(cell)
    } finally {
      starting?.abort()
    }
  }

  /** Does the work of a cell, which its client and the user can interrupt. */
  async #interruptible<T>(
    { code, language, flow, workflow, origin, interrupt, journal }: Cell,
    { signal }: Pick<RunCellRequest, 'signal'>,
    work: () => Promise<T>,
  ): Promise<T> {
    flow?.wrote(code, language === 'bash')
    // What its code has was there when its flows were declared.
    if (workflow?.declared) flow?.wrote(workflow.source)
    this.#interrupts.set(origin.cell, interrupt)
    // AbortSignal.any takes longer than everything else in this function.
    const onAbort = (): void => {
      journal?.lost()
      interrupt.abort()
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
    try {
      return await work()
    } finally {
      signal?.removeEventListener('abort', onAbort)
      this.#interrupts.delete(origin.cell)
    }
  }

  /** Signs in through the user's own servers, so that one user's sign-in never applies to shared connections. */
  async #signIn({ tenant, set }: Cell, server: string, options: SignInOptions): Promise<'now' | 'next-cell'> {
    const own = await tenant.now(true)
    await own.connected.upstreams.signIn(server, options)
    return own === set ? 'now' : 'next-cell'
  }
}

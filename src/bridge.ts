// Puts the parts together: the one place that knows them all. Nothing here starts a process; that happens at the first need.
import { homedir } from 'node:os'
import path from 'node:path'
import { Catalog } from './catalog/catalog.ts'
import { definitionKey } from './catalog/disk-cache.ts'
import { Embeddings } from './catalog/embeddings.ts'
import { FirstListings } from './catalog/first-listings.ts'
import type { CatalogTool } from './catalog/model/catalog-tool.ts'
import { Definitions } from './config/definitions.ts'
import { expandTransport } from './config/expand.ts'
import { type AskInput, InputAnswers } from './config/input-answers.ts'
import { PermissionFiles } from './config/permission-files.ts'
import { UserRules } from './config/user-rules.ts'
import { rememberRules } from './config/remember-rule.ts'
import { isSameDefinition } from './config/merge-definitions.ts'
import type {
  DiscoveredServers,
  RemoteServer,
  ServerDefinition,
  SkippedEntry,
  StdioServer,
} from './config/server-definition.ts'
import type { Settings } from './config/settings.ts'
import { startInputs } from './config/start-inputs.ts'
import type { Origin } from './events/event.ts'
import { EventStream } from './events/event-stream.ts'
import { LazySubscriber } from './events/lazy-subscriber.ts'
import { newId } from './events/new-id.ts'
import { RunLog } from './events/run-log.ts'
import type { TraceContext } from './events/trace-context.ts'
import type { LiveMethods } from './live/live-server.ts'
import type { Log } from './log.ts'
import { CallLimits } from './policy/limits.ts'
import type { Policy } from './policy/policy.ts'
import type { ProcessUsage } from './process/process-tree-usage.ts'
import type { Rule } from './policy/rule.ts'
import { type KnownServer, unmatchedRules } from './policy/unmatched-rules.ts'
import { CellPermissions } from './proxy/permissions/cell-permissions.ts'
import type { AnswerPage } from './proxy/permissions/answer-page.ts'
import { Permissions } from './proxy/permissions/permissions.ts'
import { createMaskers, type Maskers } from './masking/create-maskers.ts'
import type { NameFinder } from './masking/masker.ts'
import { maskedAsker, maskedListeners } from './masking/masked-parts.ts'
import { maskResult } from './masking/mask-result.ts'
import { capabilitySummary, summarisedServers } from './proxy/capability-summary.ts'
import { savedToolLines } from './proxy/methods/saved-tool-methods.ts'
import { namedServers } from './proxy/named-servers.ts'
import { serveCalls } from './proxy/proxy.ts'
import { type Scope, scopeFor } from './proxy/scope.ts'
import { withToolHint } from './proxy/tool-hint.ts'
import { refuseUntrusted, withTrustHint } from './proxy/trust-hint.ts'
import { wholeText } from './render/render-result.ts'
import { chooseProvider } from './sandbox/choose-provider.ts'
import type { CellResult } from './cell/cell-result.ts'
import type { CellRequest } from './session/cell-run.ts'
import { type Asker, Questions } from './proxy/user/questions.ts'
import { UserQuota } from './proxy/user/user-quota.ts'
import { KernelPool } from './session/kernel-pool.ts'
import { KeptTexts } from './session/kept-text.ts'
import { Session } from './session/session.ts'
import type { Addition } from './registry/plan-addition.ts'
import type { Registries } from './registry/registries.ts'
import { ARTIFACT_LIMITS, type Artifact } from './state/artifact-store.ts'
import { checkSavedTool, findProblems } from './session/check-saved-tool.ts'
import type { SavedToolContent } from './state/saved-tool.ts'
import { KeptQuestions } from './state/kept-questions.ts'
import { userFolder, usersFolder } from './state/user-folder.ts'
import { UserState } from './state/user-state.ts'
import { Uploads } from './state/uploads.ts'
import { readOtelSettings } from './telemetry/otel-settings.ts'
import { startTrace } from './telemetry/start-trace.ts'
import { createUpstreams } from './upstream/create-upstreams.ts'
import { systemKeychain } from './upstream/auth/keychain.ts'
import { createTokenStore, type TokenStore } from './upstream/auth/token-store.ts'
import { createVault, type Vault } from './upstream/auth/vault.ts'
import { loadSdk } from './upstream/connection/sdk.ts'
import type { Upstreams } from './upstream/upstream.ts'
import { VERSION } from './version.ts'

export const CLIENT_INFO = { name: 'sandbridge', version: VERSION }

export interface RunCellRequest extends Pick<
  CellRequest,
  | 'code'
  | 'aside'
  | 'guest'
  | 'timeoutMs'
  | 'timeLimit'
  | 'signal'
  | 'onPreparing'
  | 'onOutput'
  | 'onProgress'
  | 'onToolCall'
  | 'onUpstreamProgress'
> {
  /** Names or aliases of the only servers that the cell may reach. */
  servers?: string[]
  /** Whom upstreams may ask something while the cell calls them. */
  asker?: Asker
  /** Nobody watches the cell: of the calls that rules ask about, those of these tools (`server__tool`) are made, and no others. */
  allowed?: ReadonlySet<string>
  /** What serves its calls, where it is not the bridge's own. */
  upstreams?: Upstreams
  /** Whoever reads the result is a person at a terminal: hints say what to do, and not what to ask of the user. */
  forPerson?: boolean
  /** False when nobody can answer a question after the cell is over, because its session ends then. */
  keepsQuestions?: boolean
  /** The client's run that the cell is part of. */
  run?: RunOrigin
}

/** A client's request to run Python, as its cell and the calls of that refer to it. */
export interface RunOrigin {
  /** Missing for a cell that is no part of a client's request. */
  id?: string
  /** Missing where nobody but the bridge's own log is told. */
  log?: RunLog | undefined
  client?: string | undefined
  user?: string | undefined
  trace?: TraceContext | undefined
}

export class Bridge {
  /** Among the bridges of this user that run. */
  readonly id = `${process.pid}-${newId()}`
  readonly settings: Settings
  readonly log: Log
  /** What is kept for the owner of the bridge; `stateOf` has that of its users. */
  readonly artifacts: UserState['artifacts']
  readonly savedTools: UserState['savedTools']
  readonly loadableTools: UserState['loadableTools']
  /** What happens. Observers subscribe here, and only here. */
  readonly events: EventStream
  readonly catalog: Catalog
  readonly upstreams: Upstreams
  readonly questions: Questions
  /** What the config files hold: servers, and what was left out with reasons. */
  discovered: DiscoveredServers
  /** Sign-ins to remote servers. */
  readonly tokenStore: TokenStore
  /** Missing when nothing is masked. */
  readonly maskers: Maskers | undefined
  /** The provider of all sandboxes, chosen at the first need. */
  readonly findProvider: ReturnType<typeof chooseProvider>
  readonly #pool: KernelPool
  readonly #texts: KeptTexts
  readonly #sessions = new Set<Session>()
  readonly #users = new Map<string | undefined, UserParts>()
  readonly #callLimits = new CallLimits()
  /** Of the cells that run or wait, by the ids they have in events. */
  readonly #interrupts = new Map<string, AbortController>()
  readonly #inputs: InputAnswers
  readonly #definitions: Definitions
  /** Definitions that were read and are not in use yet. */
  #unused: DiscoveredServers | undefined
  readonly #permissionFiles: PermissionFiles
  /** Missing when every call is allowed. */
  permissions: Permissions | undefined
  /** Where the user can answer questions about calls, while it is served. */
  page: AnswerPage | undefined
  readonly #servePage: BridgeOptions['servePage']
  #servedPage: Promise<void> | undefined
  /** What servers' tools were when they were first listed. */
  readonly firstListings: FirstListings
  #registries: Promise<Registries> | undefined
  #live: LazySubscriber | undefined
  /** What other programs of the user can ask for, such as `sandbridge top`. */
  readonly #liveMethods: LiveMethods = { interrupt: ({ cell }) => this.interruptCell(String(cell)) }

  /** Reads which servers are configured, and starts nothing. */
  static async open(settings: Settings, log: Log, options: BridgeOptions = {}): Promise<Bridge> {
    const { ask, ownPort, servePage } = options
    const definitions = new Definitions(settings, ownPort)
    const discovered = await definitions.read()
    const files = new PermissionFiles(settings)
    const policy = await files.read(discovered.found)
    return new Bridge({ settings, log, definitions, discovered, ask, files, policy, servePage })
  }

  private constructor({ settings, log, definitions, discovered, ask, files, policy, servePage }: BridgeParts) {
    this.#servePage = servePage
    this.#inputs = new InputAnswers(ask)
    this.#permissionFiles = files
    this.firstListings = new FirstListings(settings.stateDir, log)
    const { servers, skipped, found } = discovered
    this.settings = settings
    this.log = log
    this.events = new EventStream((subscriber, reason) => log.warning('An observer failed', { subscriber, reason }))
    this.questions = new Questions(log, this.events)
    this.#definitions = definitions
    this.discovered = discovered
    for (const warning of settings.warnings) log.warning(warning)
    this.#tellSkipped(skipped)
    this.#tellRenamed(found)
    this.maskers = createMaskers(settings.mask, files.mask, nameFinder(settings.maskEndpoint))
    ;({
      artifacts: this.artifacts,
      savedTools: this.savedTools,
      loadableTools: this.loadableTools,
    } = this.stateOf(undefined))
    const tokensFile = path.join(settings.stateDir, '.sandbridge', 'tokens.json')
    this.tokenStore = createTokenStore(tokensFile, vaultOf(settings, log), log)
    this.upstreams = createUpstreams({
      definitions: servers,
      log,
      events: this.events,
      clientInfo: CLIENT_INFO,
      idleMs: settings.upstreamIdleMs,
      resolveTransport: (definition) => this.resolveTransport(definition),
      tokenStore: this.tokenStore,
      clientMetadataUrl: settings.clientMetadataUrl,
      requests: (callers) => this.questions.requests(callers),
      jail: this.jailPlace,
      negotiatedTransportsFile: path.join(settings.cacheDir, 'upstreams.json'),
    })
    this.catalog = new Catalog({
      definitions: servers,
      listTools: async (server, signal) => {
        const tools = await this.upstreams.listTools(server, signal)
        const instructions = this.upstreams.instructions(server)
        return { tools, ...(instructions && { instructions }) }
      },
      listOfferings: async (server, signal) => {
        // One after the other: some servers lose answers when they are asked two things at once.
        const resources = await this.upstreams.listResources(server, signal).catch(() => undefined)
        const prompts = await this.upstreams.listPrompts(server, signal).catch(() => undefined)
        return { ...(resources && { resources }), ...(prompts && { prompts }) }
      },
      state: (server) => this.upstreams.state(server),
      startInputs: (definition) => startInputs(definition, { ...ownHost(), tokensFile }),
      cacheDir: path.join(settings.cacheDir, 'catalog'),
      learnTypes: settings.learnTypes,
      standing: (tool) => this.permissions?.standing(tool) ?? 'allowed',
      ...(settings.embeddingsUrl && { embeddings: embeddingsOf(settings, settings.embeddingsUrl, log) }),
      log,
    })
    this.upstreams.onTools((server, tools, instructions) => {
      this.catalog.toolsChanged(server, tools, instructions)
      const key = this.#definitionKey(server)
      if (key !== undefined) void this.firstListings.listed(key, tools)
    })
    if (policy) this.#usePolicy(policy)
    this.upstreams.onError((server, error) => this.catalog.serverErred(server, error))
    this.upstreams.onOfferings((server) => void this.catalog.readOfferings(server))
    this.findProvider = chooseProvider(settings, log)
    this.#pool = new KernelPool({
      provider: async (onProgress) => (await this.findProvider(onProgress)).provider,
      limits: { memoryBytes: settings.memoryBytes },
      size: settings.poolCount,
      log,
      events: this.events,
    })
    this.#texts = new KeptTexts({
      memoryBytes: settings.outputMemoryBytes,
      folder: path.join(settings.cacheDir, 'outputs'),
      log,
    })
    this.#attachObservers()
  }

  /** What is kept for a user; without one, for the owner of the bridge. */
  stateOf(user: string | undefined): UserState {
    return this.#partsOf(user).state
  }

  #partsOf(user: string | undefined): UserParts {
    const known = this.#users.get(user)
    if (known) return known
    const { settings, log } = this
    const { runtime, image, packages, stateDir, cacheDir, projects, userCallCount, userCellSeconds } = settings
    const stateFolder = userFolder(stateDir, user)
    const state = new UserState({
      stateFolder,
      cacheFolder: userFolder(cacheDir, user),
      hasProjects: projects,
      environment: [VERSION, runtime, image, packages],
      findProblems: (store) => (tools) => findProblems(this.#pool, store, tools),
      log,
    })
    const cellMs = userCellSeconds === undefined ? undefined : userCellSeconds * 1000
    const parts: UserParts =
      user === undefined
        ? { state }
        : { state, quota: new UserQuota({ calls: userCallCount, cellMs }), rules: new UserRules(stateFolder) }
    this.#users.set(user, parts)
    return parts
  }

  /**
   * Let other programs of the user ask this bridge for more, such as the page of another one.
   * @returns what takes it back
   */
  offer(methods: LiveMethods): () => void {
    Object.assign(this.#liveMethods, methods)
    return () => {
      for (const name of Object.keys(methods)) delete this.#liveMethods[name]
    }
  }

  /** Let other programs of the user find this bridge before it has a session. */
  announce(): void {
    this.#live?.start()
  }

  /** The only place where observers are attached. Each is loaded when there is something for it. */
  #attachObservers(): void {
    const { settings, events, log, upstreams } = this
    this.#attachTelemetry()
    if (settings.live) {
      this.#live = new LazySubscriber({
        name: 'live',
        guards: false,
        wakes: ['session.started'],
        onError: (error) => log.info('This bridge cannot be watched', { error }),
        load: async () => {
          const { LiveServer } = await import('./live/live-server.ts')
          const live = new LiveServer({
            id: this.id,
            stateDir: settings.stateDir,
            version: VERSION,
            methods: this.#liveMethods,
            onError: (error) => log.debug('Watching', { error }),
          })
          await live.listen()
          return live
        },
      })
      events.subscribe(this.#live)
    }
    if (settings.audit !== 'off') {
      events.subscribe(
        new LazySubscriber({
          name: 'audit',
          guards: settings.auditRequired,
          wakes: ['run.started', 'cell.started', 'call.decided', 'question.asked', 'sign-in', 'config.changed'],
          onError: (error) => log.error('The record cannot be kept', { error }),
          load: async () => {
            const { Audit } = await import('./audit/audit.ts')
            return new Audit({
              stateDir: settings.stateDir,
              full: settings.audit === 'full' || settings.audit === 'replay',
              replay: settings.audit === 'replay',
              required: settings.auditRequired,
              version: VERSION,
              redact: (server, text) => redactFor(upstreams, server, text),
              warn: (message, fields) => log.warning(message, fields),
            })
          },
        }),
      )
    }
  }

  #attachTelemetry(): void {
    const { settings, events, log, upstreams } = this
    const { metrics } = settings
    if (metrics) {
      const port = new LazySubscriber({
        name: 'metrics',
        guards: false,
        wakes: [],
        onError: (error) => log.warning('MCP_BRIDGE_METRICS cannot be listened on', { error }),
        load: async () => {
          const { PrometheusPort } = await import('./telemetry/prometheus.ts')
          const opened = new PrometheusPort()
          await opened.listen(metrics)
          return opened
        },
      })
      events.subscribe(port)
      port.start()
    }
    const otel = readOtelSettings(process.env, VERSION)
    if (!otel) return
    if (otel.tracesUrl !== undefined) events.startTrace = (ofClient) => startTrace(otel.sampler, ofClient)
    events.subscribe(
      new LazySubscriber({
        name: 'telemetry',
        guards: false,
        wakes: ['session.started', 'run.started', 'cell.started'],
        onError: (error) => log.warning('Traces and metrics cannot be sent', { error }),
        load: async () => {
          const { Telemetry } = await import('./telemetry/telemetry.ts')
          return new Telemetry({
            otel,
            version: VERSION,
            redact: (server, text) => redactFor(upstreams, server, text),
            warn: (message, fields) => log.warning(message, fields),
          })
        },
      }),
    )
  }

  openSession(): Session {
    const {
      runtimeIdleTimeoutMs,
      session: mode,
      checkpoint,
      memoryBytes,
      maxTimeoutMs,
      outputTokenCount,
      outputMode,
      compat,
    } = this.settings
    const session = new Session({
      pool: this.#pool,
      texts: this.#texts,
      log: this.log,
      events: this.events,
      idleTimeoutMs: runtimeIdleTimeoutMs,
      fresh: mode === 'fresh',
      checkpoint: checkpoint && mode !== 'fresh',
      json: outputMode === 'toon',
      compat,
      limits: { memoryBytes, maxTimeoutSeconds: maxTimeoutMs / 1000, outputTokenCount },
    })
    this.#sessions.add(session)
    return session
  }

  /** One that is open, by the id it has in events. */
  findSession(id: string): Session | undefined {
    return [...this.#sessions].find((session) => session.id === id)
  }

  /** End a session before the bridge ends. */
  async closeSession(session: Session): Promise<void> {
    await session.close()
    this.#sessions.delete(session)
  }

  /** Start sandboxes, and load what a first cell and a first call need, ahead of need. Returns at once; failures show when a cell needs them. */
  warmUp(): void {
    this.#pool.warm()
    if (this.discovered.servers.length === 0) return
    setImmediate(() => {
      loadSdk().then(
        (sdk) => sdk.preloadSchemas(),
        () => {},
      )
      void this.catalog.readAhead().then(() => {
        for (const warning of this.unmatchedRules()) this.log.warning(warning)
      })
    })
  }

  /**
   * Run one cell in a session.
   * @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name in `servers`, and what Session.run throws
   */
  async runCell(
    session: Session,
    {
      servers,
      asker: client,
      allowed,
      forPerson = false,
      keepsQuestions = true,
      run,
      upstreams = this.upstreams,
      ...request
    }: RunCellRequest,
  ): Promise<CellResult> {
    await this.#refreshServers()
    const { untrusted } = this.discovered
    refuseUntrusted(servers, untrusted)
    const scope = scopeFor(this.catalog, servers, this.settings.load)
    const user = this.#partsOf(run?.user)
    const { quota } = user
    const { artifacts, memories, projects, savedTools, loadableTools } = user.state
    const { catalog, questions, settings: facts } = this
    quota?.checkCells()
    const permissions = await this.#permissionsOf(user)
    const masker = this.maskers?.of(session)
    const asker = client && masker ? maskedAsker(client, masker) : client
    const savedArtifacts: Artifact[] = []
    const notes = new Set<string>()
    const uploads = new Uploads(ARTIFACT_LIMITS.artifactBytes)
    const checkTool = (tool: SavedToolContent) => this.checkSavedTool(tool, user.state)
    const trace = run?.id === undefined ? this.events.startTrace(undefined) : run.trace
    const id = newId()
    const log = run?.log ?? new RunLog(this.log, run?.id ?? id)
    if (masker) log.mask = (text) => masker.maskedNow(text) ?? '[left out]'
    const origin: Origin = { cell: id, log, session: session.id, client: run?.client, user: run?.user, trace }
    const over = new AbortController()
    const interrupt = new AbortController()
    const stop = () => interrupt.abort(STOPPED)
    const cell = { session, asker, allowed, origin, events: this.events, stop, keepsQuestions }
    const context = {
      permissions: permissions && new CellPermissions(permissions, cell),
      events: this.events,
      origin,
      quota,
      registries: () => this.registries(),
      addedServers: this.#addedServers,
      refreshServers: () => this.#refreshServers(),
      catalog,
      upstreams,
      questions,
      artifacts,
      memories,
      projects,
      savedTools,
      loadableTools,
      facts,
      checkSavedTool: checkTool,
      scope,
      asker,
      session,
      notes,
      savedArtifacts,
      uploads,
      forPerson,
      onUpstreamProgress: masker ? maskedListeners(request, masker).onUpstreamProgress : request.onUpstreamProgress,
    }
    const code = masker ? masker.unmaskSource(request.code) : request.code
    const serve = serveCalls(context)
    this.#interrupts.set(origin.cell, interrupt)
    this.#startNamed(code, scope, { asker, session, origin }, over.signal)
    const ran = await session
      .run({
        ...request,
        code,
        signal: request.signal ? AbortSignal.any([request.signal, interrupt.signal]) : interrupt.signal,
        ...(masker && maskedListeners(request, masker)),
        origin,
        run: run?.id,
        servers: scope.visible,
        ...(servers && { named: true as const }),
        ...(projects && { projects: () => projects.revision() }),
        onCallFailed: (error) => log.failure('A call failed', error),
        onCall: masker ? (call, signal) => serve({ ...call, params: masker.unmaskData(call.params) }, signal) : serve,
      })
      .finally(() => {
        over.abort()
        this.#interrupts.delete(origin.cell)
      })
    quota?.spendCell(ran.durationMs)
    const hinted = ran.error && (await withToolHint(ran.error, catalog, scope))
    const error = hinted && !servers ? withTrustHint(hinted, untrusted, forPerson) : hinted
    const whole: CellResult = {
      ...ran,
      ...(error && { error }),
      notes: [...ran.notes, ...notes, ...(interrupt.signal.reason === STOPPED ? [STOPPED] : [])],
      ...(savedArtifacts.length > 0 && { artifacts: savedArtifacts }),
    }
    const result = masker ? await maskResult(whole, masker, request.signal) : whole
    const outputUri = ran.cell === undefined ? undefined : session.outputs.keep(ran.cell, wholeText(result))
    return { ...result, ...(outputUri && { outputUri }) }
  }

  /** What the sandboxes of open sessions use. One that has none, or of which it cannot be known, is left out. */
  async usage(): Promise<({ session: string } & ProcessUsage)[]> {
    const all = [...this.#sessions].map(async ({ id, sandbox }) => {
      const usage = await sandbox?.usage?.()
      return usage ? [{ session: id, ...usage }] : []
    })
    return (await Promise.all(all)).flat()
  }

  /** How many cells run or wait. */
  get cellCount(): number {
    return this.#interrupts.size
  }

  /** Stop a cell as its client can. @param cell its id in events @returns false when no such cell runs or waits */
  interruptCell(cell: string): boolean {
    const interrupt = this.#interrupts.get(cell)
    interrupt?.abort()
    return interrupt !== undefined
  }

  /** End a server's process or connection, and ask it for its tools on a new one. How that ends is in the catalog. */
  async restartServer(server: string): Promise<void> {
    await this.upstreams.stop(server)
    await this.catalog.index([server])
  }

  /** Take over what has changed in the config files since they were last read. */
  async #refreshServers(): Promise<void> {
    const discovered = (this.#unused = (await this.#definitions.readAgain()) ?? this.#unused)
    const isNew = discovered !== undefined && discovered !== this.discovered
    // Before anything that the new definitions define can be called. While the rules have a mistake, no cell runs.
    if (isNew || this.#permissionFiles.hasChanged())
      this.#usePolicy(await this.#permissionFiles.read((discovered ?? this.discovered).found))
    this.#unused = undefined
    if (!isNew) return
    const told = new Set(this.discovered.skipped.map((entry) => JSON.stringify(entry)))
    this.#emitChanges(discovered.servers)
    this.discovered = discovered
    this.#tellSkipped(discovered.skipped.filter((entry) => !told.has(JSON.stringify(entry))))
    this.upstreams.redefine(discovered.servers)
    this.catalog.redefine(discovered.servers)
    this.log.info('The server definitions have changed', { servers: discovered.servers.length })
  }

  #usePolicy(policy: Policy | undefined): void {
    if (policy === undefined) this.permissions = undefined
    else if (this.permissions) this.permissions.policy = policy
    else this.permissions = this.#newPermissions(policy)
  }

  /** The rules for all, and those of the user's own folder on top. @throws BridgeError CONFIG_INVALID while those have a mistake */
  async #permissionsOf(user: UserParts): Promise<Permissions | undefined> {
    const rules = await user.rules?.read()
    if (rules === undefined || rules.length === 0) return this.permissions
    const shared = this.permissions?.policy
    if (user.stricter?.rules === rules && user.stricter.shared === shared) return user.stricter.permissions
    const { Policy } = await import('./policy/policy.ts')
    const policy = new Policy([...(shared?.rules ?? []), ...rules], this.settings.permissions)
    const permissions = user.stricter?.permissions ?? this.#newPermissions(policy)
    permissions.policy = policy
    user.stricter = { rules, shared, permissions }
    return permissions
  }

  /** A sentence for each rule that is for no known tool. */
  unmatchedRules(): string[] {
    if (!this.permissions) return []
    const known = this.catalog.servers().map(({ name, toolCount }): KnownServer => ({
      name,
      ...(toolCount !== undefined && { tools: this.catalog.details(name).tools.map((tool) => tool.name) }),
    }))
    return unmatchedRules(this.permissions.policy.rules, known)
  }

  #newPermissions(policy: Policy): Permissions {
    const { stateDir, askTimeoutMs } = this.settings
    const keyOf = ({ server }: CatalogTool): string => this.#definitionKey(server) ?? ''
    return new Permissions({
      policy,
      definitions: () => this.discovered.servers,
      tools: (server) => this.catalog.details(server).tools,
      isChanged: (tool) => tool.method === undefined && this.firstListings.isChanged(keyOf(tool), tool.name),
      refresh: async (server, signal) => {
        if (!this.catalog.isFresh(server)) await this.upstreams.listTools(server, signal)
        await this.firstListings.settled(this.#definitionKey(server) ?? '')
      },
      accept: (tool) => this.firstListings.accept(keyOf(tool), [tool.definition]),
      remember: async (rule) => void (await rememberRules(stateDir, [{ verdict: 'allow', rule }])),
      askTimeoutMs,
      questions: new KeptQuestions(stateDir, askTimeoutMs),
      limits: this.#callLimits,
      page: () => this.#answerPage(),
      opensBrowser: this.settings.open,
    })
  }

  /** The page that is served already, or one that is from now on. */
  async #answerPage(): Promise<AnswerPage | undefined> {
    this.#servedPage ??= this.page ? undefined : this.#servePage?.(this)
    await this.#servedPage?.catch((error: unknown) => this.log.warning('The page cannot be served', { error }))
    return this.page
  }

  #definitionKey(server: string): string | undefined {
    const definition = this.upstreams.definitions.find(({ name }) => name === server)
    return definition && definitionKey(definition)
  }

  #emitChanges(now: readonly ServerDefinition[]): void {
    const before = new Map(this.discovered.servers.map((server) => [server.name, server]))
    const names = new Set(now.map(({ name }) => name))
    const isOther = (server: ServerDefinition): boolean => {
      const old = before.get(server.name)
      return old !== undefined && !isSameDefinition(old, server)
    }
    this.events.emit({
      type: 'config.changed',
      id: newId(),
      added: [...names].filter((name) => !before.has(name)),
      removed: [...before.keys()].filter((name) => !names.has(name)),
      changed: now.filter(isOther).map(({ name }) => name),
    })
  }

  #tellRenamed(found: DiscoveredServers['found']): void {
    for (const { definition, name, isDouble } of found) {
      if (isDouble || name === definition.name) continue
      const { file } = definition.source
      this.log.warning('A server was renamed because its name is taken', {
        file,
        name: definition.name,
        renamedTo: name,
      })
    }
  }

  #tellSkipped(skipped: readonly SkippedEntry[]): void {
    for (const { file, name, reason } of skipped)
      this.log.warning('A server definition was skipped', { file, name, reason })
  }

  /** Start the servers that a cell is likely to call, while it waits for its sandbox. Failures show when it calls them. */
  #startNamed(
    code: string,
    scope: Scope,
    cell: { asker: Asker | undefined; session: Session; origin: Origin },
    signal: AbortSignal,
  ): void {
    const broken = new Set(this.catalog.servers().flatMap(({ name, problem }) => (problem === undefined ? [] : [name])))
    for (const { name } of namedServers(code, scope.servers)) {
      if (broken.has(name) || this.upstreams.state(name) !== 'not-started') continue
      const start = async () => {
        // Through the catalog when it knows nothing yet, so that it learns of resources and prompts, too.
        await this.catalog.tools(name, signal)
        await this.upstreams.listTools(name, signal)
      }
      // What the server asks as soon as it runs goes to the client of this cell.
      const leave = this.questions.enter(name, cell, signal)
      start()
        .catch(() => {})
        .finally(leave)
    }
  }

  /** Load a tool in a fresh sandbox. @throws BridgeError STATE_REFUSED when that fails, SANDBOX_* when there is no sandbox */
  async checkSavedTool(tool: SavedToolContent, { savedTools, loadableTools }: UserState | this = this): Promise<void> {
    await checkSavedTool(this.#pool, savedTools, tool)
    await loadableTools.remember(tool)
  }

  readonly #addedServers = {
    engine: async () => (await import('./registry/add-server.ts')).engineName(),
    jailed: async (addition: Addition) =>
      (await import('./registry/add-server.ts')).jailed(addition, this.settings.jailImage),
    add: async (addition: Addition, answers: ReadonlyMap<string, string>, signal: AbortSignal) => {
      const { addServer } = await import('./registry/add-server.ts')
      const { jailPlace: jail, log } = this
      const { stateDir } = this.settings
      return addServer(addition, { stateDir, clientInfo: CLIENT_INFO, log, jail, answers, signal })
    },
  }

  /** Where servers can be found that are not configured. Their module is loaded with the first search. */
  registries(): Promise<Registries> {
    const { registries: addresses, stateDir } = this.settings
    const { env } = process
    this.#registries ??= import('./registry/registries.ts').then(
      (module) => new module.Registries({ addresses, stateDir, env, log: this.log }),
    )
    return this.#registries
  }

  async capabilitySummary(user?: string): Promise<string> {
    const scope = scopeFor(this.catalog, undefined, this.settings.load)
    return capabilitySummary({
      servers: summarisedServers(this.catalog, scope),
      savedTools: await savedToolLines(this.stateOf(user).loadableTools),
      facts: this.settings,
      unloaded: scope.unloaded,
    })
  }

  /** A server's transport with its placeholders filled in: the last moment before it is started. @throws BridgeError CONFIG_INVALID */
  async resolveTransport(definition: ServerDefinition): Promise<StdioServer | RemoteServer> {
    const host = ownHost()
    return expandTransport(definition, { ...host, input: await this.#inputs.forServer(definition, host.env) })
  }

  /** What holds secrets of servers, and what decides over what the bridge starts. */
  /** Where servers are jailed, and what they never see. */
  get jailPlace(): { home: string; stateDir: string; image: string | undefined; hidden: () => string[] } {
    const { stateDir, jailImage: image } = this.settings
    return { home: homedir(), stateDir, image, hidden: () => this.#privateFiles() }
  }

  #privateFiles(): string[] {
    const { stateDir, cacheDir } = this.settings
    return [
      path.join(stateDir, '.sandbridge'),
      usersFolder(stateDir),
      cacheDir,
      ...this.discovered.files.map(({ file }) => file),
    ]
  }

  /** End every session, sandbox and upstream. */
  async close(): Promise<void> {
    // Before its servers are ended: that is no failure of theirs.
    this.catalog.stopIndexing()
    await this.permissions?.options.questions.close()
    await this.#servedPage?.catch(() => {})
    this.page?.close()
    await Promise.allSettled([...this.#sessions].map((session) => session.close('The bridge was shut down')))
    this.#texts.close()
    await Promise.allSettled([this.#pool.close(), this.upstreams.close()])
    this.catalog.close()
    await this.events.close()
  }
}

/** Loaded at its first use. */
function nameFinder(url: string | undefined): NameFinder | undefined {
  if (url === undefined) return undefined
  let finder: Promise<NameFinder> | undefined
  return async (texts, signal) => {
    finder ??= import('./masking/endpoint/names-endpoint.ts').then((module) => module.createNameFinder(url))
    return (await finder)(texts, signal)
  }
}

/** Of a server whose definition is gone, no secret is known: nothing of the text is told. */
function redactFor(upstreams: Upstreams, server: string, text: string): string {
  try {
    return upstreams.redact(server, text)
  } catch {
    return '[redacted]'
  }
}

export interface BridgeOptions {
  /** For inputs of servers; missing means that their user cannot be asked. */
  ask?: AskInput
  /** Where this bridge is to serve over HTTP. */
  ownPort?: number
  /** Serves the page from the first question on that a client cannot ask its user, who sits at this machine; missing means that none is. */
  servePage?: (bridge: Bridge) => Promise<void>
}

interface BridgeParts {
  servePage: BridgeOptions['servePage']
  settings: Settings
  log: Log
  definitions: Definitions
  discovered: DiscoveredServers
  ask: AskInput | undefined
  files: PermissionFiles
  policy: Policy | undefined
}

/** What belongs to one user; quota and rules of their own are for those who are not the owner of the bridge. */
interface UserParts {
  state: UserState
  quota?: UserQuota
  rules?: UserRules
  /** Their rules on top of those for all, made of these. */
  stricter?: { rules: readonly Rule[]; shared: Policy | undefined; permissions: Permissions }
}

const STOPPED = 'The user did not allow a call, and stopped the cell.'

/** Where placeholders of definitions get their values. */
function ownHost(): { env: NodeJS.ProcessEnv; home: string; workspaceFolder: string } {
  return { env: process.env, home: homedir(), workspaceFolder: process.cwd() }
}

/** Undefined where no keychain is, or is wanted. */
function vaultOf(settings: Settings, log: Log): Vault | undefined {
  const keychain =
    settings.keychain === 'auto' ? systemKeychain({ platform: process.platform, env: process.env }) : undefined
  return keychain && createVault(keychain, log)
}

function embeddingsOf({ embeddingsModel: model, embeddingsKey: apiKey }: Settings, url: string, log: Log): Embeddings {
  return new Embeddings({ url, ...(model && { model }), ...(apiKey && { apiKey }), log })
}

// Composition root: creates every part of the bridge and connects them. Opening a bridge starts no process; each starts
// at its first use.
import { BridgePage } from './bridge-page.ts'
import { Cells } from './cells.ts'
import type { ClientServers } from './client-servers.ts'
import { Clients, type OfClient } from './clients.ts'
import type { ConnectedServers, ConnectOptions } from './connect-servers.ts'
import { attachObservers, loadTelemetry } from './observers.ts'
import { OpenSessions } from './open-sessions.ts'
import { beginSignIn } from './begin-sign-in.ts'
import { openSharedCatalog } from './open-shared-catalog.ts'
import { keepBehind } from './kept-behind.ts'
import { ServerSet, type ServerSetOptions } from './server-set.ts'
import { UserServers } from './user-servers.ts'
import { Users } from './users.ts'
import { Catalog } from '../calls/catalog/catalog.ts'
import type { SharedCatalog } from '../calls/catalog/shared-catalog.ts'
import { type ClientContext, processContext } from '../config/settings/client-context.ts'
import { Definitions } from '../config/definitions.ts'
import { type AskInput } from '../config/entries/input-answers.ts'
import { PermissionFiles } from '../config/permission-files.ts'
import type { DiscoveredServers } from '../config/entries/server-definition.ts'
import type { LiveSettings } from '../config/settings/file/live-settings.ts'
import type { Settings } from '../config/settings/settings.ts'
import { BridgeError } from '../errors.ts'
import { EventStream } from '../observe/events/event-stream.ts'
import { type LiveSnapshot, LiveState } from '../observe/events/live-state.ts'
import type { Log } from '../util/log.ts'
import { type Maskers, masking } from '../cell/masking-part.ts'
import type { Policy } from '../config/rules/policy.ts'
import { capabilitySummary, summarisedServers } from '../calls/capability-summary.ts'
import { savedToolLines } from '../calls/methods/saved-tool-methods.ts'
import type { Permissions } from '../calls/permissions/permissions.ts'
import type { Methods } from '../calls/methods/method.ts'
import { learning, type LearningPart } from '../calls/learned-part.ts'
import { scopeFor } from '../calls/scope.ts'
import { serversBehind } from '../calls/servers-behind.ts'
import { Questions } from '../calls/questions/questions.ts'
import { chooseProvider, type ProviderChoice } from '../isolation/detect/choose-provider.ts'
import { checkSavedTool } from '../cell/session/check-saved-tool.ts'
import { KernelPool } from '../cell/session/kernel-pool.ts'
import type { SavedToolContent } from '../keep/saved/saved-tool.ts'
import { openStores } from '../keep/open-stores.ts'
import type { TelemetryPart } from '../observe/telemetry-part.ts'
import type { Stores } from '../keep/store.ts'
import type { UserState } from '../keep/user-state.ts'
import type { SignInPage } from '../upstream/oauth-part.ts'
import { loadSdk } from '../upstream/connection/sdk.ts'
import type { Upstreams } from '../upstream/upstream.ts'

export class Bridge {
  readonly settings: Settings
  readonly log: Log
  /** State that outlives this process. */
  readonly stores: Stores
  /** All events of the bridge. Observers subscribe to this stream and nowhere else. */
  readonly events: EventStream
  /** The catalog of the servers that all users share. `upstreams` and `servers` belong to the same set. */
  readonly catalog: Catalog
  readonly upstreams: Upstreams
  readonly servers: ConnectedServers
  readonly questions: Questions
  readonly sessions: OpenSessions
  readonly users: Users
  /** What cells of the bridge's owner keep, not those of one of its users. */
  readonly own: UserState
  readonly rules: Permissions
  readonly cells: Cells
  /** Undefined when masking is off. */
  readonly maskers: Maskers | undefined
  /** Chooses the provider of all sandboxes, at its first call. */
  readonly findProvider: ProviderChoice
  readonly page: BridgePage
  /** The page where users on other machines sign in to servers. */
  readonly signInPage: SignInPage | undefined
  /** The servers that all users share. */
  readonly shared: ServerSet
  readonly #context: ClientContext
  readonly #definitions: Definitions
  readonly #userServers: UserServers
  /** A resident bridge has no servers of its own: all belong to its clients. */
  readonly #isResident: boolean
  readonly #clients: Clients
  readonly #pool: KernelPool
  #isWarm = false
  readonly #observers: ReturnType<typeof attachObservers>
  readonly #live: LiveState | undefined

  /** Reads the server definitions. Starts no process. */
  static async open(settings: Settings, log: Log, options: BridgeOptions = {}): Promise<Bridge> {
    const { context = processContext() } = options
    const definitions = new Definitions(settings, context, options.ownPort)
    const discovered = options.isResident ? NO_SERVERS : await definitions.read()
    const files = new PermissionFiles(settings, context.cwd, (message) => log.warning(message))
    const policy = await files.read(discovered.found)
    const stores = await openStores(settings)
    const { servers } = discovered
    const sharedCatalog = await openSharedCatalog(stores, undefined, servers, settings.cacheDir, log)
    return new Bridge({
      settings,
      log,
      stores,
      sharedCatalog,
      definitions,
      discovered,
      files,
      policy,
      maskers: await openMaskers(settings, files),
      telemetry: await loadTelemetry(settings, log),
      learning: learning.isHere ? await learning.for('The bridge') : undefined,
      ...options,
      context,
    })
  }

  private constructor({ settings, log, stores, definitions, discovered, ask, ...rest }: BridgeParts) {
    const { files, policy, servePage, signInPage, context } = rest
    this.#context = context
    this.settings = settings
    this.stores = stores
    this.log = log
    this.signInPage = signInPage
    this.#definitions = definitions
    const events = new EventStream((subscriber, reason) => log.warning('An observer failed', { subscriber, reason }))
    this.events = events
    this.questions = new Questions(log, events)
    const { questions } = this
    for (const warning of settings.warnings) log.warning(warning)
    this.maskers = rest.maskers
    const page = () => this.page.open()
    const startProgram: ConnectOptions['startProgram'] = async (program) => {
      const { provider } = await this.findProvider()
      // Checking the settings ensured that this provider can start programs.
      return provider.startProgram!(program, { memoryBytes: settings.memoryBytes })
    }
    const onGone: ServerSetOptions['onGone'] = (servers, user) => this.users.forgetServers(servers, user)
    const common = { settings, context, log, stores, events, questions, page, startProgram, onGone }
    const shared = new ServerSet({
      ...common,
      signInPlace: { page: signInPage, loginOptions: '' },
      sharedCatalog: rest.sharedCatalog,
      ask,
      definitions,
      discovered,
      files,
      policy,
    })
    this.shared = shared
    this.#clients = new Clients({
      ...common,
      onClose: async (servers) => {
        if (this.#isWarm && servers.opened) this.#keepBehind(servers)
        await this.users.flush()
      },
    })
    this.page = new BridgePage({ log, clients: this.#clients, shared, serve: servePage && (() => servePage(this)) })
    this.#isResident = rest.isResident === true
    this.#userServers = new UserServers({ ...common, signInPage, shared, ownPort: rest.ownPort })
    this.servers = shared.connected
    this.rules = shared.rules
    const { upstreams, catalog } = shared.connected
    this.upstreams = upstreams
    this.catalog = catalog
    this.findProvider = rest.findProvider ?? chooseProvider(settings, log)
    this.#pool = new KernelPool({
      provider: async (onProgress) => (await this.findProvider(onProgress)).provider,
      limits: { memoryBytes: settings.memoryBytes },
      size: { min: settings.poolCount, max: settings.poolMaxCount ?? settings.poolCount },
      packages: settings.packages,
      log,
      events,
    })
    this.sessions = new OpenSessions({ settings, log, events, pool: this.#pool })
    this.users = new Users({ settings, log, pool: this.#pool, stores, learning: rest.learning })
    this.own = this.users.of(undefined).state
    this.cells = new Cells({
      settings,
      log,
      events,
      questions,
      maskers: this.maskers,
      users: this.users,
      serversOf: (user) => this.#serversOf(user),
      ownServersOf: (user) => this.serversOfUser(user),
      signInPage,
      checkSavedTool: (tool, state) => this.checkSavedTool(tool, state),
      recordFailure: () => this.recordFailure,
      refreshSettings: rest.refreshSettings,
      methods: rest.methods?.(this),
    })
    this.#observers = attachObservers({
      settings,
      log,
      stores,
      events,
      allUpstreams: () => this.#allUpstreams(),
      catalog,
      telemetry: rest.telemetry,
    })
    if (!this.#isResident) return
    this.#live = new LiveState()
    events.subscribe(this.#live)
  }

  /** Servers in the config files, and the entries that were skipped, with reasons. */
  get discovered(): DiscoveredServers {
    return this.shared.configured.discovered
  }

  /**
   * Why runs and calls cannot be recorded; undefined while they can be. The last lines are written when the bridge
   * closes.
   */
  get recordFailure(): BridgeError | undefined {
    return this.#observers.recordFailure()
  }

  /** What a resident bridge does now. */
  get live(): LiveSnapshot | undefined {
    this.events.flush()
    return this.#live?.snapshot
  }

  /**
   * The servers of one client, for as long as it is connected. They are read at their first use.
   * @param log what concerns the client alone, such as mistakes in its config files
   * @param more see `ClientServers`
   */
  connect(context: ClientContext, log: Log, more?: OfClient): ClientServers {
    return this.#clients.connect(context, log, more)
  }

  /** @throws BridgeError PROXY_SERVER_UNAVAILABLE in a resident bridge: rules and servers come from a client alone */
  async #serversOf(user: string | undefined): Promise<ServerSet> {
    if (!this.#isResident) return this.#userServers.of(user)
    throw new BridgeError('PROXY_SERVER_UNAVAILABLE', 'This bridge runs code only for a connected client')
  }

  *#allUpstreams(): Iterable<Upstreams> {
    yield* this.#userServers.allUpstreams()
    yield* this.#clients.upstreams()
  }

  /**
   * Start sandboxes and load what a first cell and a first call need. Returns at once; a failure shows when a cell
   * needs the part that failed.
   * @param servers those of the client; missing: the bridge's own
   */
  warmUp(servers?: ClientServers): void {
    this.#pool.warm()
    for (const observer of this.#observers.ofCells) observer.start()
    this.#isWarm = true
    if (!servers && this.discovered.servers.length === 0) return
    setImmediate(() => {
      loadSdk().then(
        (sdk) => sdk.preloadSchemas(),
        () => {},
      )
      const { learned } = this.users.of(undefined)
      const readAhead = async (): Promise<void> => {
        const { connected, rules } = servers ? await servers.now() : this.shared
        await Promise.all([connected.catalog.readAhead(), learned?.ready()])
        this.#keepBehind(servers)
        if (this.settings.load !== 'explicit') connected.catalog.indexAhead()
        for (const { message } of rules.unmatched()) (servers?.log ?? this.log).warning(message)
      }
      // A mistake in the config files shows in the first cell.
      readAhead().catch(() => {})
    })
  }

  /**
   * Returns what the instructions for a client say of its user's servers: see `serversBehind`. Empty while the config
   * files contain a mistake. Starts nothing.
   */
  async serversBehind(user?: string, servers?: ClientServers): Promise<string> {
    try {
      const { connected } = await (servers ? servers.now() : this.#serversOf(user))
      const { learned } = this.users.of(user)
      await learned?.ready()
      return serversBehind(connected.catalog, learned, this.settings.load)
    } catch {
      return ''
    }
  }

  /** Keeps that text for the next start. */
  #keepBehind(servers?: ClientServers): void {
    const { catalog } = servers ? servers.opened!.connected : this
    const text = serversBehind(catalog, this.users.of(undefined).learned, this.settings.load)
    const { context, places } = servers ?? { context: this.#context, places: this.#definitions.places }
    const on = keepBehind(this.settings, context, text, places)
    servers?.onBehindKept?.(text, on)
  }

  /**
   * Check that a tool loads in a fresh sandbox.
   * @throws BridgeError STATE_REFUSED when it does not, SANDBOX_* when no sandbox starts
   */
  async checkSavedTool(tool: SavedToolContent, { savedTools, loadableTools }: UserState = this.own): Promise<void> {
    await checkSavedTool(this.#pool, savedTools, tool)
    await loadableTools.remember(tool)
  }

  async capabilitySummary(user?: string, servers?: ClientServers): Promise<string> {
    const { catalog } = (await (servers ? servers.now() : this.#serversOf(user))).connected
    const scope = scopeFor(catalog, undefined, this.settings.load)
    return capabilitySummary({
      servers: summarisedServers(catalog, scope),
      savedTools: await savedToolLines(this.users.of(user).state.loadableTools),
      facts: this.settings,
      unloaded: scope.unloaded,
    })
  }

  /**
   * Returns a user's own servers, without sharing them.
   * @throws BridgeError CONFIG_INVALID while the rules contain a mistake
   */
  serversOfUser(user: string): Promise<ServerSet> {
    return this.#userServers.own(user)
  }

  /**
   * Begin a sign-in to a server, for a user or else the owner.
   * @returns the page to open
   * @throws BridgeError as `beginSignIn` does
   */
  async beginSignIn(server: string, user?: string): Promise<URL> {
    const { connected } = user === undefined ? await this.page.servers() : await this.serversOfUser(user)
    return beginSignIn(connected, server)
  }

  /** End every session, sandbox and upstream. */
  async close(): Promise<void> {
    await this.page.close()
    await this.sessions.closeAll()
    if (this.#isWarm && !this.#isResident) this.#keepBehind()
    await this.#clients.close()
    await Promise.allSettled([this.#pool.close(), this.#userServers.close(), this.shared.close(), this.users.flush()])
    await this.events.close()
    await this.stores.close()
  }
}

/** Those of a resident bridge itself. */
const NO_SERVERS: DiscoveredServers = { servers: [], untrusted: [], found: [], skipped: [], files: [] }

/** Undefined when masking is off. @throws BridgeError CONFIG_INVALID */
async function openMaskers({ mask: kinds, maskEndpoint: endpoint }: Settings, { mask: patterns }: PermissionFiles) {
  if (kinds.length === 0 && patterns.length === 0 && endpoint === undefined) return undefined
  const part = await masking.for(patterns.length > 0 ? 'A mask pattern' : 'MCP_BRIDGE_MASK')
  return part.createMaskers({ kinds, patterns, endpoint })
}

export interface BridgeOptions {
  /** Applies changes of settings.json: see `LiveSettings`. Missing: `settings` stay as they are. */
  refreshSettings?: LiveSettings['refresh']
  /** Whose servers and rules they are. Missing: those of this process. */
  context?: ClientContext
  /** It serves clients that each have servers and rules of their own: see `connect`. */
  isResident?: boolean
  /** Asks the user for inputs of servers. Missing: the user cannot be asked. */
  ask?: AskInput
  /** The port of this bridge's HTTP server, if it has one. */
  ownPort?: number
  /**
   * Starts serving the page, at the first question that a client cannot show to its user, who sits at this machine.
   * Missing: no page.
   */
  servePage?: (bridge: Bridge) => Promise<void>
  /** Where users on other machines sign in to servers. Missing: users sign in on this machine. */
  signInPage?: SignInPage
  /** Makes the methods of features. */
  methods?: (bridge: Bridge) => Methods
  /** A provider that the caller has chosen or is choosing. */
  findProvider?: ProviderChoice
}

interface BridgeParts extends BridgeOptions {
  context: ClientContext
  settings: Settings
  log: Log
  stores: Stores
  sharedCatalog: SharedCatalog | undefined
  definitions: Definitions
  discovered: DiscoveredServers
  files: PermissionFiles
  policy: Policy | undefined
  maskers: Maskers | undefined
  telemetry: TelemetryPart | undefined
  learning: LearningPart | undefined
}

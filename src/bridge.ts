// Puts the parts together: the one place that knows them all. Nothing here starts a process; that happens at the first need.
import { Cells } from './bridge/cells.ts'
import type { ConnectedServers, ConnectOptions } from './bridge/connect-servers.ts'
import { attachObservers } from './bridge/observers.ts'
import { OpenSessions } from './bridge/open-sessions.ts'
import { beginSignIn } from './bridge/begin-sign-in.ts'
import { addedServersOf, registriesOf } from './bridge/registry-access.ts'
import { openSharedCatalog } from './bridge/open-shared-catalog.ts'
import { ServerSet } from './bridge/server-set.ts'
import { UserServers } from './bridge/user-servers.ts'
import { Users } from './bridge/users.ts'
import { Catalog } from './catalog/catalog.ts'
import type { SharedCatalog } from './catalog/shared-catalog.ts'
import { Definitions } from './config/definitions.ts'
import { type AskInput } from './config/input-answers.ts'
import { PermissionFiles } from './config/permission-files.ts'
import type { DiscoveredServers } from './config/server-definition.ts'
import type { Settings } from './config/settings.ts'
import { EventStream } from './events/event-stream.ts'
import { newId } from './events/new-id.ts'
import type { LiveMethods } from './live/live-server.ts'
import type { Log } from './log.ts'
import { createMaskers, type Maskers } from './masking/create-maskers.ts'
import type { NameFinder } from './masking/masker.ts'
import type { Policy } from './policy/policy.ts'
import { capabilitySummary, summarisedServers } from './proxy/capability-summary.ts'
import { savedToolLines } from './proxy/methods/saved-tool-methods.ts'
import type { AnswerPage } from './proxy/permissions/answer-page.ts'
import type { RulesInForce } from './proxy/permissions/rules-in-force.ts'
import { scopeFor } from './proxy/scope.ts'
import { Questions } from './proxy/user/questions.ts'
import type { Registries } from './registry/registries.ts'
import { chooseProvider, type ProviderChoice } from './sandbox/choose-provider.ts'
import { checkSavedTool } from './session/check-saved-tool.ts'
import { KernelPool } from './session/kernel-pool.ts'
import type { SavedToolContent } from './state/saved-tool.ts'
import { openStores, type Stores } from './state/open-stores.ts'
import type { UserState } from './state/user-state.ts'
import type { SignInPage } from './upstream/auth/callback.ts'
import { loadSdk } from './upstream/connection/sdk.ts'
import type { Upstreams } from './upstream/upstream.ts'

export class Bridge {
  /** Among the bridges of this user that run. */
  readonly id = `${process.pid}-${newId()}`
  readonly settings: Settings
  readonly log: Log
  /** What is kept beyond this process. */
  readonly stores: Stores
  /** What happens. Observers subscribe here, and only here. */
  readonly events: EventStream
  /** What is known of the servers that all users share; the same of the next two. */
  readonly catalog: Catalog
  readonly upstreams: Upstreams
  readonly servers: ConnectedServers
  readonly questions: Questions
  readonly sessions: OpenSessions
  readonly users: Users
  /** What is kept for the owner of the bridge. */
  readonly artifacts: UserState['artifacts']
  readonly savedTools: UserState['savedTools']
  readonly loadableTools: UserState['loadableTools']
  readonly rules: RulesInForce
  readonly cells: Cells
  /** Where servers can be found that are not configured. */
  readonly registries: () => Promise<Registries>
  /** Missing when nothing is masked. */
  readonly maskers: Maskers | undefined
  /** The provider of all sandboxes, chosen at the first need. */
  readonly findProvider: ProviderChoice
  /** Where the user can answer questions about calls, while it is served. */
  page: AnswerPage | undefined
  /** Where users sign in to servers with browsers on other machines. */
  readonly signInPage: SignInPage | undefined
  /** The servers that all users share. */
  readonly shared: ServerSet
  readonly #userServers: UserServers
  readonly #pool: KernelPool
  readonly #servePage: BridgeOptions['servePage']
  #servedPage: Promise<void> | undefined
  readonly #observers: ReturnType<typeof attachObservers>
  /** What other programs of the user can ask for, such as `sandbridge top`. */
  readonly #liveMethods: LiveMethods = { interrupt: ({ cell }) => this.cells.interrupt(String(cell)) }

  /** Reads which servers are configured, and starts nothing. */
  static async open(settings: Settings, log: Log, options: BridgeOptions = {}): Promise<Bridge> {
    const definitions = new Definitions(settings, options.ownPort)
    const discovered = await definitions.read()
    const files = new PermissionFiles(settings)
    const policy = await files.read(discovered.found)
    const stores = await openStores(settings)
    const { servers } = discovered
    const sharedCatalog = await openSharedCatalog(stores, undefined, servers, settings.cacheDir, log)
    return new Bridge({ settings, log, stores, sharedCatalog, definitions, discovered, files, policy, ...options })
  }

  private constructor({ settings, log, stores, definitions, discovered, ask, ...rest }: BridgeParts) {
    const { files, policy, servePage, signInPage } = rest
    this.settings = settings
    this.stores = stores
    this.log = log
    this.signInPage = signInPage
    this.#servePage = servePage
    const events = new EventStream((subscriber, reason) => log.warning('An observer failed', { subscriber, reason }))
    this.events = events
    this.questions = new Questions(log, events)
    const { questions } = this
    for (const warning of settings.warnings) log.warning(warning)
    this.maskers = createMaskers(settings.mask, files.mask, nameFinder(settings.maskEndpoint))
    const page = () => this.#answerPage()
    const startProgram: ConnectOptions['startProgram'] = async (program) => {
      const { provider } = await this.findProvider()
      // The settings have seen to it that it is one that can.
      return provider.startProgram!(program, { memoryBytes: settings.memoryBytes })
    }
    const common = { settings, log, stores, events, questions, page, startProgram }
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
      log,
      events,
    })
    this.sessions = new OpenSessions({ settings, log, events, pool: this.#pool })
    this.users = new Users({ settings, log, pool: this.#pool, stores })
    const { artifacts, savedTools, loadableTools } = this.users.of(undefined).state
    this.artifacts = artifacts
    this.savedTools = savedTools
    this.loadableTools = loadableTools
    this.registries = registriesOf(settings, log)
    this.cells = new Cells({
      settings,
      log,
      events,
      questions,
      maskers: this.maskers,
      users: this.users,
      serversOf: (user) => this.#userServers.of(user),
      ownServersOf: (user) => this.serversOfUser(user),
      signInPage,
      registries: this.registries,
      addedServers: addedServersOf(settings, log, this.servers.jailPlace),
      checkSavedTool: (tool, state) => this.checkSavedTool(tool, state),
    })
    this.#observers = attachObservers({
      settings,
      log,
      stores,
      events,
      allUpstreams: () => this.#userServers.allUpstreams(),
      catalog,
      id: this.id,
      methods: this.#liveMethods,
    })
  }

  /** What the config files hold: servers, and what was left out with reasons. */
  get discovered(): DiscoveredServers {
    return this.shared.configured.discovered
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
    this.#observers.live?.start()
  }

  /** Start sandboxes, and load what a first cell and a first call need, ahead of need. Returns at once; failures show when a cell needs them. */
  warmUp(): void {
    this.#pool.warm()
    for (const observer of this.#observers.ofCells) observer.start()
    if (this.discovered.servers.length === 0) return
    setImmediate(() => {
      loadSdk().then(
        (sdk) => sdk.preloadSchemas(),
        () => {},
      )
      void this.catalog.readAhead().then(() => {
        for (const warning of this.rules.unmatched()) this.log.warning(warning)
      })
    })
  }

  /** End a server's process or connection, and ask it for its tools on a new one. How that ends is in the catalog. */
  async restartServer(server: string): Promise<void> {
    await this.upstreams.stop(server)
    await this.catalog.index([server])
  }

  /** The page that is served already, or one that is from now on. */
  async #answerPage(): Promise<AnswerPage | undefined> {
    this.#servedPage ??= this.page ? undefined : this.#servePage?.(this)
    await this.#servedPage?.catch((error: unknown) => this.log.warning('The page cannot be served', { error }))
    return this.page
  }

  /** Load a tool in a fresh sandbox. @throws BridgeError STATE_REFUSED when that fails, SANDBOX_* when there is no sandbox */
  async checkSavedTool(tool: SavedToolContent, { savedTools, loadableTools }: UserState | this = this): Promise<void> {
    await checkSavedTool(this.#pool, savedTools, tool)
    await loadableTools.remember(tool)
  }

  async capabilitySummary(user?: string): Promise<string> {
    const { catalog } = (await this.#userServers.of(user)).connected
    const scope = scopeFor(catalog, undefined, this.settings.load)
    return capabilitySummary({
      servers: summarisedServers(catalog, scope),
      savedTools: await savedToolLines(this.users.of(user).state.loadableTools),
      facts: this.settings,
      unloaded: scope.unloaded,
    })
  }

  /** The servers of a user, apart from those that are shared. @throws BridgeError CONFIG_INVALID while rules have a mistake */
  serversOfUser(user: string): Promise<ServerSet> {
    return this.#userServers.own(user)
  }

  /** Sign a user in to a server, or the owner of the bridge. @returns the page to open @throws BridgeError as `beginSignIn` does */
  async beginSignIn(server: string, user?: string): Promise<URL> {
    const { connected } = user === undefined ? this.shared : await this.serversOfUser(user)
    return beginSignIn(connected, server)
  }

  /** End every session, sandbox and upstream. */
  async close(): Promise<void> {
    await this.#servedPage?.catch(() => {})
    this.page?.close()
    await this.sessions.closeAll()
    await Promise.allSettled([this.#pool.close(), this.#userServers.close(), this.shared.close()])
    await this.events.close()
    await this.stores.close()
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

export interface BridgeOptions {
  /** For inputs of servers; missing means that their user cannot be asked. */
  ask?: AskInput
  /** Where this bridge is to serve over HTTP. */
  ownPort?: number
  /** Serves the page from the first question on that a client cannot ask its user, who sits at this machine; missing means that none is. */
  servePage?: (bridge: Bridge) => Promise<void>
  /** Where users sign in to servers with browsers on other machines; missing means that they sign in on this one. */
  signInPage?: SignInPage
  /** One that is chosen already, or about to be. */
  findProvider?: ProviderChoice
}

interface BridgeParts extends BridgeOptions {
  settings: Settings
  log: Log
  stores: Stores
  sharedCatalog: SharedCatalog | undefined
  definitions: Definitions
  discovered: DiscoveredServers
  files: PermissionFiles
  policy: Policy | undefined
}

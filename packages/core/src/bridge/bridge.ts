// Composition root: creates every part of the bridge. Opening a bridge starts no process; each starts at its first use.
import { BridgePage } from './bridge-page.ts'
import { Cells } from './cells/cells.ts'
import type { TenantsBridge } from './tenants/connect-servers.ts'
import { attachObservers, loadTelemetry } from './observers.ts'
import { OpenSessions } from './cells/open-sessions.ts'
import type { Tenant } from './tenants/tenant.ts'
import { type OfClient, Tenants } from './tenants/tenants.ts'
import { Users } from './tenants/users.ts'
import { type ClientContext, processContext } from '../config/settings/client-context.ts'
import { type AskInput } from '../config/entries/input-answers.ts'
import { PermissionFiles } from '../config/permission-files.ts'
import type { LiveSettings } from '../config/settings/file/live-settings.ts'
import type { Settings } from '../config/settings/settings.ts'
import { BridgeError } from '../errors.ts'
import { EventStream } from '../observe/events/event-stream.ts'
import type { LedgerState } from '../observe/runs/ledger.ts'
import type { Log } from '../util/log.ts'
import { type Maskers, masking } from '../cell/masking-part.ts'
import type { Methods } from '../calls/methods/method.ts'
import { learning, type LearningPart } from '../calls/learned-part.ts'
import { once, type OncePart } from '../calls/once-part.ts'
import { saved, type SavedPart, projects, type ProjectsPart } from '../calls/memories-part.ts'
import { Questions } from '../calls/questions/questions.ts'
import { chooseProvider } from '../isolation/detect/provider-choice.ts'
import type { ProviderChoice } from '../isolation/detect/native-part.ts'
import { KernelPool } from '../cell/session/kernel-pool.ts'
import { openStores } from '../util/stores/open-stores.ts'
import type { TelemetryPart } from '../observe/telemetry-part.ts'
import type { Stores } from '../util/stores/store.ts'
import type { SignInPage } from '../upstream/sign-in-part.ts'
import { SharedUpstreams } from '../upstream/shared-upstreams.ts'
import { loadSdk } from '../upstream/connection/sdk.ts'

export class Bridge {
  readonly settings: Settings
  readonly log: Log
  readonly stores: Stores
  /** All events of the bridge. Observers subscribe to this stream and nowhere else. */
  readonly events: EventStream
  readonly questions: Questions
  readonly sessions: OpenSessions
  readonly users: Users
  readonly tenants: Tenants
  readonly cells: Cells
  /** Undefined when masking is off. */
  readonly maskers: Maskers | undefined
  /** Chooses the provider of all sandboxes, at its first call. */
  readonly findProvider: ProviderChoice
  readonly page: BridgePage
  /** The page where users on other machines sign in to servers. */
  readonly signInPage: SignInPage | undefined
  readonly #pool: KernelPool
  readonly #observers: ReturnType<typeof attachObservers>

  /** Starts no process. */
  static async open(settings: Settings, log: Log, options: BridgeOptions = {}): Promise<Bridge> {
    const { context = processContext() } = options
    const files = new PermissionFiles(settings, context.cwd)
    await files.read()
    return new Bridge({
      settings,
      log,
      stores: await openStores(settings),
      maskers: await openMaskers(settings, files),
      telemetry: await loadTelemetry(settings, log),
      learning: await learning.ifHere(),
      saved: await saved.ifHere(),
      projects: settings.projects ? await projects.ifHere() : undefined,
      once: settings.once === 'on' ? await once.ifHere() : undefined,
      ...options,
      context: options.isResident ? undefined : context,
    })
  }

  private constructor({ settings, log, stores, ...rest }: BridgeParts) {
    const { servePage, signInPage } = rest
    this.settings = settings
    this.stores = stores
    this.log = log
    this.signInPage = signInPage
    const events = new EventStream((subscriber, reason) => log.warning('An observer failed', { subscriber, reason }))
    this.events = events
    this.questions = new Questions(log, events)
    const { questions } = this
    for (const warning of settings.warnings) log.warning(warning)
    this.maskers = rest.maskers
    const page = () => this.page.open()
    const startProgram: TenantsBridge['startProgram'] = async (program) => {
      const { provider } = await this.findProvider()
      // Checking the settings ensured that this provider can start programs.
      return provider.startProgram!(program, { memoryBytes: settings.memoryBytes })
    }
    this.findProvider = rest.findProvider ?? chooseProvider(settings, log)
    this.#pool = new KernelPool({
      provider: async (onProgress) => (await this.findProvider(onProgress)).provider,
      passOver: this.findProvider.passOver,
      limits: { memoryBytes: settings.memoryBytes },
      size: { min: settings.poolCount, max: settings.poolMaxCount ?? settings.poolCount },
      packages: settings.packages,
      log,
      events,
    })
    this.sessions = new OpenSessions({ settings, log, events, pool: this.#pool })
    this.users = new Users({
      settings,
      log,
      pool: this.#pool,
      stores,
      learning: rest.learning,
      saved: rest.saved,
      projects: rest.projects,
      createJournals: rest.once?.createJournals,
    })
    const { users } = this
    const { context, ask, ownPort } = rest
    const upstreams = new SharedUpstreams()
    const configFiles = () => this.tenants.configFiles
    const common = { settings, log, stores, events, questions, users, upstreams }
    this.tenants = new Tenants({
      bridge: { ...common, page, signInPage, startProgram, configFiles },
      context,
      ask,
      ownPort,
    })
    this.page = new BridgePage({ log, tenants: this.tenants, serve: servePage && (() => servePage(this)) })
    this.cells = new Cells({
      settings,
      log,
      events,
      questions,
      maskers: this.maskers,
      tenantOf: (session) => this.sessions.tenantOf(session),
      signInPage,
      recordFailure: () => this.recordFailure,
      refreshSettings: rest.refreshSettings,
      methods: rest.methods?.(this),
    })
    this.#observers = attachObservers({
      settings,
      log,
      stores,
      events,
      opened: () => this.tenants.opened(),
      telemetry: rest.telemetry,
    })
    // What a resident does can be asked for at any time.
    if (!context) events.subscribe({ name: 'live', receive: () => {} })
  }

  /** Why runs and calls cannot be recorded; undefined while they can be. The last lines are written at close. */
  get recordFailure(): BridgeError | undefined {
    return this.#observers.recordFailure()
  }

  /** What a resident bridge does now. */
  get live(): LedgerState {
    this.events.flush()
    return this.events.ledger.state
  }

  /**
   * A client that has servers and rules of its own, for as long as it is connected. They are read at their first use.
   * @param log what concerns the client alone, such as mistakes in its config files
   * @param more see `TenantOptions` and `TenantTies`
   */
  connect(context: ClientContext, log: Log, more?: OfClient): Tenant {
    return this.tenants.connect(context, log, more)
  }

  /** Starts what a first cell and a first call need. Returns at once; a failure shows when a cell needs the part. */
  warmUp(tenant: Tenant): void {
    this.#pool.warm()
    for (const observer of this.#observers.ofCells) observer.start()
    setImmediate(() => {
      loadSdk().then(
        (sdk) => sdk.preloadSchemas(),
        () => {},
      )
      // A mistake in the config files shows in the first cell.
      tenant.warmUp().catch(() => {})
    })
  }

  async close(): Promise<void> {
    await this.page.close()
    await this.sessions.closeAll()
    await Promise.allSettled([this.#pool.close(), this.tenants.close()])
    await this.users.flush(true)
    await this.events.close()
    await this.stores.close()
  }
}

/** Undefined when masking is off. @throws BridgeError CONFIG_INVALID */
async function openMaskers({ mask: kinds, maskEndpoint: endpoint }: Settings, { mask: patterns }: PermissionFiles) {
  if (kinds.length === 0 && patterns.length === 0 && endpoint === undefined) return undefined
  const part = await masking.for(patterns.length > 0 ? 'A mask pattern' : 'MCP_BRIDGE_MASK')
  return part.createMaskers({ kinds, patterns, endpoint })
}

export interface BridgeOptions {
  /** Applies changes of settings.json: see `LiveSettings`. Missing: `settings` stay as they are. */
  refreshSettings?: LiveSettings['refresh']
  /** Of its owner. Missing: that of this process. */
  context?: ClientContext
  /** It has no owner, and serves only those that `connect`. */
  isResident?: boolean
  /** Asks the user for inputs of servers. Missing: the user cannot be asked. */
  ask?: AskInput
  /** The port of this bridge's HTTP server, if it has one. */
  ownPort?: number
  /** Serves the page, at the first question that a client cannot show to its user here. Missing: no page. */
  servePage?: (bridge: Bridge) => Promise<void>
  /** Where users on other machines sign in to servers. Missing: users sign in on this machine. */
  signInPage?: SignInPage
  methods?: (bridge: Bridge) => Methods
  /** A provider that the caller has chosen or is choosing. */
  findProvider?: ProviderChoice
}

interface BridgeParts extends Omit<BridgeOptions, 'context'> {
  context: ClientContext | undefined
  settings: Settings
  log: Log
  stores: Stores
  maskers: Maskers | undefined
  telemetry: TelemetryPart | undefined
  learning: LearningPart | undefined
  saved: SavedPart | undefined
  projects: ProjectsPart | undefined
  once: OncePart | undefined
}

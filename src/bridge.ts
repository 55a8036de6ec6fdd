// Puts the parts together: the one place that knows them all. Nothing here starts a process; that happens at the first need.
import { homedir } from 'node:os'
import path from 'node:path'
import { Catalog } from './catalog/catalog.ts'
import { Embeddings } from './catalog/search/embeddings.ts'
import { discoverServers } from './config/discover.ts'
import { expandTransport } from './config/expand.ts'
import { type AskInput, InputAnswers } from './config/input-answers.ts'
import type { DiscoveredServers, RemoteServer, ServerDefinition, StdioServer } from './config/server-definition.ts'
import type { Settings } from './config/settings.ts'
import { startInputs } from './config/start-inputs.ts'
import { createTrustStore } from './config/trust.ts'
import type { Log } from './log.ts'
import { capabilitySummary } from './proxy/capability-summary.ts'
import { savedToolLines } from './proxy/methods/saved-tool-methods.ts'
import { serveCall } from './proxy/proxy.ts'
import { scopeFor } from './proxy/scope.ts'
import { withToolHint } from './proxy/tool-hint.ts'
import { refuseUntrusted, withTrustHint } from './proxy/trust-hint.ts'
import { wholeText } from './render/render-result.ts'
import { chooseProvider } from './sandbox/choose-provider.ts'
import type { CellResult } from './cell/cell-result.ts'
import type { CellRequest } from './session/cell-run.ts'
import { type Asker, Questions } from './proxy/user/questions.ts'
import { KernelPool } from './session/kernel-pool.ts'
import { Session } from './session/session.ts'
import { ARTIFACT_LIMITS, type Artifact, ArtifactStore } from './state/artifact-store.ts'
import { checkSavedTool, findProblems } from './state/check-saved-tool.ts'
import { LoadableTools } from './state/loadable-tools.ts'
import type { SavedToolContent } from './state/saved-tool.ts'
import { SavedToolStore } from './state/saved-tool-store.ts'
import { Uploads } from './state/uploads.ts'
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
  'code' | 'timeoutMs' | 'timeLimit' | 'signal' | 'onPreparing' | 'onOutput' | 'onProgress' | 'onToolCall'
> {
  /** Names or aliases of the only servers that the cell may reach. */
  servers?: string[]
  /** Whom upstreams may ask something while the cell calls them. */
  asker?: Asker
}

export class Bridge {
  readonly settings: Settings
  readonly log: Log
  readonly catalog: Catalog
  readonly upstreams: Upstreams
  readonly questions: Questions
  /** What the config files hold: servers, and what was left out with reasons. */
  readonly discovered: DiscoveredServers
  /** Sign-ins to remote servers. */
  readonly tokenStore: TokenStore
  readonly artifacts: ArtifactStore
  readonly savedTools: SavedToolStore
  readonly loadableTools: LoadableTools
  /** The provider of all sandboxes, chosen at the first need. */
  readonly findProvider: ReturnType<typeof chooseProvider>
  readonly #pool: KernelPool
  readonly #sessions = new Set<Session>()
  readonly #inputs: InputAnswers

  /**
   * Reads which servers are configured, and starts nothing.
   * @param ask for inputs of servers; missing means that their user cannot be asked
   * @param ownPort where this bridge is to serve over HTTP
   */
  static async open(settings: Settings, log: Log, options: { ask?: AskInput; ownPort?: number } = {}): Promise<Bridge> {
    const { isTrusted } = createTrustStore(settings.stateDir)
    const { ask, ...own } = options
    return new Bridge(settings, log, await discoverServers({ settings, isTrusted, ...own }), ask)
  }

  private constructor(settings: Settings, log: Log, discovered: DiscoveredServers, ask: AskInput | undefined) {
    this.#inputs = new InputAnswers(ask)
    const { servers, skipped } = discovered
    this.settings = settings
    this.log = log
    this.questions = new Questions(log)
    this.discovered = discovered
    for (const warning of settings.warnings) log.warning(warning)
    for (const { file, name, reason } of skipped) log.warning('A server definition was skipped', { file, name, reason })
    this.artifacts = new ArtifactStore(settings.stateDir)
    this.savedTools = new SavedToolStore(settings.stateDir)
    const tokensFile = path.join(settings.stateDir, '.sandbridge', 'tokens.json')
    this.tokenStore = createTokenStore(tokensFile, vaultOf(settings, log), log)
    this.upstreams = createUpstreams({
      definitions: servers,
      log,
      clientInfo: CLIENT_INFO,
      idleMs: settings.upstreamIdleMs,
      resolveTransport: (definition) => this.resolveTransport(definition),
      tokenStore: this.tokenStore,
      clientMetadataUrl: settings.clientMetadataUrl,
      requests: () => this.questions.requests(),
      verdictsFile: path.join(settings.cacheDir, 'upstreams.json'),
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
      startInputs: (definition) => startInputs(definition, { ...ownPlace(), tokensFile }),
      cacheDir: path.join(settings.cacheDir, 'catalog'),
      learnTypes: settings.learnTypes,
      ...(settings.embeddingsUrl && { embeddings: embeddingsOf(settings, settings.embeddingsUrl, log) }),
      log,
    })
    this.upstreams.onTools((server, tools, instructions) => {
      this.catalog.toolsChanged(server, tools, instructions)
    })
    this.upstreams.onOfferings((server) => void this.catalog.readOfferings(server))
    this.findProvider = chooseProvider(settings, log)
    this.#pool = new KernelPool({
      provider: async (onProgress) => (await this.findProvider(onProgress)).provider,
      limits: { memoryBytes: settings.memoryBytes },
      size: settings.poolCount,
      log,
    })
    const { runtime, image, packages } = settings
    this.loadableTools = new LoadableTools({
      store: this.savedTools,
      environment: [VERSION, runtime, image, packages],
      file: path.join(settings.cacheDir, 'loadable-tools.json'),
      findProblems: (tools) => findProblems(this.#pool, this.savedTools, tools),
      log,
    })
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
    } = this.settings
    const session = new Session({
      pool: this.#pool,
      log: this.log,
      idleTimeoutMs: runtimeIdleTimeoutMs,
      fresh: mode === 'fresh',
      checkpoint: checkpoint && mode !== 'fresh',
      json: outputMode === 'toon',
      limits: { memoryBytes, maxTimeoutSeconds: maxTimeoutMs / 1000, outputTokenCount },
    })
    this.#sessions.add(session)
    return session
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
      void this.catalog.readAhead()
    })
  }

  /**
   * Run one cell in a session.
   * @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name in `servers`, and what Session.run throws
   */
  async runCell(session: Session, { servers, asker, ...request }: RunCellRequest): Promise<CellResult> {
    const { untrusted } = this.discovered
    refuseUntrusted(servers, untrusted)
    const scope = scopeFor(this.catalog, servers, this.settings.load)
    const { catalog, upstreams, questions, artifacts, savedTools, loadableTools, settings: facts } = this
    const savedArtifacts: Artifact[] = []
    const notes = new Set<string>()
    const uploads = new Uploads(ARTIFACT_LIMITS.artifactBytes)
    const checkTool = (tool: SavedToolContent) => this.checkSavedTool(tool)
    const context = {
      catalog,
      upstreams,
      questions,
      artifacts,
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
    }
    const result = await session.run({
      ...request,
      servers: scope.visible,
      onCall: (call, signal) => serveCall(call, { ...context, signal }),
    })
    result.notes.push(...notes)
    if (result.error) result.error = await withToolHint(result.error, catalog, scope)
    if (result.error && !servers) result.error = withTrustHint(result.error, untrusted)
    const outputUri = result.cell === undefined ? undefined : session.outputs.keep(result.cell, wholeText(result))
    return {
      ...result,
      ...(outputUri && { outputUri }),
      ...(savedArtifacts.length > 0 && { artifacts: savedArtifacts }),
    }
  }

  /** Load a tool in a fresh sandbox. @throws BridgeError STATE_REFUSED when that fails, SANDBOX_* when there is no sandbox */
  async checkSavedTool(tool: SavedToolContent): Promise<void> {
    await checkSavedTool(this.#pool, this.savedTools, tool)
    await this.loadableTools.remember(tool)
  }

  async capabilitySummary(): Promise<string> {
    const { servers, unloaded } = scopeFor(this.catalog, undefined, this.settings.load)
    return capabilitySummary(servers, await savedToolLines(this.loadableTools), this.settings, unloaded)
  }

  /** A server's transport with its placeholders filled in: the last moment before it is started. @throws BridgeError CONFIG_INVALID */
  async resolveTransport(definition: ServerDefinition): Promise<StdioServer | RemoteServer> {
    const place = ownPlace()
    return expandTransport(definition, { ...place, input: await this.#inputs.forServer(definition, place.env) })
  }

  /** End every session, sandbox and upstream. */
  async close(): Promise<void> {
    // Before its servers are ended: that is no failure of theirs.
    this.catalog.stopIndexing()
    await Promise.allSettled([...this.#sessions].map((session) => session.close()))
    await Promise.allSettled([this.#pool.close(), this.upstreams.close()])
    this.catalog.close()
  }
}

/** Where placeholders of definitions get their values. */
function ownPlace(): { env: NodeJS.ProcessEnv; home: string; workspaceFolder: string } {
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

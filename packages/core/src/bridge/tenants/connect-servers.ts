// Creates the upstreams and the catalog of a set of servers; the catalog follows the upstreams' tools and errors.
import path from 'node:path'
import { Catalog } from '../../calls/catalog/catalog.ts'
import { definitionKey } from '../../calls/catalog/model/identity.ts'
import { toolbookOf } from '../../calls/catalog/toolbook.ts'
import type { CatalogTool } from '../../calls/catalog/model/catalog-tool.ts'
import { SETTINGS_FILE } from '../../config/readers/own-places.ts'
import type { ClientContext, Environment } from '../../config/settings/client-context.ts'
import { expandTransport } from '../../config/entries/expand.ts'
import { type AskInput, InputAnswers } from '../../config/entries/input-answers.ts'
import type { RemoteServer, ServerDefinition, StdioServer } from '../../config/entries/server-definition.ts'
import { BridgeError } from '../../errors.ts'
import type { Settings } from '../../config/settings/settings.ts'
import { startInputs } from '../../config/entries/start-inputs.ts'
import { tokensFile } from '../../config/tokens-file.ts'
import type { EventStream } from '../../observe/events/event-stream.ts'
import type { Log } from '../../util/log.ts'
import { shortFolder } from '../../util/net/unix-socket.ts'
import { mergedEnvironment } from '../../util/process/environment.ts'
import type { Standing } from '../../config/rules/policy.ts'
import type { Ability, Questions } from '../../calls/questions/questions.ts'
import type { Stores } from '../../keep/store.ts'
import { usersFolder } from '../../keep/user-folder.ts'
import type { SignInPlace } from '../../upstream/oauth-part.ts'
import { signInVault, tokenStoreIn } from '../../upstream/auth/sign-in-store.ts'
import { UpstreamSet, type UpstreamJail, type Upstreams, type UpstreamsOptions } from '../../upstream/upstream-set.ts'
import type { UpstreamTool } from '../../upstream/upstream.ts'
import { CLIENT_INFO } from '../../util/version.ts'
import { SIGN_IN_MS } from '../../upstream/auth/own-credentials.ts'
import { remote } from '../../upstream/remote-part.ts'

export interface ConnectOptions {
  settings: Settings
  log: Log
  /** Where upstreams log that other tenants use, too. */
  upstreamLog: Log
  stores: Stores
  events: EventStream
  definitions: ServerDefinition[]
  /** Asks the user for inputs of servers. Missing: the user cannot be asked. */
  ask: AskInput | undefined
  questions: Questions
  /** Folder for sign-ins. Missing: the bridge's own. */
  folders?: Pick<Settings, 'stateDir'>
  /** The user who owns the servers. Missing: they belong to the owner of the bridge, and all users share them. */
  user?: string
  /** Whose servers they are: their environment and folders. */
  context: ClientContext
  /** Variables for placeholders, which override those of the context. */
  env: () => Readonly<Record<string, string>>
  signInPlace: SignInPlace
  /** Upstreams that other sets use, too. */
  shared: UpstreamsOptions['shared']
  /** What clients of these servers can be asked. */
  offered: ReadonlySet<Ability>
  /** Tells whether the rules let a tool be called. */
  standing: (tool: CatalogTool) => Standing
  /** Starts a server in a pod, when servers run in pods. */
  startProgram: NonNullable<UpstreamJail['startProgram']>
  /** Config files of other clients, which jailed servers never see either. */
  hiddenToo: () => string[]
  configFiles: () => string[]
}

export type ConnectedServers = ReturnType<typeof connectServers>

export function connectServers(options: ConnectOptions) {
  const { settings, context, log, events, definitions, questions, standing } = options
  const { stateDir } = options.folders ?? settings
  const inputs = new InputAnswers(options.ask)
  const tokens = tokensFile(stateDir)
  const store = options.stores.of(options.user)
  const tokenStore = tokenStoreIn(store, signInVault(settings, log), log)
  const bookOf = (definition: ServerDefinition) => toolbookOf(store, definitionKey(definition), log)
  /** Where servers are jailed, and which files they never see. */
  const jailPlace: UpstreamJail = {
    home: context.home,
    stateDir,
    image: settings.jailImage,
    ...(settings.upstreams === 'pods' && { startProgram: options.startProgram }),
    // Files with secrets of servers, and files that decide what the bridge starts.
    hidden: () => [
      path.join(settings.stateDir, '.sandbridge'),
      path.join(settings.stateDir, SETTINGS_FILE),
      usersFolder(settings.stateDir),
      settings.cacheDir,
      shortFolder(),
      ...options.configFiles(),
      ...options.hiddenToo(),
    ],
  }
  /** Fills in the placeholders of a server's transport, just before it starts. @throws BridgeError CONFIG_INVALID */
  const resolveTransport = async (definition: ServerDefinition): Promise<StdioServer | RemoteServer> => {
    const host = hostOf(options)
    const transport = expandTransport(definition, { ...host, input: await inputs.forServer(definition, host.env) })
    if (transport.type === 'stdio' || transport.headersHelper === undefined) return transport
    // It runs beside the bridge, where no program of a server may run then.
    if (settings.jail === 'all' || settings.upstreams === 'pods')
      throw new BridgeError('CONFIG_INVALID', `The headersHelper of server '${definition.name}' is not run`, {
        hint: 'It would run outside of a jail, which MCP_BRIDGE_JAIL=all and servers in pods rule out. Write `headers`.',
      })
    const { withHelpersHeaders } = await remote.for(`The entry of ${definition.name}`)
    return withHelpersHeaders(definition.name, transport, context)
  }
  const upstreams: Upstreams = new UpstreamSet({
    context,
    definitions,
    log: options.upstreamLog,
    events,
    clientInfo: CLIENT_INFO,
    allowSelf: settings.allowSelfServer,
    idleMs: settings.upstreamIdleMs,
    resolveTransport,
    tokenStore,
    signInPlace: options.signInPlace,
    requests: (callers) => questions.requests(callers, options.offered),
    shared: options.shared,
    jail: jailPlace,
    reached: {
      of: (definition) => bookOf(definition).value.reached,
      keep: (definition, reached) => bookOf(definition).keep({ reached }),
    },
  })
  const listed = (server: string, tools: UpstreamTool[]) => {
    return { tools, instructions: upstreams.of(server).instructions, skipped: upstreams.of(server).skippedTools }
  }
  const catalog = new Catalog({
    definitions,
    home: context.home,
    listTools: async (server, signal, again) => listed(server, await upstreams.listTools(server, signal, again)),
    toolChanges: (server) => upstreams.of(server).toolChanges,
    listOfferings: async (server, signal) => {
      // Sequential: some servers lose replies when they get two requests at once.
      const resources = await upstreams.listResources(server, signal).catch(() => undefined)
      const prompts = await upstreams.listPrompts(server, signal).catch(() => undefined)
      return { ...(resources && { resources }), ...(prompts && { prompts }) }
    },
    state: (server) => upstreams.of(server).state,
    startInputs: (definition) => startInputs(definition, { ...hostOf(options), tokensFile: tokens }),
    store,
    abilities: () => {
      const abilities = [...options.offered].toSorted()
      return abilities.map((ability) => ability.split('/')[0]).join('-')
    },
    standing,
    log,
  })
  upstreams.listen({
    onTools: (server, tools) => catalog.toolsChanged(server, listed(server, tools)),
    onError: (server, error) => catalog.serverErred(server, error),
    onOfferings: (server) => void catalog.readOfferings(server),
  })
  return { upstreams, catalog, tokenStore, context, jailPlace, resolveTransport }
}

/** Returns the values that placeholders of definitions refer to. */
function hostOf({ env, context }: ConnectOptions): { env: Environment; home: string; workspaceFolder: string } {
  const { home, cwd } = context
  return { env: mergedEnvironment<string | undefined>([context.env, env()]), home, workspaceFolder: cwd }
}

/**
 * Resolves once the page is known. An event reports how the sign-in ended.
 * @returns the page of the authorization server
 * @throws BridgeError when the server needs no sign-in, or what `signIn` throws before it has a page
 */
export function beginSignIn({ upstreams, catalog }: ConnectedServers, server: string): Promise<URL> {
  const notNeeded = () =>
    new BridgeError('TOOL_ARGUMENTS_INVALID', `Server '${server}' needs no sign-in, or has one`, { hint: '' })
  if (!upstreams.canSignIn(server)) throw notNeeded()
  return new Promise((resolve, reject) => {
    const showPage = (page: URL): Promise<void> => Promise.resolve(resolve(page))
    upstreams
      .signIn(server, { showPage, signal: AbortSignal.timeout(SIGN_IN_MS) })
      .then(() => catalog.index([server]))
      // No effect if the promise already resolved with a page.
      .then(() => reject(notNeeded()), reject)
  })
}

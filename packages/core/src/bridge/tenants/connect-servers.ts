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
import type {
  DiscoveredServers,
  RemoteServer,
  ServerDefinition,
  StdioServer,
} from '../../config/entries/server-definition.ts'
import { shellWord } from '../../config/secrets/command-line.ts'
import { BridgeError } from '../../errors.ts'
import type { Settings } from '../../config/settings/settings.ts'
import { startInputs } from '../../config/entries/start-inputs.ts'
import { tokensFile } from '../../config/settings/state-folder.ts'
import type { EventStream } from '../../observe/events/event-stream.ts'
import type { Log } from '../../util/log.ts'
import { shortFolder } from '../../util/net/unix-socket.ts'
import { mergedEnvironment } from '../../util/process/environment.ts'
import type { ToolAccess } from '../../config/rules/policy.ts'
import type { Ability, Questions } from '../../calls/questions/questions.ts'
import type { Stores } from '../../util/stores/store.ts'
import { userFolder, usersFolder } from '../../util/stores/stored-name.ts'
import type { SignInPage } from '../../upstream/sign-in-part.ts'
import { signInVault, tokenStoreIn } from '../../upstream/auth/sign-in-store.ts'
import type { SharedUpstreams } from '../../upstream/shared-upstreams.ts'
import { UpstreamSet, type UpstreamJail, type Upstreams } from '../../upstream/upstream-set.ts'
import type { UpstreamTool } from '../../upstream/upstream.ts'
import { CLIENT_INFO } from '../../util/package-root.ts'
import { SIGN_IN_MS } from '../../upstream/auth/own-credentials.ts'
import { remote } from '../../upstream/remote-part.ts'
import type { AnswerPage } from '../../calls/permissions/answer-page.ts'
import type { Users } from './users.ts'

/** The longest user name shown in a hint. */
const MAX_NAME_CHARS = 200

/** Which servers a tenant has. */
interface TenantDefinitions {
  /** What the files contain, read only if that may be something else than at the last time. */
  latest(): Promise<DiscoveredServers>
  /** The same if it may have changed since the last read, else undefined. */
  readAgain(): Promise<DiscoveredServers | undefined>
  /** The state of all files that decide which servers there are. */
  readonly places: Record<string, string>
  /** Variables for placeholders, which override those of the context. */
  readonly env?: Readonly<Record<string, string>>
  /** False while the tenant has only its parent's settings. */
  readonly hasOwn?: boolean
}

/** What the tenants of a bridge have in common. */
export interface TenantsBridge {
  settings: Settings
  /** Where upstreams log that several tenants use. */
  log: Log
  stores: Stores
  events: EventStream
  questions: Questions
  users: Users
  upstreams: SharedUpstreams
  /** Returns the page where the user answers questions about calls. */
  page: () => Promise<AnswerPage | undefined>
  /** Missing: users sign in on this machine. */
  signInPage: SignInPage | undefined
  /** Starts a server in a pod, when servers run in pods. */
  startProgram: NonNullable<UpstreamJail['startProgram']>
  /** Config files of all tenants, which jailed servers never see. */
  configFiles: () => string[]
}

export interface TenantOptions {
  bridge: TenantsBridge
  /** Whose servers they are: their environment and folders. */
  context: ClientContext
  log: Log
  /** Missing: the owner of the bridge, whose servers all users share. Clients of a resident are all of one user. */
  user?: string
  definitions: TenantDefinitions
  /** Asks the user for inputs of servers. Missing: the user cannot be asked. */
  ask?: AskInput | undefined
}

interface ServersOfSet {
  definitions: ServerDefinition[]
  /** The key of an upstream that other sets use, too. */
  keyOf: (definition: ServerDefinition) => string | undefined
  /** What clients of these servers can be asked. */
  offered: ReadonlySet<Ability>
  /** Tells whether the rules let a tool be called. */
  accessOf: (tool: CatalogTool) => ToolAccess
  configFiles: () => string[]
}

export type ConnectedServers = ReturnType<typeof connectServers>

export function connectServers(
  tenant: TenantOptions,
  { definitions, keyOf, offered, accessOf, configFiles }: ServersOfSet,
) {
  const { bridge, context, log, user } = tenant
  const { settings, events, questions } = bridge
  const stateDir = userFolder(settings.stateDir, user)
  const inputs = new InputAnswers(tenant.ask)
  const tokens = tokensFile(stateDir)
  const store = bridge.stores.of(user)
  const tokenStore = tokenStoreIn(store, signInVault(settings, log), log)
  const bookOf = (definition: ServerDefinition) => toolbookOf(store, definitionKey(definition), log)
  /** Where servers are jailed, and which files they never see. */
  const jailPlace: UpstreamJail = {
    home: context.home,
    stateDir,
    image: settings.jailImage,
    ...(settings.upstreams === 'pods' && { startProgram: bridge.startProgram }),
    // Files with secrets of servers, and files that decide what the bridge starts.
    hidden: () => [
      path.join(settings.stateDir, '.sandbridge'),
      path.join(settings.stateDir, SETTINGS_FILE),
      usersFolder(settings.stateDir),
      settings.cacheDir,
      shortFolder(),
      ...configFiles(),
      ...bridge.configFiles(),
    ],
  }
  /** Fills in the placeholders of a server's transport, just before it starts. @throws BridgeError CONFIG_INVALID */
  const resolveTransport = async (definition: ServerDefinition): Promise<StdioServer | RemoteServer> => {
    const host = hostOf(tenant)
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
    log: bridge.log,
    events,
    clientInfo: CLIENT_INFO,
    allowSelf: settings.allowSelfServer,
    idleMs: settings.upstreamIdleMs,
    resolveTransport,
    tokenStore,
    signInPlace: {
      page: bridge.signInPage,
      loginOptions: user === undefined ? '' : ` --user ${shellWord(user, MAX_NAME_CHARS)}`,
    },
    requests: (callers) => questions.requests(callers, offered),
    shared: { upstreams: bridge.upstreams, keyOf },
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
    startInputs: (definition) => startInputs(definition, { ...hostOf(tenant), tokensFile: tokens }),
    store,
    abilities: () => {
      const abilities = [...offered].toSorted()
      return abilities.map((ability) => ability.split('/')[0]).join('-')
    },
    accessOf,
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
function hostOf({ definitions, context }: TenantOptions): { env: Environment; home: string; workspaceFolder: string } {
  const { env, home, cwd } = context
  return { env: mergedEnvironment<string | undefined>([env, definitions.env ?? {}]), home, workspaceFolder: cwd }
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

// Decides which servers each user reaches: the shared servers over shared connections, or a set of the user's own if
// they have servers, variables or sign-ins of their own. Processes of such a set get the user's variables and start
// when the user's code first needs them.
import type { ClientContext } from '../config/settings/client-context.ts'
import { PermissionFiles } from '../config/permission-files.ts'
import { shellWord } from '../config/secrets/command-line.ts'
import type { DiscoveredServers } from '../config/entries/server-definition.ts'
import type { Settings } from '../config/settings/settings.ts'
import { UserDefinitions } from '../config/user-definitions.ts'
import type { EventStream } from '../observe/events/event-stream.ts'
import type { Log } from '../util/log.ts'
import type { AnswerPage } from '../calls/permissions/answer-page.ts'
import type { Questions } from '../calls/questions/questions.ts'
import type { Stores } from '../keep/store.ts'
import { userFolder } from '../keep/user-folder.ts'
import type { SignInPage } from '../upstream/oauth-part.ts'
import type { Upstreams } from '../upstream/upstream.ts'
import type { ConnectOptions } from './connect-servers.ts'
import { ServerSet, type ServerSetOptions } from './server-set.ts'
import { openSharedCatalog } from './open-shared-catalog.ts'

/** The longest user name shown in a hint. */
const MAX_NAME_CHARS = 200

interface UserServersOptions {
  settings: Settings
  context: ClientContext
  log: Log
  stores: Stores
  events: EventStream
  questions: Questions
  shared: ServerSet
  /** The port of this bridge's HTTP server, if it has one. */
  ownPort: number | undefined
  signInPage: SignInPage | undefined
  page: () => Promise<AnswerPage | undefined>
  startProgram: ConnectOptions['startProgram']
  onGone: ServerSetOptions['onGone']
}

interface OwnServers {
  definitions: UserDefinitions
  /** Serialises the work: two concurrent cells of a user must not create two sets. */
  working: Promise<unknown>
  /** The definitions at the last read. */
  discovered?: DiscoveredServers | undefined
  /** Set once the user first has something of their own. */
  set?: ServerSet
}

export class UserServers {
  readonly #options: UserServersOptions
  readonly #own = new Map<string, OwnServers>()

  constructor(options: UserServersOptions) {
    this.#options = options
  }

  /**
   * Returns the servers that a user reaches according to the current config files.
   * @param user missing: the owner of the bridge
   * @throws BridgeError CONFIG_INVALID while the rules contain a mistake
   */
  async of(user: string | undefined): Promise<ServerSet> {
    const { shared } = this.#options
    await shared.configured.refresh()
    return user === undefined ? shared : this.#oneByOne(user, false)
  }

  /** Returns a set of the user's own, even if the user has nothing of their own yet. */
  async own(user: string): Promise<ServerSet> {
    await this.#options.shared.configured.refresh()
    return this.#oneByOne(user, true)
  }

  /** The upstreams of the shared servers, and of all users' own servers. */
  *allUpstreams(): Iterable<Upstreams> {
    yield this.#options.shared.connected.upstreams
    for (const { set } of this.#own.values()) if (set) yield set.connected.upstreams
  }

  #oneByOne(user: string, always: boolean): Promise<ServerSet> {
    const own = this.#own.get(user) ?? { definitions: this.#definitionsOf(user), working: Promise.resolve() }
    this.#own.set(user, own)
    const found = own.working.then(() => this.#find(user, own, always))
    own.working = found.catch(() => {})
    return found
  }

  async close(): Promise<void> {
    const all = [...this.#own.values()]
    await Promise.all(all.map(({ working }) => working))
    await Promise.allSettled(all.flatMap(({ set }) => set?.close() ?? []))
  }

  async #find(user: string, own: OwnServers, always: boolean): Promise<ServerSet> {
    if (own.set) {
      await own.set.configured.refresh()
      return own.set
    }
    own.discovered = (await own.definitions.readAgain()) ?? own.discovered
    if (own.discovered && (own.definitions.hasOwn || always))
      own.set = await this.#open(user, own.definitions, own.discovered)
    return own.set ?? this.#options.shared
  }

  #definitionsOf(user: string): UserDefinitions {
    const { settings, context, shared, ownPort } = this.#options
    return new UserDefinitions({
      settings,
      context,
      folder: userFolder(settings.stateDir, user),
      shared: () => shared.configured.discovered,
      ownPort,
    })
  }

  async #open(user: string, definitions: UserDefinitions, discovered: DiscoveredServers): Promise<ServerSet> {
    const { settings, context, log, stores, events, questions, page, signInPage, startProgram, onGone } = this.#options
    const files = new PermissionFiles(settings, context.cwd, (message) => log.warning(message))
    const cacheDir = userFolder(settings.cacheDir, user)
    return new ServerSet({
      settings,
      context,
      log,
      stores,
      sharedCatalog: await openSharedCatalog(stores, user, discovered.servers, cacheDir, log),
      events,
      questions,
      page,
      signInPlace: { page: signInPage, loginOptions: ` --user ${shellWord(user, MAX_NAME_CHARS)}` },
      startProgram,
      onGone,
      ask: undefined,
      definitions,
      discovered,
      files,
      policy: await files.read(discovered.found),
      user,
      folders: { stateDir: userFolder(settings.stateDir, user), cacheDir },
      env: () => definitions.env,
    })
  }
}

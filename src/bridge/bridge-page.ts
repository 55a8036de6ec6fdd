// The page of a bridge: when it is served, and whose servers it shows. A resident has none of its own, so that its page
// shows those of one of its clients.
import type { AnswerPage } from '../calls/permissions/answer-page.ts'
import type { Log } from '../util/log.ts'
import type { ClientServers } from './client-servers.ts'
import type { Clients } from './clients.ts'
import type { ServerSet } from './server-set.ts'

interface PageOptions {
  log: Log
  clients: Clients
  /** The bridge's own servers. */
  shared: ServerSet
  /** Starts serving the page. Missing: no page. */
  serve: (() => Promise<void>) | undefined
}

export class BridgePage {
  /** Where the user answers questions about calls, while it is served. */
  service: AnswerPage | undefined
  readonly #options: PageOptions
  #client: ClientServers | undefined
  #served: Promise<void> | undefined

  constructor(options: PageOptions) {
    this.#options = options
  }

  /** Returns the page, and starts serving it if needed. */
  async open(): Promise<AnswerPage | undefined> {
    const { log, serve } = this.#options
    this.#served ??= this.service ? undefined : serve?.()
    await this.#served?.catch((error: unknown) => log.warning('The page cannot be served', { error }))
    return this.service
  }

  /** Whose servers it shows and uses. Undefined: the bridge's own. */
  get client(): ClientServers | undefined {
    return this.#client
  }

  /** @throws BridgeError CONFIG_INVALID while the rules of that client contain a mistake */
  async servers(): Promise<ServerSet> {
    return this.#client ? this.#client.now() : this.#options.shared
  }

  /** In a resident bridge: shows and uses the servers of this client from now on. */
  async showServersOf(client: ClientServers): Promise<void> {
    const before = this.#client
    this.#client = client
    await before?.close()
  }

  /** In a resident bridge: the folders of its clients, and the one whose servers it shows. */
  get folders(): { folder: string | undefined; folders: string[] } {
    const folders = new Set(this.#options.clients.contexts().map(({ cwd }) => cwd))
    return { folder: this.#client?.context.cwd, folders: [...folders].toSorted() }
  }

  /** Shows and uses the servers of a client in this folder. @returns whether one is there */
  async showFolder(folder: string): Promise<boolean> {
    const { clients, log } = this.#options
    const context = clients.contextIn(folder)
    if (context) await this.showServersOf(clients.connect(context, log))
    return context !== undefined
  }

  async close(): Promise<void> {
    await this.#served?.catch(() => {})
    this.service?.close()
  }
}

// The clients of a resident bridge: the servers of each, and the upstreams that they have in common.
import { Definitions } from '../config/definitions.ts'
import type { ClientContext } from '../config/settings/client-context.ts'
import { SharedUpstreams } from '../upstream/shared-upstreams.ts'
import type { Upstreams } from '../upstream/upstream.ts'
import type { Log } from '../util/log.ts'
import { ClientServers, type ClientServersOptions } from './client-servers.ts'

type Given =
  | 'context'
  | 'definitions'
  | 'onClosed'
  | 'upstreamLog'
  | 'sharedUpstreams'
  | 'hiddenToo'
  | 'onBehindKept'
  | 'ask'

/** What only some clients bring. */
export type OfClient = Partial<Pick<ClientServersOptions, 'onBehindKept' | 'ask'>>

export class Clients {
  readonly #all = new Set<ClientServers>()
  readonly #shared = new SharedUpstreams()
  /** Of the client that has gone last. The next one of the same place, as a command of the same shell, takes it. */
  #left: { of: string; definitions: Definitions } | undefined
  readonly #common: Omit<ClientServersOptions, Given>

  /** @param common what is the same for all clients; `log` is that of the bridge */
  constructor(common: Omit<ClientServersOptions, Given>) {
    this.#common = common
  }

  /** The servers of one client, for as long as it is connected: see `Bridge.connect`. */
  connect(context: ClientContext, log: Log, { onBehindKept, ask }: OfClient = {}): ClientServers {
    const of = JSON.stringify(context)
    const known = this.#left?.of === of ? this.#left.definitions : undefined
    // One that is in use tells its user alone of a change.
    if (known) this.#left = undefined
    const definitions = known ?? new Definitions(this.#common.settings, context)
    const servers = new ClientServers({
      ...this.#common,
      definitions,
      context,
      log,
      upstreamLog: this.#common.log,
      sharedUpstreams: this.#shared,
      hiddenToo: () =>
        [...this.#all].flatMap(({ opened }) => opened?.configured.discovered.files.map(({ file }) => file) ?? []),
      onBehindKept,
      ask,
      onClose: async (closing) => {
        this.#all.delete(closing)
        await this.#common.onClose(closing)
      },
      onClosed: () => (this.#left = { of, definitions }),
    })
    this.#all.add(servers)
    return servers
  }

  /** What a client of this folder brings; of several, that of the newest. */
  contextIn(folder: string): ClientContext | undefined {
    return this.contexts().findLast(({ cwd }) => cwd === folder)
  }

  contexts(): ClientContext[] {
    return Array.from(this.#all, ({ context }) => context)
  }

  *upstreams(): Iterable<Upstreams> {
    for (const { opened } of this.#all) if (opened) yield opened.connected.upstreams
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#all].map((servers) => servers.close()))
    await this.#shared.close()
  }
}

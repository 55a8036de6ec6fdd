// The upstreams of one set of servers by name, and the limit on processes. ManagedUpstream is one of them.
import { setMaxListeners } from 'node:events'
import { isSameDefinition } from '../config/merge-definitions.ts'
import type { ServerDefinition } from '../config/entries/server-definition.ts'
import { type Redactor, redactStart } from '../config/secrets/redact.ts'
import { BridgeError } from '../errors.ts'
import { NO_EVENTS } from '../observe/events/event-stream.ts'
import type { Abortable } from '../util/async/cancellation.ts'
import { mapTexts } from '../util/json/json.ts'
import type { Connection } from './connection/connection.ts'
import { ManagedUpstream, type Tell } from './lifecycle/managed-upstream.ts'
import type { Reached, UpstreamPlace } from './lifecycle/upstream-place.ts'
import { complete, getPrompt, listPrompts, listResources, readResource } from './listing/offerings.ts'
import type { SharedUpstreams } from './shared-upstreams.ts'
import type {
  CallOptions,
  GottenPrompt,
  Meta,
  OnCut,
  ReadResource,
  SignInOptions,
  ToolResult,
  UpstreamListener,
  UpstreamPrompt,
  UpstreamResource,
  UpstreamTool,
} from './upstream.ts'
import { SignIns } from './auth/sign-ins.ts'
import type { TokenStore } from './auth/sign-in-store.ts'

const MAX_PROCESSES = 100

/** Where jails of servers are made. */
export type UpstreamJail = NonNullable<UpstreamPlace['jail']>

type GivenPlace = Omit<UpstreamPlace, 'signIns'>

const DEFAULTS = {
  reached: inMemory(),
  events: NO_EVENTS,
  startTimeoutMs: 30_000,
  idleMs: 0,
  resolveTransport: ({ transport }: ServerDefinition) => transport,
  requests: () => ({}),
  allowLinkLocal: false,
  allowSelf: false,
  now: () => performance.now(),
  random: Math.random,
} satisfies Partial<GivenPlace>

function inMemory(): UpstreamPlace['reached'] {
  const known = new WeakMap<ServerDefinition, Reached>()
  return { of: (definition) => known.get(definition), keep: (definition, reached) => known.set(definition, reached) }
}

export interface UpstreamsOptions
  extends Omit<GivenPlace, keyof typeof DEFAULTS>, Partial<Pick<GivenPlace, keyof typeof DEFAULTS>> {
  /** Names are unique. */
  definitions: readonly ServerDefinition[]
  /** Upstreams that other sets use, too, and the key of one; an upstream without a key is this set's alone. */
  shared?: { upstreams: SharedUpstreams; keyOf: (definition: ServerDefinition) => string | undefined } | undefined
  /** Maximum number of processes. Beyond it, the least recently used idle server is stopped. */
  maxProcesses?: number
  /** Where sign-ins store tokens for remote servers. Missing means no sign-ins. */
  tokenStore?: TokenStore
}

/** All configured upstreams. Each starts on first use, is shared by all sessions, and restarts after an exit. */
export class UpstreamSet {
  readonly #place: UpstreamPlace
  readonly #shared: UpstreamsOptions['shared']
  readonly #maxProcesses: number
  readonly #signIns: SignIns
  readonly #upstreams = new Map<string, ManagedUpstream>()
  /** How this set uses each upstream that is shared. */
  readonly #uses = new Map<ManagedUpstream, { key: string; tell: Tell }>()
  readonly #retiring = new Set<ManagedUpstream>()
  readonly #listeners: UpstreamListener[] = []
  definitions: readonly ServerDefinition[] = []

  /** Starts nothing by itself. */
  constructor({ definitions, shared, maxProcesses = MAX_PROCESSES, ...given }: UpstreamsOptions) {
    const options = { ...DEFAULTS, ...given }
    this.#shared = shared
    this.#maxProcesses = maxProcesses
    this.#signIns = new SignIns(options)
    this.#place = { ...options, signIns: this.#signIns }
    this.redefine(definitions)
  }

  /** Applies a new list. Unchanged servers keep running; the others are stopped when their open calls have ended. */
  redefine(wanted: readonly ServerDefinition[]): void {
    const before = new Map(this.#upstreams)
    this.definitions = wanted
    this.#upstreams.clear()
    for (const definition of wanted) {
      const known = before.get(definition.name)
      const stays = known !== undefined && isSameDefinition(known.definition, definition)
      this.#upstreams.set(definition.name, stays ? known : this.#manage(definition))
      if (stays) before.delete(definition.name)
    }
    for (const upstream of before.values()) {
      if (this.#leave(upstream, true)) continue
      this.#retiring.add(upstream)
      void upstream.retire().finally(() => this.#retiring.delete(upstream))
    }
  }

  /** One of them, with what is known of it. @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name */
  of(server: string): ManagedUpstream {
    const upstream = this.#upstreams.get(server)
    if (upstream) return upstream
    throw new BridgeError('PROXY_SERVER_UNAVAILABLE', `Unknown server '${server}'`)
  }

  /** Starts a server that does not run. @throws BridgeError UPSTREAM_* */
  async start(server: string, signal?: AbortSignal): Promise<void> {
    await this.#use(server, signal, () => Promise.resolve())
  }

  /**
   * Lists a server's tools, starting it if necessary; answered from memory until the server announces a change.
   * @param again asks the server in any case: some announce no change
   * @throws BridgeError UPSTREAM_*
   */
  async listTools(server: string, signal?: AbortSignal, again?: boolean): Promise<UpstreamTool[]> {
    return this.#find(server, signal).listTools(signal, again)
  }

  /** @throws BridgeError UPSTREAM_* or CANCELLED. A result with `isError` is returned. */
  callTool(
    server: string,
    tool: string,
    args: Record<string, unknown>,
    options: CallOptions = {},
  ): Promise<ToolResult> {
    let upstream: ManagedUpstream
    try {
      upstream = this.#find(server, options.signal)
    } catch (error) {
      return Promise.reject(error)
    }
    const { turns } = upstream
    const call = (): Promise<ToolResult> =>
      upstream.use(
        options.signal,
        (connection, inTime) => connection.callTool(tool, args, inTime ? { ...options, signal: inTime } : options),
        { tool, onProgress: options.onProgress },
      )
    const called = turns ? turns.run(options.signal, call) : call()
    return called.then((result) => {
      if (!upstream.isProcess) this.#signIns.succeeded(server)
      return result.isError === true ? withoutSecrets(result, (text) => upstream.reports.redact(text)) : result
    })
  }

  /**
   * Resources and templates of a server, requested each time; empty without that capability.
   * @param onCut called when the server lists too many
   * @throws BridgeError UPSTREAM_* or TOOL_FAILED
   */
  listResources(server: string, signal?: AbortSignal, onCut?: OnCut): Promise<UpstreamResource[]> {
    return this.#use(server, signal, (connection) => listResources(connection, signal, this.#loggedCut(server, onCut)))
  }

  /** @throws BridgeError UPSTREAM_*, TOOL_FAILED with the server's reason, PROXY_TOOL_UNKNOWN without resources */
  readResource(server: string, uri: string, signal?: AbortSignal, meta?: Meta): Promise<ReadResource> {
    return this.#use(server, signal, (connection) => readResource(connection, uri, signal, meta))
  }

  listPrompts(server: string, signal?: AbortSignal, onCut?: OnCut): Promise<UpstreamPrompt[]> {
    return this.#use(server, signal, (connection) => listPrompts(connection, signal, this.#loggedCut(server, onCut)))
  }

  getPrompt(
    server: string,
    prompt: { name: string; arguments: Record<string, string> },
    signal?: AbortSignal,
    meta?: Meta,
  ): Promise<GottenPrompt> {
    return this.#use(server, signal, (connection) => getPrompt(connection, prompt, signal, meta))
  }

  /**
   * Values that the server offers for a text that is being written; none from a server without completions.
   * @param asked the params of `completion/complete`
   * @throws BridgeError UPSTREAM_* or TOOL_FAILED
   */
  complete(server: string, asked: Record<string, unknown>, signal?: AbortSignal, meta?: Meta): Promise<string[]> {
    return this.#use(server, signal, (connection) => complete(connection, asked, signal, meta))
  }

  /** Whether `signIn` helps when the server requires authentication; false if its entry has the credentials. */
  canSignIn(server: string): boolean {
    return this.#signIns.canSignIn(this.of(server).definition)
  }

  /** @throws BridgeError as `login` does, or what `showPage` throws */
  async signIn(server: string, options: SignInOptions): Promise<void> {
    const transport = await this.#place.resolveTransport(this.of(server).definition)
    if (transport.type !== 'stdio') await this.#signIns.signIn(server, transport, options)
  }

  /** Resolves when the server says that the user has finished on a page, after a timeout, or on abort. */
  async pageFinished(server: string, id: string, signal: AbortSignal): Promise<void> {
    await this.of(server).reports.finishedPages.wait(id, signal)
  }

  /** Tells the listener what happens to any server from now on. */
  listen(listener: UpstreamListener): void {
    this.#listeners.push(listener)
  }

  /** Stops every upstream with its whole process group. */
  async close(): Promise<void> {
    const own = [...this.#upstreams.values()].filter((upstream) => !this.#leave(upstream, false))
    await Promise.all([...own, ...this.#retiring].map((upstream) => upstream.close()))
  }

  #loggedCut(server: string, onCut: OnCut | undefined): OnCut {
    return (what) => {
      this.#place.log.warning(`Truncated a list of ${what} that is too long`, { server })
      onCut?.(what)
    }
  }

  #find(server: string, signal?: Abortable): ManagedUpstream {
    // Hundreds of calls may share a signal; Node would warn of a leak.
    if (signal instanceof AbortSignal) setMaxListeners(0, signal)
    return this.of(server)
  }

  async #use<T>(
    server: string,
    signal: AbortSignal | undefined,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    return this.#find(server, signal).use(signal, work)
  }

  /** Makes the upstream of a definition, or joins the sets that share it. */
  #manage(definition: ServerDefinition): ManagedUpstream {
    const { name } = definition
    let managed: ManagedUpstream | undefined
    // An upstream that is being retired says nothing of the one that has its name now.
    const tell: Tell = (say) => {
      if (this.#upstreams.get(name) === managed) for (const listener of this.#listeners) say(listener, name)
    }
    const create = (toAll: Tell): ManagedUpstream =>
      new ManagedUpstream(definition, this.#place, toAll, (newcomer) => this.#makeRoom(newcomer))
    const shared = this.#shared
    const key = shared?.keyOf(definition)
    if (!shared || key === undefined) {
      managed = create(tell)
      shared?.upstreams.enterAlone(managed, this)
      return managed
    }
    managed = shared.upstreams.enter(key, this, tell, create)
    this.#uses.set(managed, { key, tell })
    return managed
  }

  /** @returns false for an upstream that is not shared: its end is up to the caller */
  #leave(upstream: ManagedUpstream, isGone: boolean): boolean {
    const use = this.#uses.get(upstream)
    if (!use) {
      this.#shared?.upstreams.leaveAlone(upstream)
      return false
    }
    this.#uses.delete(upstream)
    this.#shared?.upstreams.leave(use.key, use.tell, isGone)
    return true
  }

  /** The limit on processes holds for all sets together. */
  async #makeRoom(newcomer: ManagedUpstream): Promise<void> {
    const own = new Set([this])
    const all = new Map<ManagedUpstream, ReadonlySet<object>>(
      this.#shared?.upstreams.all() ?? [...this.#upstreams.values()].map((one) => [one, own]),
    )
    const newcomers = all.get(newcomer) ?? own
    const processes = [...all].filter(
      ([{ isProcess, state }]) => isProcess && (state === 'running' || state === 'starting' || state === 'installing'),
    )
    const others = new Map(processes.filter(([one]) => one !== newcomer))
    if (others.size < this.#maxProcesses) return
    const ending = whoMakesRoom(others, newcomers)
    if (ending) return ending.stop()
    const text = `Server '${newcomer.definition.name}' was not started: ${this.#maxProcesses} servers are running, and all of them are in use`
    throw new BridgeError('UPSTREAM_UNREACHABLE', text, { hint: 'Retry when some calls have finished.' })
  }
}

export type Upstreams = Pick<UpstreamSet, keyof UpstreamSet>

/** The longest texts of a failed call, together. Searching them for secrets takes long. */
const MAX_FAILURE_CHARS = 1_000_000
/** A text of this length always stays, such as a type. */
const SHORT_CHARS = 100

/** The words of a failed call, without what a server quotes of its key or token. */
function withoutSecrets(result: ToolResult, redact: Redactor): ToolResult {
  let isChanged = false
  let left = MAX_FAILURE_CHARS
  const clean = mapTexts(result, (text) => {
    const room = Math.max(left, SHORT_CHARS)
    const shown = text.length <= room ? redact(text) : `${redactStart(redact, text, room)}…`
    left -= text.length
    isChanged ||= shown !== text
    return shown
  })
  // The one that is as it was keeps the JSON that it came as.
  return isChanged ? (clean as ToolResult) : result
}

interface Occupant {
  isIdle: boolean
  lastUsed: number
}

/**
 * Of `processes`, an idle one that nobody uses, or one of the sets that use more than the newcomer: nobody can have a
 * server ended that another set uses, by starting many of its own.
 */
export function whoMakesRoom<One extends Occupant>(
  processes: ReadonlyMap<One, ReadonlySet<object>>,
  newcomers: ReadonlySet<object>,
): One | undefined {
  const counts = new Map<object, number>()
  for (const users of processes.values()) for (const user of users) counts.set(user, (counts.get(user) ?? 0) + 1)
  const countOf = (user: object): number => counts.get(user) ?? 0
  const own = Math.min(...[...newcomers].map(countOf))
  const mayEnd = (user: object): boolean => newcomers.has(user) || countOf(user) > own + 1
  const most = (users: ReadonlySet<object>): number => Math.max(...[...users].map(countOf))
  const [first] = [...processes]
    .filter(([{ isIdle }, users]) => isIdle && [...users].every(mayEnd))
    .toSorted(([a, ofA], [b, ofB]) => {
      if (ofA.size === 0 || ofB.size === 0) return ofA.size - ofB.size || a.lastUsed - b.lastUsed
      return most(ofB) - most(ofA) || a.lastUsed - b.lastUsed
    })
  return first?.[0]
}

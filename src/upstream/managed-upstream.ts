// One configured upstream over its whole life: started on first need, shared, its tool list kept, started again on the next use after it died.
import type { Implementation } from '@modelcontextprotocol/client'
import type { ServerDefinition } from '../config/server-definition.ts'
import { BridgeError } from '../errors.ts'
import type { Log, LogLevel } from '../log.ts'
import { handshake, type Connection, type Era } from './connection.ts'
import { startFailure, type Circumstances } from './failures.ts'
import { createRedactor, type Redactor } from './redact.ts'
import { loadSdk } from './sdk.ts'
import { StdioTransport } from './stdio-transport.ts'
import type { CallOptions, ToolResult, UpstreamState, UpstreamTool } from './upstream.ts'

/** Changes come in bursts, and some servers announce one with every listing: the list is read again once they pause. */
const RELIST_DELAY_MS = 200

export interface ManagedUpstreamOptions {
  clientInfo: Implementation
  startTimeoutMs: number
  /** Where a server without a `cwd` of its own is started. */
  cwd?: string
  log: Log
  onTools: (tools: UpstreamTool[], instructions: string | undefined) => void
}

export class ManagedUpstream {
  readonly definition: ServerDefinition
  readonly #options: ManagedUpstreamOptions
  readonly #redact: Redactor
  readonly #shutdown = new AbortController()
  #connection: Connection | undefined
  #starting: Promise<Connection> | undefined
  #closing: Promise<void> | undefined
  #failed = false
  #era: Era = 'legacy'
  #instructions: string | undefined
  #tools: UpstreamTool[] | undefined
  #listing: Promise<UpstreamTool[]> | undefined
  #listVersion = 0
  #relistTimer: NodeJS.Timeout | undefined

  constructor(definition: ServerDefinition, options: ManagedUpstreamOptions) {
    this.definition = definition
    this.#options = options
    this.#redact = createRedactor(definition)
  }

  get state(): UpstreamState {
    if (this.#connection) return 'running'
    if (this.#starting) return 'starting'
    return this.#failed ? 'failed' : 'not-started'
  }

  get instructions(): string | undefined {
    return this.#instructions
  }

  async callTool(tool: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<ToolResult> {
    const connection = this.#connection ?? (await this.#connect(options.signal))
    return connection.callTool(tool, args, options)
  }

  /** Concurrent callers share one listing, so one of them giving up does not end it. */
  async listTools(signal?: AbortSignal): Promise<UpstreamTool[]> {
    const connection = this.#connection ?? (await this.#connect(signal))
    if (this.#tools) return this.#tools
    this.#listing ??= this.#list(connection).finally(() => (this.#listing = undefined))
    return unlessAborted(this.#listing, signal, this.definition.name)
  }

  /** Ends it for good. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    clearTimeout(this.#relistTimer)
    this.#shutdown.abort(new Error('the bridge is ending'))
    await Promise.allSettled([this.#connection?.close(), this.#starting])
  }

  async #connect(signal: AbortSignal | undefined): Promise<Connection> {
    if (this.#shutdown.signal.aborted)
      throw new BridgeError('SHUTTING_DOWN', 'The bridge is ending, and its servers with it')
    if (signal?.aborted) throw cancelled(this.definition.name)
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined))
    return unlessAborted(this.#starting, signal, this.definition.name)
  }

  async #start(): Promise<Connection> {
    try {
      const connection = await this.#openInItsEra()
      this.#instructions = textOrNothing(connection.instructions)
      this.#failed = false
      this.#tools = undefined
      this.#log('info', 'A server was started', { era: this.#era })
      return connection
    } catch (error) {
      this.#failed = true
      throw error
    }
  }

  /** Nearly all servers still know the legacy era, and asking costs those that do nothing; a server that refuses it is remembered. */
  async #openInItsEra(): Promise<Connection> {
    try {
      return await this.#open(this.#era)
    } catch (error) {
      if (this.#shutdown.signal.aborted || !isRefusal(error)) throw error
      const other: Era = this.#era === 'legacy' ? 'modern' : 'legacy'
      // The first refusal says more than that of an era the server may never have heard of.
      const connection = await this.#open(other).catch(() => Promise.reject(error))
      this.#era = other
      return connection
    }
  }

  async #open(era: Era): Promise<Connection> {
    const { transport: server, name } = this.definition
    if (server.type !== 'stdio') {
      throw new BridgeError('UPSTREAM_UNREACHABLE', `Server '${name}' is remote, and remote servers cannot be reached`)
    }
    const transport = new StdioTransport(server, this.#options.cwd)
    const about = (): Circumstances => ({
      server: name,
      redact: this.#redact,
      exit: transport.exit,
      lastWords: transport.lastWords(),
    })
    const timeoutMs = this.#options.startTimeoutMs
    try {
      const sdk = await loadSdk()
      this.#shutdown.signal.throwIfAborted()
      const connection = await handshake({
        sdk,
        transport,
        era,
        clientInfo: this.#options.clientInfo,
        timeoutMs,
        signal: this.#shutdown.signal,
        about,
        onToolsChanged: () => this.#toolsChanged(),
        onClose: () => this.#lost(connection, about()),
        onError: (message) =>
          this.#log('debug', 'Trouble with a server', { detail: this.#redact(message.slice(0, 2000)) }),
      })
      this.#connection = connection
      return connection
    } catch (error) {
      const exitBefore = transport.exit
      await transport.close()
      if (this.#shutdown.signal.aborted) throw new BridgeError('SHUTTING_DOWN', 'The bridge is ending')
      throw startFailure(error, { ...about(), exit: exitBefore }, timeoutMs)
    }
  }

  #lost(connection: Connection, about: Circumstances): void {
    if (this.#connection !== connection) return
    this.#connection = undefined
    this.#tools = undefined
    clearTimeout(this.#relistTimer)
    if (this.#shutdown.signal.aborted) return
    this.#failed = true
    this.#log('warning', 'A server ended by itself; it is started again on its next use', { ...about.exit })
  }

  async #list(connection: Connection): Promise<UpstreamTool[]> {
    const version = this.#listVersion
    const { tools, skippedCount } = await connection.listTools(this.#shutdown.signal)
    if (skippedCount > 0) this.#log('warning', 'Tools without a name, or named twice, were left out', { skippedCount })
    // A change announced meanwhile makes this list an old one: good enough to answer with, not to keep.
    if (version === this.#listVersion && connection === this.#connection) this.#tools = tools
    this.#options.onTools(tools, this.#instructions)
    return tools
  }

  #toolsChanged(): void {
    this.#listVersion += 1
    this.#tools = undefined
    clearTimeout(this.#relistTimer)
    this.#relistTimer = setTimeout(() => {
      if (!this.#connection || this.#shutdown.signal.aborted) return
      this.listTools().catch((error: Error) => this.#log('warning', 'A changed tool list could not be read', { error }))
    }, RELIST_DELAY_MS).unref()
  }

  #log(level: LogLevel, message: string, fields: Record<string, unknown> = {}): void {
    this.#options.log[level](message, { server: this.definition.name, ...fields })
  }
}

/** True when the server is alive and answered that it does not speak this era. */
function isRefusal(error: unknown): boolean {
  return BridgeError.isInstance(error) && (error.data as { refused?: boolean } | undefined)?.refused === true
}

function cancelled(server: string): BridgeError {
  return new BridgeError('CANCELLED', `The work on server '${server}' was cancelled`)
}

/** Waits for something that others wait for, too: an abort ends the waiting, not the work. */
function unlessAborted<T>(shared: Promise<T>, signal: AbortSignal | undefined, server: string): Promise<T> {
  if (!signal) return shared
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(cancelled(server))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    shared.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

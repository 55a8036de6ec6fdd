// One live connection to an upstream: its handshake, its requests, its end. It starts nothing again and remembers nothing; ManagedUpstream does.
import type { Client, Implementation, RequestOptions, Transport } from '@modelcontextprotocol/client'
import { BridgeError } from '../errors.ts'
import { callFailure, type Circumstances } from './failures.ts'
import { routeProgress, type ProgressRoutes } from './progress.ts'
import { keepRawResults } from './raw-results.ts'
import { looseResult, MODERN_REVISION, NO_TIMEOUT_MS, type LooseResult, type Sdk } from './sdk.ts'
import { readToolList, type ToolList } from './tool-list.ts'
import type { CallOptions, ToolResult } from './upstream.ts'

/** How long one page of a tool list may take. */
const LIST_TIMEOUT_MS = 60_000

/** `legacy` opens with `initialize` (revisions to 2025-11-25), `modern` with `server/discover` (from 2026-07-28). */
export type Era = 'legacy' | 'modern'

export interface HandshakeOptions {
  sdk: Sdk
  transport: Transport
  era: Era
  clientInfo: Implementation
  timeoutMs: number
  signal: AbortSignal
  /** What is known about the other side at the moment of asking, for errors. */
  about: () => Circumstances
  onToolsChanged: () => void
  /** Called once, before the requests in flight fail. Not called when the handshake fails. */
  onClose: () => void
  onError: (message: string) => void
}

/**
 * Connects in the given era. On failure the transport has been told to close.
 * @throws whatever the MCP client package throws; see `startFailure`.
 */
export async function handshake(options: HandshakeOptions): Promise<Connection> {
  const { sdk, transport, era } = options
  const modern = era === 'modern'
  if (modern) keepRawResults(transport)
  const progress = routeProgress(transport)
  const client = new sdk.Client(options.clientInfo, {
    versionNegotiation: { mode: modern ? { pin: MODERN_REVISION } : 'legacy' },
  })
  client.onerror = (error) => options.onError(error.message)
  client.removeNotificationHandler('notifications/progress')
  client.setNotificationHandler('notifications/tools/list_changed', options.onToolsChanged)
  await client.connect(transport, { timeout: options.timeoutMs, signal: options.signal })
  client.onclose = options.onClose
  // It may have closed between the last answer and the line above; then nothing would ever say so.
  if (client.transport === undefined) throw new sdk.SdkError(sdk.SdkErrorCode.ConnectionClosed, 'Connection closed')
  const connection = new Connection(client, progress, options.about)
  if (modern) connection.subscribe(options.onError)
  return connection
}

export class Connection {
  readonly #client: Client
  readonly #progress: ProgressRoutes
  readonly #about: () => Circumstances

  constructor(client: Client, progress: ProgressRoutes, about: () => Circumstances) {
    this.#client = client
    this.#progress = progress
    this.#about = about
  }

  get instructions(): string | undefined {
    return this.#client.getInstructions()
  }

  /** @throws BridgeError */
  async callTool(tool: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<ToolResult> {
    const what = `the call of '${tool}'`
    const route = options.onProgress && this.#progress.add(options.onProgress)
    const params = { name: tool, arguments: args, ...(route && { _meta: { progressToken: route.token } }) }
    try {
      return await this.#request('tools/call', params, what, { timeout: NO_TIMEOUT_MS }, options.signal, tool)
    } finally {
      route?.remove()
    }
  }

  /** @throws BridgeError */
  async listTools(signal?: AbortSignal): Promise<ToolList> {
    const about = this.#about()
    return readToolList(about.server, (cursor) => {
      const params = cursor === undefined ? {} : { cursor }
      return this.#request('tools/list', params, 'the listing of its tools', { timeout: LIST_TIMEOUT_MS }, signal)
    })
  }

  /** Servers of the modern era announce changes only to those who asked. A server that will not is left alone. */
  subscribe(onError: (message: string) => void): void {
    if (!this.#client.getServerCapabilities()?.tools?.listChanged) return
    this.#client.listen({ toolsListChanged: true }).catch((error: Error) => onError(error.message))
  }

  /** Never rejects. Resolves when nothing of the other side is left that we started. */
  async close(): Promise<void> {
    await this.#client.close().catch(() => {})
  }

  async #request(
    method: string,
    params: Record<string, unknown>,
    what: string,
    options: RequestOptions,
    signal?: AbortSignal,
    tool?: string,
  ): Promise<LooseResult> {
    if (signal) options.signal = signal
    try {
      return await this.#client.request({ method, params }, looseResult, options)
    } catch (error) {
      const about = this.#about()
      if (signal?.aborted) throw new BridgeError('CANCELLED', `${what} on server '${about.server}' was cancelled`)
      throw callFailure(error, what, about, tool)
    }
  }
}

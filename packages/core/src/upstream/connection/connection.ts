// One live connection to an upstream: its requests and its end. ManagedUpstream keeps state between them.
import type { Client, ServerCapabilities } from '@modelcontextprotocol/client'
import { BridgeError, messageOf } from '../../errors.ts'
import { type Abortable, signalOf } from '../../util/async/cancellation.ts'
import type { Link } from '../dial.ts'
import type { Failure } from '../failures/circumstances.ts'
import { isTimeout, quotedTail, requestFailure } from '../failures/failures.ts'
import { namesSession, statusOf } from '../failures/refusals.ts'
import type { Attempt } from '../lifecycle/attempt.ts'
import type { ProgressRoutes } from './progress.ts'
import { NO_TIMEOUT_MS, type LooseResult } from './sdk.ts'
import type { UpstreamRequests } from './requests.ts'
import type { ListingCleaner } from '../../config/secrets/listing-words.ts'
import { readToolList, type ToolList } from '../listing/tool-list.ts'
import type { CallOptions, ToolResult, UpstreamTool } from '../upstream.ts'
import { hidesWords } from '../../util/text/server-words.ts'
import type { DirectCalls } from './legacy/direct-calls.ts'
import { legacy } from './legacy/legacy.ts'
import { modern } from './modern/modern.ts'
import { request as send, requestOptions, type Revision } from './revision.ts'

/** Of a page of a list, where the server's definition sets no limit: well below that of a cell. */
const LIST_TIMEOUT_MS = 15_000
const PING_TIMEOUT_MS = 10_000
/** Of a ping after a call without an answer. */
const ANSWER_WITHIN_MS = 2_000

export interface ConnectionParts {
  client: Client
  link: Link
  progress: ProgressRoutes
  /** Answers requests of the server while a call continues as a task. */
  requests: UpstreamRequests
  /** A faster path for tool calls, if the transport has one. */
  direct: DirectCalls | undefined
  attempt: Attempt
  /** Cleans what the server lists. */
  cleanListing: ListingCleaner
}

export class Connection {
  readonly #parts: ConnectionParts
  readonly #client: Client
  readonly #revision: Revision
  readonly #failures = new WeakMap<object, Failure>()
  #sessionLost = false
  #sessionCheck: Promise<unknown> | undefined
  /** The server left a call unanswered, and has not answered a ping since. */
  isDoubted = false
  #pinged: Promise<boolean> | undefined
  #openCount = 0
  #onIdle: (() => void) | undefined

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    const { client, direct, link, requests } = parts
    this.#client = client
    this.#revision =
      this.era === 'modern' ? modern(client, this.server, link.via, requests) : legacy(client, this.server, direct)
  }

  get era(): 'legacy' | 'modern' {
    return this.#client.getProtocolEra() ?? 'legacy'
  }

  get protocolVersion(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion()
  }

  get server(): string {
    return this.#parts.attempt.server
  }

  get capabilities(): ServerCapabilities {
    return this.#client.getServerCapabilities() ?? {}
  }

  get instructions(): string | undefined {
    return this.cleaned(this.#client.getInstructions())
  }

  /** Cleans an entry of a server's list, so that it can be kept and shown. */
  cleaned<T>(listed: T): T {
    return this.#parts.cleanListing(listed)
  }

  #cleanedTool(tool: UpstreamTool): UpstreamTool {
    // Check first: cleaning removes the hidden text.
    const words = `${tool.title}${tool.description}${JSON.stringify(tool.inputSchema)}`
    return { ...this.cleaned(tool), ...(hidesWords(words) && { hidesWords: true }) }
  }

  /** Details of an error that one of its requests threw; undefined for an error that says nothing about the server. */
  failureOf(error: unknown): Failure | undefined {
    return typeof error === 'object' && error !== null ? this.#failures.get(error) : undefined
  }

  /**
   * Whether the server no longer knows the session, after such a failure, and whether it certainly did not act on the
   * request. Where the failure leaves that open, another request finds out: it fails alike. Never rejects.
   */
  async sessionAfter({ session, cause }: Failure): Promise<{ isLost: boolean; mayRepeat: boolean }> {
    const isNamed = namesSession(cause)
    const status = statusOf(cause)
    const hasSession = this.#parts.link.via === 'sse' || this.#parts.link.transport.sessionId !== undefined
    let isLost = session === 'lost'
    if (session === 'in doubt' && this.era === 'legacy' && (isNamed || hasSession) && !this.#sessionLost) {
      this.#sessionCheck ??= this.#refusal().finally(() => (this.#sessionCheck = undefined))
      const refusal = await this.#sessionCheck
      const isAlike = isNamed || status !== undefined || messageOf(refusal) === messageOf(cause)
      isLost = refusal !== undefined && statusOf(refusal) === status && namesSession(refusal) === isNamed && isAlike
    }
    // Another request may have found it out meanwhile, and closed the connection.
    isLost ||= session === 'in doubt' && this.#sessionLost
    if (isLost) this.#sessionLost = true
    return { isLost, mayRepeat: isLost && (isNamed || (status !== undefined && status >= 300 && status < 500)) }
  }

  /** How the server refuses a request that any server accepts; undefined when it accepts it or does not answer. */
  async #refusal(): Promise<unknown> {
    try {
      await send(this.#client, 'tools/list', {}, requestOptions(PING_TIMEOUT_MS))
      return undefined
    } catch (error) {
      return isTimeout(error) ? undefined : error
    }
  }

  /** Resolves when no request is in flight. Only one caller may wait at a time. */
  idle(): Promise<void> {
    if (this.#openCount === 0) return Promise.resolve()
    return new Promise((resolve) => (this.#onIdle = resolve))
  }

  /** @throws BridgeError */
  async callTool(name: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<ToolResult> {
    const route = options.onProgress && this.#parts.progress.add(options.onProgress)
    const revision = this.#revision
    const meta = (route || revision.meta || options.meta) && {
      ...options.meta,
      ...revision.meta,
      ...(route && { progressToken: route.token }),
    }
    const params = { name, arguments: args, ...(meta && { _meta: meta }) }
    const request = this.#begin(options.signal, name)
    try {
      let result: LooseResult
      try {
        result = await revision.send(params, options.signal)
      } catch (error) {
        if (!revision.isCalledOtherwise(error, name)) throw error
        await this.listTools(options.signal && signalOf(options.signal))
        result = await revision.send(params, options.signal)
      }
      return revision.awaited ? await revision.awaited(result, options) : result
    } catch (error) {
      throw request.failed(error, `the call of '${name}'`)
    } finally {
      request.end()
      route?.remove()
    }
  }

  /** @throws BridgeError */
  async listTools(signal?: AbortSignal): Promise<ToolList> {
    const list = await this.#guard('the listing of its tools', signal, () =>
      readToolList(
        this.#parts.attempt.server,
        (cursor) => {
          const params = cursor === undefined ? {} : { cursor }
          return send(this.#client, 'tools/list', params, requestOptions(this.#listTimeoutMs, signal))
        },
        this.era,
      ),
    )
    const usable = this.#revision.learn(list)
    const skipped = this.cleaned(usable.skipped)
    return { ...usable, skipped, tools: usable.tools.map((tool) => this.#cleanedTool(tool)) }
  }

  /** Sends any other request. @param what the request in words, for errors. @throws BridgeError */
  ask(what: string, method: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<LooseResult> {
    const options = requestOptions(NO_TIMEOUT_MS, signal)
    return this.#guard(what, signal, () => send(this.#client, method, params, options))
  }

  /** Like `ask`, for one page of a list, with a timeout. @throws BridgeError */
  list(what: string, method: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<LooseResult> {
    const options = requestOptions(this.#listTimeoutMs, signal)
    return this.#guard(what, signal, () => send(this.#client, method, params, options))
  }

  get #listTimeoutMs(): number {
    const { startTimeoutMs = LIST_TIMEOUT_MS, callTimeoutMs = Infinity } = this.#parts.attempt.definition
    return Math.min(startTimeoutMs, callTimeoutMs)
  }

  /** Checks whether the server still responds, where the era has a ping. @throws BridgeError */
  async ping(): Promise<void> {
    if (this.#revision.anyMethod !== 'ping') return
    await this.#guard('a ping', undefined, () => send(this.#client, 'ping', {}, requestOptions(PING_TIMEOUT_MS)))
  }

  /** After a call without an answer: whether the server answers anything. Callers share a ping. Never rejects. */
  answers(): Promise<boolean> {
    this.isDoubted = true
    this.#pinged ??= this.#responds().then((doesAnswer) => {
      this.#pinged = undefined
      this.isDoubted = !doesAnswer
      return doesAnswer
    })
    return this.#pinged
  }

  async #responds(): Promise<boolean> {
    const { pingTimeoutMs = ANSWER_WITHIN_MS } = this.#parts.attempt.place
    try {
      await send(this.#client, this.#revision.anyMethod, {}, requestOptions(pingTimeoutMs))
      return true
    } catch (error) {
      return !isTimeout(error)
    }
  }

  /** Whether the server left its last such ping unanswered. Never rejects. */
  async isDeaf(): Promise<boolean> {
    return this.isDoubted && !(await this.#pinged)
  }

  /** Asks for the server's messages. Never rejects. @param onError told of what was refused later */
  begin(onError: (message: string) => void): Promise<void> {
    return this.#revision.begin(onError)
  }

  /** Never rejects. Requests in flight fail. Resolves when nothing that was started for the connection is left. */
  async close(): Promise<void> {
    const { link } = this.#parts
    if (!this.#sessionLost) await link.terminateSession?.()
    await link.transport.close().catch(() => {})
    await link.release?.()
  }

  /** Later returns what the server wrote and logged from now on, for an error. */
  wordsFromNow(): () => string {
    const { attempt } = this.#parts
    const start = attempt.callStart()
    return () => quotedTail(attempt.about(start))
  }

  /** Converts what a request throws to a BridgeError. */
  async #guard<T>(what: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const request = this.#begin(signal)
    try {
      return await work()
    } catch (error) {
      throw request.failed(error, what)
    } finally {
      request.end()
    }
  }

  /** Registers a request. @param tool the tool that it calls, if it calls one */
  #begin(signal: Abortable | undefined, tool?: string): OpenRequest {
    this.#openCount += 1
    const start = this.#parts.attempt.callStart()
    return {
      failed: (error, what) => {
        const about = this.#parts.attempt.about(start)
        if (signal?.aborted) return new BridgeError('CANCELLED', `${what} on server '${about.server}' was cancelled`)
        const failure = requestFailure(error, what, about, tool)
        this.#failures.set(failure.error, { ...failure, cause: error })
        return failure.error
      },
      end: () => {
        this.#openCount -= 1
        if (this.#openCount === 0) this.#onIdle?.()
      },
    }
  }
}

interface OpenRequest {
  /** Converts an error to a BridgeError. @param what the request in words */
  failed: (error: unknown, what: string) => BridgeError
  end: () => void
}

// Conversations with clients of protocol revision 2025-11-25 and older. Each starts with initialize; then the
// Mcp-Session-Id header names it. Each has one bridge session. DELETE ends both, and so does the idle timeout. A cell
// whose client has no connection left is cancelled after a while. (MCP 2025-11-25, Streamable HTTP, Session Management)
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { isInitializeRequest } from '@modelcontextprotocol/server'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { keptForClient } from '@sandbridge/core/cell/session/kept-for.ts'
import { createServer, oneSession, OpenRuns, type ServerParts, type Sessions } from '@sandbridge/core/serve/mcp'
import { refuse } from '../refuse.ts'
import type { HeldSession, SessionRegistry } from './session-registry.ts'
import { toolsWanted } from '../tools-wanted.ts'

/**
 * Longer than a kernel's idle time: most clients cannot start over, and a conversation without its kernel costs almost
 * nothing.
 */
const IDLE_MS = 60 * 60_000
/** Prefix of all conversation ids of this process, so that ids of another replica can be recognised. */
const REPLICA = randomBytes(4).toString('hex')

interface Conversation {
  held: HeldSession
  runs: OpenRuns
  requests: { open: number; lost?: NodeJS.Timeout }
  /** GET requests; `open` is missing until the client has made one. */
  streams: { open?: number }
  transport: NodeStreamableHTTPServerTransport
}

interface LegacyOptions extends Pick<ServerParts, 'settings' | 'log' | 'user' | 'offers'> {
  bridge: Bridge
  registry: SessionRegistry
  /**
   * How long to keep a session after its client closed the stream: the client has most likely ended without a DELETE.
   * A session with variables is kept longer, in case the client's network was interrupted.
   */
  vanishedMs: { withVariables: number; without: number }
  /**
   * How long the cell of a client goes on while no request of the client is open: its network may have been
   * interrupted.
   */
  lostMs: number
}

export class LegacyConversations {
  readonly #options: LegacyOptions
  readonly #byId = new Map<string, Conversation>()

  constructor(options: LegacyOptions) {
    this.#options = options
  }

  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    // Clients never recover from a refused handshake: it opens a session, whatever session they were in.
    const id = isInitializeRequest(body) ? undefined : request.headers['mcp-session-id']
    const conversation =
      id === undefined ? await this.#openFor(request.url ?? '', body, response) : this.#byId.get(String(id))
    if (!conversation) {
      if (!response.headersSent) refuse(response, 404, notFound(String(id)), { code: -32_001 })
      return
    }
    // An open stream for messages from the server counts as use, too.
    const leave = conversation.held.enter()
    const isStream = request.method === 'GET'
    const { streams, requests, held } = conversation
    requests.open += 1
    clearTimeout(requests.lost)
    held.session.isLeft = false
    if (isStream) streams.open = (streams.open ?? 0) + 1
    finished(response, () => {
      if (isStream) streams.open! -= 1
      requests.open -= 1
      if (requests.open === 0) {
        requests.lost = setTimeout(() => conversation.runs.cancelAll(), this.#options.lostMs).unref()
        held.session.isLeft = !response.writableFinished
      }
      leave()
    })
    await conversation.transport.handleRequest(request, response, body)
    // A refused initialize is not followed by other requests.
    if (conversation.transport.sessionId === undefined) await conversation.held.end()
  }

  async #openFor(url: string, body: unknown, response: ServerResponse): Promise<Conversation | undefined> {
    if (!isInitializeRequest(body)) {
      refuse(response, 400, 'Initialize first, then send the Mcp-Session-Id header with each request')
      return undefined
    }
    try {
      return await this.#open(toolsWanted(url))
    } catch (error) {
      if (!BridgeError.isInstance(error)) throw error
      refuse(response, 503, `${error.message}. ${error.hint}`)
      return undefined
    }
  }

  async #open(tools: string | undefined): Promise<Conversation> {
    const { bridge, registry, settings, log, user, vanishedMs, offers = [] } = this.#options
    const runs = new OpenRuns()
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => `${REPLICA}.${randomBytes(18).toString('base64url')}`,
      onsessioninitialized: (id) => void this.#byId.set(id, conversation),
    })
    const streams: Conversation['streams'] = {}
    const held: HeldSession = registry.hold({
      kept: keptForClient(process.cwd()),
      user,
      idleMs: () => {
        if (streams.open !== 0) return IDLE_MS
        const { withVariables, without } = vanishedMs
        return held.hasVariables ? withVariables : without
      },
      isExpendable: () => false,
      onEnd: () => {
        if (transport.sessionId !== undefined) this.#byId.delete(transport.sessionId)
        void transport.close()
      },
    })
    const conversation: Conversation = { held, transport, streams, runs, requests: { open: 0 } }
    const { session } = held
    const sessions: Sessions = { ...oneSession(session), use: (_handle, work) => held.use(() => work(session)) }
    const tenant = bridge.tenants.of(user)
    const getConversation = () => Promise.resolve({ bridge, sessions, tenant })
    const upstreamNames = await tenant.upstreamNames()
    const server = createServer({ settings, log, user, runs, getConversation, offers, upstreamNames, tools })
    const before = server.onclose
    server.onclose = () => {
      before?.()
      void held.end()
    }
    await server.connect(transport)
    return conversation
  }
}

function notFound(id: string): string {
  const [replica = '', rest] = id.split('.')
  if (rest === undefined || replica === REPLICA) return 'Session not found: initialize again'
  return 'Session not found: another bridge had it, which has ended or was not reached. Initialize again'
}

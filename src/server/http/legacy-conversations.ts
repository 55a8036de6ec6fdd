// Conversations with clients of protocol revision 2025-11-25 and older: each opens with initialize, and is named by the Mcp-Session-Id header from then on.
// A conversation has a session of the bridge. DELETE ends both, and so does a client that stays away.
// (MCP 2025-11-25, Streamable HTTP, Session Management)
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { isInitializeRequest } from '@modelcontextprotocol/server'
import type { Bridge } from '../../bridge.ts'
import { BridgeError } from '../../errors.ts'
import { keptForClient } from '../../session/kept-for.ts'
import { createServer } from '../create-server.ts'
import type { ServerParts } from '../run-python.ts'
import type { Sessions } from '../sessions.ts'
import { refuse } from './refuse.ts'
import type { HeldSession, SessionRegistry } from './session-registry.ts'

/** Longer than a session's kernel lasts: most clients cannot start over, and without its kernel a conversation costs next to nothing. */
const IDLE_MS = 60 * 60_000
/** Begins the ids of all conversations of this process: those of another one are known for what they are. */
const REPLICA = randomBytes(4).toString('hex')

interface Conversation {
  held: HeldSession
  /** GET requests; `open` is missing until the client has made one. */
  streams: { open?: number }
  transport: NodeStreamableHTTPServerTransport
}

interface LegacyOptions extends Pick<ServerParts, 'settings' | 'log' | 'user'> {
  bridge: Bridge
  registry: SessionRegistry
  /**
   * How long the session of a client stays that had opened a stream and has closed it: it has most likely ended without a DELETE.
   * Variables stay longer, for a client whose network was gone for a moment.
   */
  vanishedMs: { withVariables: number; without: number }
}

export class LegacyConversations {
  readonly #options: LegacyOptions
  readonly #byId = new Map<string, Conversation>()

  constructor(options: LegacyOptions) {
    this.#options = options
  }

  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const id = request.headers['mcp-session-id']
    const conversation = id === undefined ? await this.#openFor(body, response) : this.#byId.get(String(id))
    if (!conversation) {
      if (!response.headersSent) refuse(response, 404, notFound(String(id)), { code: -32_001 })
      return
    }
    // A stream that is open for what the server may have to say is use, too.
    const leave = conversation.held.enter()
    const isStream = request.method === 'GET'
    const { streams } = conversation
    if (isStream) streams.open = (streams.open ?? 0) + 1
    finished(response, () => {
      if (isStream) streams.open! -= 1
      leave()
    })
    await conversation.transport.handleRequest(request, response, body)
    // An initialize that was refused is followed by nothing.
    if (conversation.transport.sessionId === undefined) await conversation.held.end()
  }

  async #openFor(body: unknown, response: ServerResponse): Promise<Conversation | undefined> {
    if (!isInitializeRequest(body)) {
      refuse(response, 400, 'Initialize first, then send the Mcp-Session-Id header with each request')
      return undefined
    }
    try {
      return await this.#open()
    } catch (error) {
      if (!BridgeError.isInstance(error)) throw error
      refuse(response, 503, `${error.message}. ${error.hint}`)
      return undefined
    }
  }

  async #open(): Promise<Conversation> {
    const { bridge, registry, settings, log, user, vanishedMs } = this.#options
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => `${REPLICA}.${randomBytes(18).toString('base64url')}`,
      onsessioninitialized: (id) => void this.#byId.set(id, conversation),
    })
    const streams: Conversation['streams'] = {}
    const held: HeldSession = registry.hold({
      kept: keptForClient,
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
    const conversation: Conversation = { held, transport, streams }
    const { session } = held
    const sessions: Sessions = { use: (_handle, work) => held.use(() => work(session)), readable: () => [session] }
    const server = createServer({ settings, log, user, getConversation: () => Promise.resolve({ bridge, sessions }) })
    server.onclose = () => void held.end()
    await server.connect(transport)
    return conversation
  }
}

function notFound(id: string): string {
  const [replica = '', rest] = id.split('.')
  if (rest === undefined || replica === REPLICA) return 'Session not found: initialize again'
  return 'Session not found: another bridge had it, which has ended or was not reached. Initialize again'
}

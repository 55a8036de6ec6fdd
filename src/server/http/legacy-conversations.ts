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
import { createServer, type ServerParts } from '../create-server.ts'
import type { Sessions } from '../sessions.ts'
import { refuse } from './refuse.ts'
import type { HeldSession, SessionRegistry } from './session-registry.ts'

/** Longer than a session's kernel lasts: most clients cannot start over, and without its kernel a conversation costs next to nothing. */
const IDLE_MS = 60 * 60_000

interface Conversation {
  held: HeldSession
  transport: NodeStreamableHTTPServerTransport
}

interface LegacyOptions extends Pick<ServerParts, 'settings' | 'log'> {
  bridge: Bridge
  registry: SessionRegistry
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
      if (!response.headersSent) refuse(response, 404, 'Session not found: initialize again', { code: -32_001 })
      return
    }
    // A stream that is open for what the server may have to say is use, too.
    finished(response, conversation.held.enter())
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
    const { bridge, registry, settings, log } = this.#options
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomBytes(18).toString('base64url'),
      onsessioninitialized: (id) => void this.#byId.set(id, conversation),
    })
    const held = registry.hold({
      idleMs: IDLE_MS,
      isExpendable: () => false,
      onEnd: () => {
        if (transport.sessionId !== undefined) this.#byId.delete(transport.sessionId)
        void transport.close()
      },
    })
    const conversation = { held, transport }
    const { session } = held
    const sessions: Sessions = { use: (_handle, work) => held.use(() => work(session)), readable: () => [session] }
    const server = createServer({ settings, log, converse: () => Promise.resolve({ bridge, sessions }) })
    server.onclose = () => void held.end()
    await server.connect(transport)
    return conversation
  }
}

// Clients with the same token form one group. No other group can reach its sessions, handles, output or open calls.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler, toWebRequest } from '@modelcontextprotocol/node'
import { createMcpHandler, isLegacyRequest, type McpHttpHandler } from '@modelcontextprotocol/server'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { clientErrors, type Refusal, toClientMessage } from '@sandbridge/core/serve'
import { createServer, type MakeOffer, OpenRuns } from '@sandbridge/core/serve/mcp'
import { DroppedError, type OnDropped, OpenRequests } from '@sandbridge/core/upstream/reading'
import { acceptedForm, answerAsJson, asPackageTakes, writeBigNumbers } from './accepted-form.ts'
import { LegacyConversations } from './sessions/legacy-conversations.ts'
import { refuse } from './refuse.ts'
import type { HandleSeal } from './sessions/sealed-handle.ts'
import { SessionHandles } from './sessions/session-handles.ts'
import type { SessionRegistry } from './sessions/session-registry.ts'
import { toolsWanted } from './tools-wanted.ts'
import { fieldsOf, isRecord } from '@sandbridge/core/util/json/json.ts'

interface GroupOptions {
  bridge: Bridge
  /** Shared by all groups: limits the number of sessions. */
  registry: SessionRegistry
  user: string | undefined
  seal?: HandleSeal | undefined
  limits: Pick<ConstructorParameters<typeof LegacyConversations>[0], 'vanishedMs' | 'lostMs'>
  offers: readonly MakeOffer[]
}

const NOT_ACCEPTABLE = 'A response is application/json or text/event-stream: the Accept header allows neither'

type Handler = ReturnType<typeof toNodeHandler>

export class ClientGroup {
  readonly #legacy: LegacyConversations
  readonly #modern: McpHttpHandler
  readonly #serveModern: Handler
  readonly #onDropped: OnDropped

  constructor({ bridge, registry, user, seal, limits: { vanishedMs, lostMs }, offers }: GroupOptions) {
    const { settings, log } = bridge
    const onerror = clientErrors(log, user === undefined ? {} : { user })
    this.#onDropped = (what) => onerror(new DroppedError(what))
    const sessions = new SessionHandles({ registry, user, seal, idleMs: settings.runtimeIdleTimeoutMs })
    const runs = new OpenRuns()
    const tenant = bridge.tenants.of(user)
    const getConversation = () => Promise.resolve({ bridge, sessions, tenant })
    this.#legacy = new LegacyConversations({ bridge, registry, settings, log, user, vanishedMs, lostMs, offers })
    this.#modern = createMcpHandler(
      async ({ requestInfo }) => {
        // Each request gets a server of its own, and only this one tells the instructions.
        const isDiscovery = requestInfo?.headers.get('mcp-method') === 'server/discover'
        const upstreamNames = isDiscovery ? await tenant.upstreamNames() : undefined
        return createServer({
          settings,
          log,
          getConversation,
          byHandle: true,
          isModern: true,
          runs,
          user,
          offers,
          upstreamNames,
          tools: requestInfo && toolsWanted(requestInfo.url),
        })
      },
      {
        legacy: 'reject',
        // Headers at once, and a keep-alive every 15 s: a cell may take longer than a client waits for a byte.
        responseMode: 'sse',
        onerror,
      },
    )
    this.#serveModern = toNodeHandler(this.#modern, { onerror })
  }

  async answer(
    request: IncomingMessage & { method: string; url: string },
    response: ServerResponse,
    body: unknown,
  ): Promise<void> {
    const form = acceptedForm(request.headers.accept)
    if (!form) return refuse(response, 406, NOT_ACCEPTABLE)
    const isPost = request.method === 'POST'
    const { messages, refusal } = isPost ? readClientBody(body, this.#onDropped) : {}
    if (refusal) return refuse(response, 400, refusal.error.message, { code: refusal.error.code, id: refusal.id })
    asPackageTakes(request, form === 'events' || isPost, messages)
    const read = form === 'json' ? withoutQuestions(messages) : messages
    if (form === 'json') answerAsJson(response)
    else writeBigNumbers(response)
    const isLegacy = await isLegacyRequest(await toWebRequest(request, read), read)
    await (isLegacy ? this.#legacy.handle(request, response, read) : this.#serveModern(request, response, read))
  }

  /** Ends the streams of its clients of the modern era. */
  close(): Promise<void> {
    return this.#modern.close()
  }
}

/** What a server asks its client in between, which needs a stream of events. */
const QUESTIONS = new Set(['sampling', 'elicitation', 'roots', 'tasks'])

interface ClientBody {
  /** A message, or a batch of them. */
  messages: unknown
  /** The whole body is refused with the first that cannot be read. */
  refusal?: Refusal | undefined
}

function readClientBody(body: unknown, onDropped: OnDropped): ClientBody {
  const open = new OpenRequests()
  const read = (Array.isArray(body) ? body : [body]).map((value) => ({
    value,
    ...toClientMessage(value, open, onDropped),
  }))
  const messages = read.map(({ message, value }) => message ?? value)
  return {
    messages: Array.isArray(body) ? messages : messages[0],
    refusal: read.find(({ refusal }) => refusal)?.refusal,
  }
}

/** The handshake of a client that reads no events: it cannot be asked anything. */
function withoutQuestions(message: unknown): unknown {
  if (!isRecord(message) || message['method'] !== 'initialize') return message
  const params = fieldsOf(message['params'])
  const kept = Object.entries(fieldsOf(params['capabilities'])).filter(([name]) => !QUESTIONS.has(name))
  return { ...message, params: { ...params, capabilities: Object.fromEntries(kept) } }
}

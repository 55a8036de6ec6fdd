// A Streamable HTTP server of the 2025-11-25 revision in raw HTTP, so that it can misbehave, and other servers that
// tests reach over HTTP.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { ServerDefinition } from '../../../src/config/entries/server-definition.ts'

interface Received {
  method: string
  path: string
  headers: IncomingMessage['headers']
  /** The JSON-RPC method, if the body has one. */
  rpc?: string
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** Listens on loopback until the test ends. */
export async function listen(handler: Handler, tls?: { key: string; cert: string }): Promise<string> {
  const listener: RequestListener = (request, response) => void handler(request, response)
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export interface Call {
  id: number
  name: string
  args: Record<string, unknown>
  request: IncomingMessage
  response: ServerResponse
}

interface Message {
  id: number
  method: string
  params: { protocolVersion: string; name: string; arguments: Record<string, unknown> }
}

export interface RawRemote {
  url: string
  received: Received[]
  /** Sessions that the server knows; a restart empties it. */
  sessions: Set<string>
}

/**
 * @param onCall answers a `tools/call` in the HTTP response
 * @param before sees every request first, and returns true when it has responded
 */
export async function rawRemote(
  onCall: (call: Call) => unknown = ({ id, args, response }) => json(response, result(id, String(args.text))),
  before: (request: IncomingMessage, response: ServerResponse, message?: Message) => boolean = () => false,
): Promise<RawRemote> {
  const received: Received[] = []
  const sessions = new Set<string>()
  const url = await listen(async (request, response) => {
    const text = await bodyOf(request)
    const message = text ? JSON.parse(text) : {}
    received.push({ method: request.method!, path: request.url!, headers: request.headers, rpc: message.method })
    if (!before(request, response, message)) answer(message, request, response)
  })

  const answer = (message: Message, request: IncomingMessage, response: ServerResponse): void => {
    const { id, method, params } = message
    const session = request.headers['mcp-session-id'] as string | undefined
    if (request.method !== 'POST') response.writeHead(405).end()
    else if (method === 'initialize') {
      const name = `session-${received.length}`
      sessions.add(name)
      const { protocolVersion } = params
      const info = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } }
      json(response, { jsonrpc: '2.0', id, result: info }, { 'mcp-session-id': name })
    } else if (method === 'server/discover') json(response, error(id, -32601, 'Method not found'))
    else if (session === undefined || !sessions.has(session)) {
      json(response, error(null, -32001, 'Session not found'), {}, 404)
    } else if (id === undefined) response.writeHead(202).end()
    else if (method === 'ping') json(response, { jsonrpc: '2.0', id, result: {} })
    else if (method === 'tools/list') {
      const tools = [{ name: 'echo', inputSchema: { type: 'object' } }]
      json(response, { jsonrpc: '2.0', id, result: { tools } })
    } else if (method === 'tools/call') onCall({ id, name: params.name, args: params.arguments, request, response })
    else json(response, error(id, -32601, 'Method not found'))
  }
  return { url: `${url}/mcp`, received, sessions }
}

/** Forwards a request to another server like a proxy, without `host` and other headers of a single connection. */
export async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  to: string,
  body?: string,
): Promise<void> {
  const skip = /^(host|connection|content-length|transfer-encoding|proxy-.*)$/
  const headers = Object.entries(request.headers).filter(([name]) => !skip.test(name)) as [string, string][]
  const answer = await fetch(to, { method: request.method!, headers, body: (body ?? (await bodyOf(request))) || null })
  response.writeHead(answer.status, Object.fromEntries([...answer.headers].filter(([name]) => !skip.test(name))))
  response.end(await answer.text())
}

export const result = (id: number, text: string) => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text }] },
})
export const error = (id: number | null, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})

export function json(
  response: ServerResponse,
  value: unknown,
  headers: Record<string, string> = {},
  status = 200,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

export function remote(
  name: string,
  url: string,
  headers: Record<string, string> = {},
  type: 'http' | 'sse' = 'http',
): ServerDefinition {
  return { name, transport: { type, url, headers }, source: { client: 'test', file: 'test.json' } }
}

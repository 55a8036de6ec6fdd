// A bridge over HTTP as the conformance suite's server scenarios reach it.
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { HttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'

/** What fixtures are called in the bridge. */
interface Renames {
  toolOf: (name: string) => string
  uriOf?: (uri: string) => string
}

/**
 * A proxy that adds the token, which the suite cannot send, and calls fixtures by their names in the bridge. Changes
 * nothing else.
 */
export async function serveWithoutToken(
  { url, token }: HttpBridge,
  { toolOf, uriOf = (uri) => uri }: Renames,
  atEnd: (end: () => void) => void,
): Promise<string> {
  const target = new URL(url)
  const proxy = createServer((request, response) => void passOn(request, response))
  async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = renamed(await buffer(request), { toolOf, uriOf })
    const headers: IncomingMessage['headers'] = { ...request.headers, authorization: `Bearer ${token}` }
    if (body.length > 0) headers['content-length'] = String(body.length)
    const named = headers['mcp-name']
    if (typeof named === 'string') headers['mcp-name'] = named.includes('://') ? uriOf(named) : toolOf(named)
    const onward = httpRequest(
      { host: target.hostname, port: target.port, path: request.url, method: request.method, headers },
      (answer) => answer.pipe(response.writeHead(answer.statusCode!, answer.headers)),
    )
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    onward.end(body)
  }
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${target.pathname}`
}

function renamed(body: Buffer, { toolOf, uriOf }: Required<Renames>): Buffer {
  let message: { params?: { name?: string; uri?: string } }
  try {
    message = JSON.parse(body.toString()) as typeof message
  } catch {
    return body
  }
  const { params } = message
  if (typeof params?.name === 'string') params.name = toolOf(params.name)
  else if (params?.uri !== undefined) params.uri = uriOf(params.uri)
  else return body
  return Buffer.from(JSON.stringify(message))
}

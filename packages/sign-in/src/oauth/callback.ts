// Listens on loopback for the redirect with an authorization server's response, RFC 8252 section 7.3. Any program on
// this machine and any web page can send a request there: one without the expected state is ignored and not reported.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Callback } from '@sandbridge/core/upstream/oauth-part.ts'

/** The port that the client is registered with is in use. */
export class PortTakenError extends Error {}

/**
 * @param registered the redirect address of a client that was registered manually; used as it is, with any port if it
 * has none
 * @param port to use when no address is registered; if it is in use, another one is taken
 * @throws PortTakenError
 */
export async function openCallback(registered: string | undefined, port: number): Promise<Callback> {
  const address = loopbackAddress(registered)
  const path = address?.pathname ?? '/callback'
  let waiting: { state: string; onAnswer: (parameters: URLSearchParams) => void } | undefined
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (request.method !== 'GET' || url.pathname !== path) {
      response.writeHead(404).end()
      return
    }
    const parameters = url.searchParams
    const isAnswer = waiting !== undefined && parameters.get('state') === waiting.state
    response.writeHead(isAnswer ? 200 : 400, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    if (!isAnswer) response.end('This response does not belong to a pending sign-in.\n')
    else if (parameters.has('error')) response.end('The sign-in was refused. You can close this page.\n')
    else response.end('Sandbridge has received the response. You can close this page.\n')
    if (isAnswer) waiting?.onAnswer(parameters)
  })
  // Browsers try every address of `localhost`.
  const host = address?.hostname === '[::1]' ? '::1' : '127.0.0.1'
  if (address?.port) {
    await bind(server, Number(address.port), host).catch(() => {
      throw new PortTakenError(`port ${address.port}, which receives the response, is in use`)
    })
  } else await bind(server, port, host).catch(() => bind(server, 0, host))
  const bound = (server.address() as AddressInfo).port
  return {
    url: addressWithPort(registered, address, bound),
    port: bound,
    answer: (state) => new Promise((resolve) => (waiting = { state, onAnswer: resolve })),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Some authorization servers compare addresses as text, so a registered address stays exactly as written. */
function addressWithPort(registered: string | undefined, address: URL | undefined, port: number): string {
  if (!address) return `http://127.0.0.1:${port}/callback`
  if (address.port) return registered!
  return `http://${address.hostname}:${port}${address.pathname}`
}

function loopbackAddress(text: string | undefined): URL | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const isLoopback = url.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  return isLoopback ? url : undefined
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

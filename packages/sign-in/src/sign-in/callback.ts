// Listens on loopback for the redirect with an authorization server's response, RFC 8252 section 7.3. Any program on
// this machine and any web page can send a request there: one of another sign-in is ignored and not reported.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Callback } from '@sandbridge/core/parts'
import { isLoopbackUrl, listen } from '@sandbridge/core/util/net'
import { oneLine, plainText } from '@sandbridge/core/util/text'

const MAX_SHOWN_CHARS = 300

/** The port that the client is registered with is in use. */
export class PortTakenError extends Error {}

/**
 * @param registered a redirect address of this machine; used as it is, with any port if it has none
 * @param port to use when no address is registered; if it is in use, another one is taken
 * @throws PortTakenError
 */
export async function openCallback(registered: string | undefined, port: number): Promise<Callback> {
  const address = registered !== undefined && isLoopbackUrl(registered) ? new URL(registered) : undefined
  const path = address?.pathname ?? '/callback'
  let waiting: { state: string; server: string; onAnswer: (parameters: URLSearchParams) => void } | undefined
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const { host, 'sec-fetch-dest': shown = 'document' } = request.headers
    // A redirect is shown as a page: a frame, an image or a script of another page is none, and no other name is ours.
    const isPage = request.method === 'GET' && shown === 'document' && isLoopbackUrl(`http://${host}`)
    if (!isPage || url.pathname !== path) {
      response.writeHead(404).end()
      return
    }
    const parameters = url.searchParams
    // Some authorization servers return an error without the state. It can end the wait, and do nothing else.
    const isBareError = !parameters.has('state') && !parameters.has('code') && parameters.has('error')
    const isAnswer = waiting !== undefined && (parameters.get('state') === waiting.state || isBareError)
    response.writeHead(isAnswer ? 200 : 400, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      connection: 'close',
    })
    if (!isAnswer) response.end('This response does not belong to a pending sign-in.\n')
    else response.end(`${pageFor(waiting!.server, parameters)} You can close this page.\n`)
    if (isAnswer) waiting!.onAnswer(parameters)
  })
  // Browsers try every address of `localhost`.
  const host = address?.hostname === '[::1]' ? '::1' : '127.0.0.1'
  const bind = (at: number): Promise<void> => listen(server, { port: at, host })
  if (address?.port) {
    await bind(Number(address.port)).catch(() => {
      throw new PortTakenError(`port ${address.port}, which receives the response, is in use`)
    })
  } else await bind(port).catch(() => bind(0))
  const bound = (server.address() as AddressInfo).port
  return {
    url: addressWithPort(registered, address, bound),
    port: bound,
    answer: (state, name) => new Promise((resolve) => (waiting = { state, server: name, onAnswer: resolve })),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function pageFor(server: string, parameters: URLSearchParams): string {
  const error = parameters.get('error')
  if (error === null) return `Sandbridge has received the response for '${server}'.`
  const why = [error, parameters.get('error_description')].filter(Boolean).join(': ')
  return `The sign-in to '${server}' was refused: ${oneLine(plainText(why), MAX_SHOWN_CHARS)}.`
}

/** Some authorization servers compare addresses as text, so a registered address stays exactly as written. */
function addressWithPort(registered: string | undefined, address: URL | undefined, port: number): string {
  // An IP address instead of a name, so that no resolver can redirect it, RFC 8252 section 8.3.
  if (!address) return `http://127.0.0.1:${port}/callback`
  if (address.port) return registered!
  return `http://${address.hostname}:${port}${address.pathname}`
}

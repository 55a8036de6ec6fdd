// Listens on loopback for the request that brings the answer of an authorization server, RFC 8252 section 7.3. Any program of this machine and any
// web page can send one: what does not carry the state that was sent along is no answer, and is not told of.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Callback {
  /** Where the browser is to be sent. */
  url: string
  port: number
  /** The answer with this state, which may be a refusal. Until it is asked for, none is taken. */
  answer(state: string): Promise<URLSearchParams>
  close(): void
}

/**
 * @param registered the address that a client was registered with by hand
 * @param port to take when no address is registered, where that is a port of this machine
 */
export type OpenCallback = (registered: string | undefined, port: number) => Promise<Callback>

/** Where users of other machines sign in with their own browsers. */
export interface SignInPage {
  /** To be shown to anybody: who opens it shows there who they are. @param server its name */
  addressFor(server: string): string
  /** A link for one user: whoever has it needs no token. @param page that of the authorization server */
  linkTo(about: { server: string; user: string | undefined; page: URL }): string
  openCallback: OpenCallback
}

/** Where the user of a set of servers signs in. */
export interface SignInPlace {
  /** What `sandbridge login SERVER` needs besides, such as ` --user ann`. */
  loginOptions: string
  /** For browsers on other machines; missing means that they sign in on this one. */
  page: SignInPage | undefined
}

/** The port that a client is registered with is in use. */
export class PortTakenError extends Error {}

/**
 * @param registered the address that a client was registered with by hand: it is kept to, and without a port any will do
 * @param port to take when no address is registered; another one is taken when it is in use
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
  // Browsers try every address that `localhost` has.
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

/** Some authorization servers compare texts, so what was registered is left exactly as it was written. */
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

// Requests that an upstream may send (folders, an answer, a completion); declared only with an answerer.
import type { Client, ClientCapabilities } from '@modelcontextprotocol/client'
import { BridgeError } from '../../errors.ts'
import { webPage } from './required-pages.ts'
import type { Sdk } from './sdk.ts'

/** Each gets the name of the server; `params` and results are those of the MCP specification, unchecked. */
export interface UpstreamRequests {
  /** `roots/list` */
  roots?: (server: string) => Promise<{ uri: string; name?: string }[]>
  /** `elicitation/create`, with a form or a URL. */
  elicit?: (server: string, params: Record<string, unknown>, signal: AbortSignal) => Promise<Record<string, unknown>>
  /** `sampling/createMessage` */
  sample?: (server: string, params: Record<string, unknown>, signal: AbortSignal) => Promise<Record<string, unknown>>
  /** Such a request may name tools that the model can call. */
  samplesWithTools?: boolean
}

export function capabilitiesFor(requests: UpstreamRequests): ClientCapabilities {
  return {
    ...(requests.roots && { roots: {} }),
    ...(requests.elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(requests.sample && { sampling: requests.samplesWithTools ? { tools: {} } : {} }),
  }
}

/** Answers a server's request. @throws Error when such requests have no answerer */
export async function answerRequest(
  { roots, elicit, sample }: UpstreamRequests,
  server: string,
  { method, params }: { method: string; params: Record<string, unknown> },
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  if (method === 'elicitation/create' && elicit) return askUser(elicit, server, params, signal)
  if (method === 'sampling/createMessage' && sample) return sample(server, params, signal)
  if (method === 'roots/list' && roots) return { roots: await roots(server) }
  throw new BridgeError('UPSTREAM_PROTOCOL', `Server '${server}' sent a request that no client supports`)
}

/** @throws BridgeError UPSTREAM_PROTOCOL for a URL that is not a web page */
async function askUser(
  elicit: NonNullable<UpstreamRequests['elicit']>,
  server: string,
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  if (params.mode !== 'url') return elicit(server, params, signal)
  const page = webPage(params.url)
  if (page) return elicit(server, { ...params, url: page.href }, signal)
  const text = `Server '${server}' asked the user to open an address that is not a web page (http or https, without a user name)`
  throw new BridgeError('UPSTREAM_PROTOCOL', text)
}

/** Registers `requests` as handlers of the requests that the server behind `client` sends. */
export function serveRequests(sdk: Sdk, client: Client, server: string, requests: UpstreamRequests): void {
  const { roots, elicit, sample } = requests
  const served = { 'roots/list': roots, 'elicitation/create': elicit, 'sampling/createMessage': sample }
  for (const method of Object.keys(served) as (keyof typeof served)[]) {
    if (!served[method]) continue
    client.setRequestHandler(method, ({ params = {} }, { mcpReq }) => {
      return answerRequest(requests, server, { method, params }, mcpReq.signal) as never
    })
  }
  client.fallbackRequestHandler = (request) => {
    const reason = `${request.method} is not supported: this client did not declare that capability`
    return Promise.reject(new sdk.ProtocolError(sdk.ProtocolErrorCode.MethodNotFound, reason))
  }
}

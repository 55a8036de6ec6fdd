import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { createRedactor } from '../../../core/src/config/secrets/redact.ts'
import { createHttpFetch } from '@sandbridge/remote/http-fetch.ts'
import { createStoredAuth } from './stored-auth.ts'
import { createTokenStore } from './token-store.ts'
import { fileStore } from '../../../core/src/util/stores/open-stores.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A stored sign-in at an authorization server whose token endpoint behaves as `token` does. */
async function signedIn(token: RequestListener, limitMs = 300) {
  let count = 0
  const server = createServer((request, response) => {
    const origin = `http://${request.headers.host}`
    if (request.url === '/token') {
      count += 1
      token(request, response)
    } else if (request.url === '/.well-known/oauth-authorization-server') {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          response_types_supported: ['code'],
        }),
      )
    } else if (request.url === '/mcp')
      response.writeHead(request.headers.authorization === 'Bearer new' ? 200 : 401).end()
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = newFolder()
  const http = createHttpFetch({ allowLinkLocal: false, env: {} })
  onTestFinished(async () => {
    http.close()
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `${origin}/mcp`
  const store = createTokenStore(fileStore(folder))
  await store.update({ name: 'r', url }, (grants) => {
    const tokens = { access_token: 'old', refresh_token: 'refresh' }
    grants.byIssuer[origin] = { client: { client_id: 'us' }, tokens, port: 1 }
    grants.latest = origin
  })
  const transport = { type: 'http' as const, url, headers: {} }
  const auth = createStoredAuth({
    name: 'r',
    server: transport,
    store,
    redact: createRedactor(transport),
    now: () => 0,
    limitMs,
  })
  const send = auth.through(http.fetch)
  return { refused: () => send(url), tokenCount: () => count }
}

const good: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ access_token: 'new', token_type: 'Bearer' }))
}

it.each<[string, RequestListener, string]>([
  ['never answers', () => {}, 'did not answer within 0.3 s'],
  ['begins an answer and never ends it', (_, response) => void response.writeHead(200).write('{'), 'did not answer'],
  ['fails', (_, response) => void response.writeHead(500).end('boom'), 'HTTP 500'],
  ['has enough', (_, response) => void response.writeHead(429).end(), 'HTTP 429'],
  ['hangs up', (request) => void request.socket.destroy(), 'reset'],
])('an authorization server that %s is named, keeps the sign-in, and is asked again', async (_what, bad, words) => {
  let token = bad
  const limitMs = words.startsWith('did not answer') ? 300 : 30_000
  const { refused, tokenCount } = await signedIn((request, response) => token(request, response), limitMs)
  for (let i = 0; i < 4; i += 1) {
    await expect(refused()).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      message: expect.stringContaining(words),
      hint: expect.stringContaining('Retry in a moment'),
    })
  }
  token = good
  // A slow machine does not answer within 0.3 s each time.
  await until(() =>
    refused().then(
      () => true,
      () => false,
    ),
  )
  expect((await refused()).status).toBe(200)
  expect(tokenCount()).toBeGreaterThanOrEqual(5)
})

it('all that wait for one refresh that never ends get an error', async () => {
  const { refused, tokenCount } = await signedIn(() => {})
  const outcomes = await Promise.allSettled([refused(), refused(), refused()])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(tokenCount()).toBe(1)
})

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { accessTo } from '../../test/support/cluster-access.ts'
import { makeCertificate } from '@sandbridge/core/test/support/machine/make-certificate.ts'
import { ApiClient } from './api-client.ts'
import { CredentialSource } from './credentials.ts'
import type { ClusterAccess } from './kubeconfig.ts'

const pair = makeCertificate()
const person = makeCertificate('ann')

type Answer = (request: IncomingMessage, response: ServerResponse, count: number) => void

async function serving(answer: Answer, more: Partial<ClusterAccess> = {}, patienceMs = 5_000) {
  let count = 0
  const server = createServer({ ...pair, requestCert: true, rejectUnauthorized: false }, (request, response) =>
    answer(request, response, (count += 1)),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const local = accessTo(server, pair, more)
  const access = { ...local, server: more.server ?? new URL('/base', local.server) }
  const client = new ApiClient(access.server, new CredentialSource(access), patienceMs)
  const get = () => client.request({ method: 'GET', path: '/x', query: { a: 'b c' } })
  return { client, get, requests: () => count }
}

const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  response.writeHead(status, headers).end(JSON.stringify(body))

it('a request to the cluster goes below the path of the server, with a token', async () => {
  const { get } = await serving(({ url, headers }, response) => json(response, 200, [url, headers.authorization]))
  expect(await get()).toEqual(['/base/x?a=b+c', 'Bearer secret'])
})

it('a request to the cluster shows a client certificate', async () => {
  const { get } = await serving(
    ({ socket }, response) => json(response, 200, (socket as TLSSocket).getPeerCertificate().subject?.CN),
    { cert: { text: person.cert }, key: { text: person.key }, token: undefined },
  )
  expect(await get()).toBe('ann')
})

it('a request to the cluster trusts only the authority of the cluster, unless verification is switched off', async () => {
  const strange = { ca: { text: person.cert } }
  const { get } = await serving((_request, response) => json(response, 200, 'x'), strange, 0)
  await expect(get()).rejects.toMatchObject({ name: 'ApiUnreachable' })
  const loose = await serving((_request, response) => json(response, 200, 'x'), { ...strange, skipTlsVerify: true })
  expect(await loose.get()).toBe('x')
})

it('a request to the cluster is retried after 429 and 503, and after a broken connection', async () => {
  const { get, requests } = await serving((_request, response, count) => {
    if (count === 1) json(response, 429, {}, { 'Retry-After': '0' })
    else if (count === 2) json(response, 503, {})
    else if (count === 3) response.destroy()
    else json(response, 200, 'x')
  })
  expect(await get()).toBe('x')
  expect(requests()).toBe(4)
})

it('a request to the cluster is not retried after a permanent error, and once with new credentials', async () => {
  const missing = await serving((_request, response) =>
    json(response, 404, { message: 'no such pod', reason: 'NotFound' }),
  )
  await expect(missing.get()).rejects.toMatchObject({ status: 404, message: 'no such pod', reason: 'NotFound' })
  expect(missing.requests()).toBe(1)
  const refused = await serving((_request, response) => json(response, 401, {}))
  await expect(refused.get()).rejects.toMatchObject({ status: 401 })
  expect(refused.requests()).toBe(2)
})

it('a request to the cluster is given up after its time limit', async () => {
  const { get } = await serving((_request, response) => json(response, 429, {}, { 'Retry-After': '3600' }), {}, 0)
  await expect(get()).rejects.toMatchObject({ status: 429 })
})

it('an answer of the cluster that is not JSON, or never ends, is an error', async () => {
  const { get } = await serving((_request, response) => response.end('<html>'), {}, 0)
  await expect(get()).rejects.toThrow(/not JSON/)
  const endless = await serving(
    (_request, response) => {
      // Node 26 calls the callback of write() at once: only the event waits for room.
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(1 << 20)));
      }
      response.on('drain', more)
      more()
    },
    {},
    0,
  )
  await expect(endless.get()).rejects.toThrow(/too long/)
})

it('a watch of the cluster returns its events, and a silent one is ended', async () => {
  const { client } = await serving((_request, response) => {
    response.write('{"type":"ADDED"}\n{"ty')
    setTimeout(() => response.write('pe":"MODIFIED"}\n'), 20)
  })
  const events: unknown[] = []
  const watching = client.watch({ method: 'GET', path: '/pods' }, (event) => events.push(event), {
    signal: new AbortController().signal,
    silentMs: 300,
  })
  await expect(watching).rejects.toMatchObject({ name: 'ApiUnreachable' })
  expect(events).toEqual([{ type: 'ADDED' }, { type: 'MODIFIED' }])
})

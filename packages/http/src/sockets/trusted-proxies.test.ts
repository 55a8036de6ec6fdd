// This file verifies which senders' X-Forwarded headers are trusted, and what these change.
import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { openService } from '../../test/support/http-service.ts'
import { TrustedProxies } from './trusted-proxies.ts'

const proxies = new TrustedProxies(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])

function senderOf(remoteAddress: string, headers: Record<string, string[]>) {
  const request = { headers: { host: 'inner' }, headersDistinct: headers, socket: { remoteAddress } }
  return proxies.senderOf(request as unknown as IncomingMessage)
}

it.each<[string, string, string | undefined, string]>([
  ['without a proxy', '192.0.2.1', undefined, '192.0.2.1'],
  ['that sends the header itself', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
  ['behind a proxy', '127.0.0.1', '198.51.100.7', '198.51.100.7'],
  ['behind a proxy on both families', '::ffff:127.0.0.1', '198.51.100.7', '198.51.100.7'],
  ['that put another one before itself', '127.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
  ['behind two proxies', '127.0.0.1', '203.0.113.9, 198.51.100.7, 10.1.2.3', '198.51.100.7'],
  ['with a port', '127.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
  ['with IPv6 and a port', 'fd00::1', '[2001:db8::7]:4711', '2001:db8::7'],
  ['that hides', '127.0.0.1', 'unknown', '127.0.0.1'],
  ['that writes nonsense before a proxy', '127.0.0.1', 'nonsense, 10.1.2.3', '10.1.2.3'],
  ['on a proxy itself', '127.0.0.1', '10.9.9.9', '10.9.9.9'],
])('the address of a client is found: %s', (_, remote, forwarded, expected) => {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': [forwarded] }
  expect(senderOf(remote, headers)?.address).toBe(expected)
})

it('a request has exactly one host and one protocol', () => {
  const forwarded = { 'x-forwarded-host': ['outer'], 'x-forwarded-proto': ['HTTPS'] }
  expect(senderOf('10.0.0.1', forwarded)).toMatchObject({ host: 'outer', protocol: 'https' })
  expect(senderOf('192.0.2.1', forwarded)).toEqual({ address: '192.0.2.1', host: 'inner' })
  for (const bad of [{ 'x-forwarded-host': ['a', 'b'] }, { 'x-forwarded-proto': ['https', 'http'] }]) {
    expect(senderOf('10.0.0.1', bad)).toBeUndefined()
    expect(senderOf('192.0.2.1', bad)).toMatchObject({ host: 'inner' })
  }
  for (const proto of ['https, http', 'ftp', '']) {
    expect(senderOf('10.0.0.1', { 'x-forwarded-proto': [proto] })).toBeUndefined()
  }
})

it.each(['', 'localhost', '10.0.0.0/33', '10.0.0/8', '::1/129', '1.2.3.4/x', '*'])(
  '%j is not a valid address',
  (text) => {
    expect(() => new TrustedProxies([text])).toThrow(/is not an address/)
  },
)

const PUBLIC = { MCP_BRIDGE_PUBLIC_URL: 'https://bridge.example.com/mcp' }
const outer = { 'x-forwarded-host': 'bridge.example.com', 'x-forwarded-proto': 'https' }

it('requests through a trusted proxy are for the host that the client named', async () => {
  const { ask, lines } = await openService({ env: PUBLIC, options: { trustedProxies: ['127.0.0.1'] } })
  expect((await ask(outer)).status).toBe(405)
  expect((await ask({ ...outer, host: 'inner.local' })).status).toBe(405)
  expect((await ask({ ...outer, 'x-forwarded-host': 'evil.example' })).status).toBe(403)
  expect((await ask({ ...outer, 'x-forwarded-host': 'evil.example', host: 'localhost' })).status).toBe(403)
  expect((await ask({ ...outer, 'x-forwarded-proto': 'http' })).body).toMatch(/Use https/)
  expect((await ask({ ...outer, 'x-forwarded-host': ['bridge.example.com', 'evil.example'] })).status).toBe(400)
  expect((await ask({ ...outer, origin: 'https://bridge.example.com' })).status).toBe(405)
  expect((await ask({ ...outer, origin: 'http://bridge.example.com' })).status).toBe(403)
  await ask({ ...outer, authorization: '', 'x-forwarded-for': '198.51.100.7' })
  expect(lines.at(-1)).toMatch(/A request was refused status=401 address="198.51.100.7"/)
})

it('requests that do not come through a trusted proxy are for the host that they name, whatever their headers say of a proxy', async () => {
  const { ask, lines } = await openService({ env: PUBLIC, options: { trustedProxies: ['192.0.2.0/24'] } })
  expect((await ask({ host: 'evil.example', 'x-forwarded-host': 'localhost' })).status).toBe(403)
  expect((await ask({ host: 'localhost', 'x-forwarded-host': 'evil.example' })).status).toBe(405)
  expect((await ask({ 'x-forwarded-proto': 'http' })).status).toBe(405)
  await ask({ authorization: '', 'x-forwarded-for': '198.51.100.7' })
  expect(lines.at(-1)).toMatch(/A request was refused status=401 address="127.0.0.1"/)
})

it('requests through a proxy may wait longer than those of strangers, since its connection serves many clients', async () => {
  const limits = { strangerMs: 200, strangers: 1, newcomers: 2, newcomerMs: 20 }
  const { ask } = await openService({ options: { trustedProxies: ['127.0.0.1'] }, limits })
  const { Agent } = await import('node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const bare = () => ask({ authorization: '' }, { agent, path: '/healthz', method: 'GET' })
  const many = await Promise.all(Array.from({ length: 8 }, bare))
  expect(many.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(8)
  agent.destroy()
})

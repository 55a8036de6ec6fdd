// This file verifies that the proxy dials the addresses it has checked, even if DNS changes immediately afterwards.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { allowedDomains } from './allowed-domains.ts'
import { type LookupAll, startFilteringProxy } from './filtering-proxy.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

beforeEach(() => needsPosix('jails, whose sockets are files'))

/**
 * A proxy whose lookups return `answers`, one after the other.
 * @param visited what the host behind it does with each connection
 */
async function proxyWith(
  allowed: string[],
  answers: string[][],
  visited = (socket: Socket): void => void socket.end('reached'),
  deniedDomains: string[] = [],
) {
  const folder = newFolder()
  const socketPath = path.join(folder, 's')
  let visits = 0
  let lookups = 0
  const target = createServer((socket) => {
    visits += 1
    visited(socket)
  }).listen(0, '127.0.0.1')
  await once(target, 'listening')
  const lookup: LookupAll = (_host, _options, callback) => {
    const addresses = answers[Math.min(lookups++, answers.length - 1)]!
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  const refused: string[] = []
  const proxy = await startFilteringProxy({
    socketPath,
    lookup,
    domains: allowedDomains({ allowedDomains: allowed, deniedDomains }),
    onRefused: (host, reason) => refused.push(`${host} ${reason}`),
  })
  onTestFinished(() => {
    proxy.close()
    target.close()
  })
  const { port } = target.address() as AddressInfo
  const send = async (text: string): Promise<string> => {
    const socket = connect(socketPath)
    let said = ''
    socket.on('data', (data) => (said += data.toString()))
    socket.on('error', () => {})
    socket.write(text)
    await once(socket, 'close')
    return said
  }
  return { port, refused, send, visits: () => visits, lookups: () => lookups }
}

it('the filtering proxy refuses a name that leads to this machine, beside a public address or alone', async () => {
  for (const addresses of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::1'], ['::ffff:127.0.0.1']]) {
    const { port, refused, send, visits } = await proxyWith(['evil.example'], [addresses])
    expect(await send(`CONNECT evil.example:${port} HTTP/1.1\r\n\r\n`)).toContain('403')
    expect(
      await send(`GET http://evil.example:${port}/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`),
    ).toContain('403')
    expect(visits()).toBe(0)
    expect(refused).toContain('evil.example leads to an address that is not public')
  }
})

it('the filtering proxy looks a name up once, so that a second answer that leads to this machine is never used', async () => {
  const { port, send, visits, lookups } = await proxyWith(['evil.example'], [['192.0.2.1'], ['127.0.0.1']])
  await send(`CONNECT evil.example:${port} HTTP/1.1\r\n\r\n`)
  expect([lookups(), visits()]).toEqual([1, 0])
})

it.each([
  ['its name', 'evil.example', '127.0.0.1'],
  ['the number of its address', '1572395042', '93.184.216.34'],
  ['another name of its address', 'other.example', '93.184.216.34'],
  ['a mapped form of its address', '[::ffff:93.184.216.34]', '93.184.216.34'],
  ['another form of its address', '[2606:2800:220:1:0:0:0:1]', '127.0.0.1'],
  ['another name that leads to a mapped form', 'other.example', '::ffff:93.184.216.34'],
])('the filtering proxy refuses a denied host by %s', async (_, host, address) => {
  const denied = ['evil.example', '93.184.216.34', '[2606:2800:220:1::1]']
  const { port, refused, send, visits } = await proxyWith(['*', 'localhost'], [[address]], undefined, denied)
  expect(await send(`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 403 /)
  expect([visits(), refused.length]).toEqual([0, 1])
  // Control: another host.
  expect(await send(`CONNECT localhost:${port} HTTP/1.1\r\n\r\n`)).toMatch(
    address === '127.0.0.1' ? /^HTTP\/1.1 200/ : /403/,
  )
})

it('the filtering proxy tunnels to a host that the definition names', async () => {
  const { port, send, visits } = await proxyWith(['localhost'], [['127.0.0.1']])
  expect(await send(`CONNECT localhost:${port} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 [^]*reached$/)
  expect(visits()).toBe(1)
})

it('the filtering proxy says why a host that may be reached cannot be', async () => {
  const { send } = await proxyWith(['localhost'], [['127.0.0.1']])
  // Nothing listens there.
  expect(await send('CONNECT localhost:1 HTTP/1.1\r\n\r\n')).toContain('localhost could not be reached (ECONNREFUSED)')
  const plain = 'GET http://localhost:1/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  expect(await send(plain)).toContain('localhost could not be reached (ECONNREFUSED)')
})

it('the filtering proxy says nothing of its own in a tunnel whose host breaks it off', async () => {
  const breakOff = (socket: Socket) =>
    socket.write('half', () => socket.once('data', () => socket.resetAndDestroy()).resume())
  const { port, send } = await proxyWith(['localhost'], [['127.0.0.1']], breakOff)
  expect(await send(`CONNECT localhost:${port} HTTP/1.1\r\n\r\nmore`)).toMatch(/^HTTP\/1.1 200 [^\r]*\r\n\r\nhalf$/)
})

it.each([
  'CONNECT evil.example HTTP/1.1\r\n\r\n',
  'CONNECT user@evil.example:443 HTTP/1.1\r\n\r\n',
  'CONNECT evil.example:99999 HTTP/1.1\r\n\r\n',
  'GET /relative HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  'GET ftp://localhost/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  'nonsense\r\n\r\n',
])('the filtering proxy refuses a request that it cannot read: %j', async (text) => {
  const { send, visits } = await proxyWith(['*', 'localhost'], [['127.0.0.1']])
  expect(await send(text)).toMatch(/^(HTTP\/1.1 4\d\d|$)/)
  expect(visits()).toBe(0)
})

it('the filtering proxy shows a refused host without its control characters', async () => {
  const { refused, send } = await proxyWith(['good.example'], [['127.0.0.1']])
  await send('CONNECT \u009b31mevil.example:443 HTTP/1.1\r\n\r\n')
  expect(refused.join()).not.toMatch(/\p{Cc}/u)
})

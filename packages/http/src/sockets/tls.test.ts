// This file verifies what TLS gives clients, and that strangers cannot use up more of the bridge with TLS than without.
import { writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { connect as connectSecurely, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { openService, TOKEN } from '../../test/support/http-service.ts'
import { makeCertificate, type Pair } from '@sandbridge/core/test/support/machine/make-certificate.ts'
import type { HTTP_LIMITS } from '../serve-http.ts'
import { readTls } from './tls-files.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const pair = makeCertificate()

function files({ cert, key }: Pair) {
  const folder = newFolder()
  const paths = { cert: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') }
  writeFileSync(paths.cert, cert)
  writeFileSync(paths.key, key)
  return paths
}

async function serve(limits: Partial<typeof HTTP_LIMITS> = {}) {
  const { ask, ...opened } = await openService({ options: { tls: files(pair) }, limits })
  const status = async (agent?: Agent) => (await ask({}, { ca: pair.cert, ...(agent && { agent }) })).status
  return { ...opened, status }
}

async function handshake(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectSecurely({ host: '127.0.0.1', port, ca: pair.cert, ...options }, () => resolve(socket))
    socket.on('error', reject)
    onTestFinished(() => void socket.destroy())
  })
}

function openRaw(port: number, beginning: string | Buffer): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(beginning)
      resolve(socket.resume())
    })
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  })
}

const closed = (socket: Socket) =>
  new Promise((resolve) => (socket.closed ? resolve(0) : socket.once('close', resolve)))
/** A TLS record that announces 512 bytes of a ClientHello and contains ten. */
const HALF_A_HELLO = Buffer.from('1603010200010001fc0303aabbccdd', 'hex')

it('a client is served with TLS 1.2 and 1.3, and not with older versions or plain HTTP', async () => {
  const { port, status, service } = await serve()
  expect(service.url).toBe(`https://127.0.0.1:${port}/mcp`)
  expect(await status()).toBe(405)
  const old = { ciphers: 'DEFAULT@SECLEVEL=0', minVersion: 'TLSv1' } as const
  expect((await handshake(port, { ...old, maxVersion: 'TLSv1.2' })).getProtocol()).toBe('TLSv1.2')
  expect((await handshake(port)).getProtocol()).toBe('TLSv1.3')
  for (const maxVersion of ['TLSv1.1', 'TLSv1'] as const) {
    await expect(handshake(port, { ...old, maxVersion })).rejects.toThrow(/version/)
  }
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
  expect(await status()).toBe(405)
})

it('a client keeps its connection once it has sent the token, and loses it after some seconds otherwise', async () => {
  const { port, status } = await serve({ strangerMs: 300 })
  const agent = new Agent({ keepAlive: true, ca: pair.cert })
  onTestFinished(() => agent.destroy())
  // A slow machine does not send the token within that time at once.
  await expect.poll(() => status(agent)).toBe(405)
  const [known] = Object.values(agent.freeSockets).flat()
  const stranger = await handshake(port)
  await closed(stranger.resume())
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(known!.closed).toBe(false)
  expect(await status(agent)).toBe(405)
  expect(Object.values(agent.freeSockets).flat()).toEqual([known])
})

it.each([
  ['says nothing', ''],
  ['says half of what begins a handshake', HALF_A_HELLO],
  ['does not speak TLS', 'POST /mcp HTTP/1.1\r\n'],
])('the connection of a stranger that %s is closed', async (_, beginning) => {
  const { port, status } = await serve({ strangerMs: 200 })
  await closed(await openRaw(port, beginning))
  await expect.poll(() => status()).toBe(405)
})

it('the connection of a stranger that sends slowly after its handshake is closed', async () => {
  const { port, status } = await serve({ strangerMs: 300 })
  const socket = await handshake(port)
  socket.write('POST /mcp HTTP/1.1\r\n')
  const timer = setInterval(() => socket.write('X-Slow: 1\r\n'), 20)
  socket.removeAllListeners('error').on('error', () => {})
  await closed(socket.resume())
  clearInterval(timer)
  await expect.poll(() => status()).toBe(405)
})

it('strangers with many connections, before, in and after the handshake, lock out no client with the token', async () => {
  const limits = { strangers: 8, newcomers: 40, newcomerMs: 300 }
  const { port, status } = await serve(limits)
  const agent = new Agent({ keepAlive: true, ca: pair.cert })
  onTestFinished(() => agent.destroy())
  expect(await status(agent)).toBe(405)
  const [known] = Object.values(agent.freeSockets).flat()
  const done = await Promise.all(Array.from({ length: 20 }, () => handshake(port)))
  for (const socket of done) socket.removeAllListeners('error').on('error', () => {})
  const rest = await Promise.all(Array.from({ length: 60 }, (_, at) => openRaw(port, at % 2 ? HALF_A_HELLO : '')))
  const open = () => [...done, ...rest].filter((socket) => !socket.resume().closed).length
  await expect.poll(open, { timeout: 20_000 }).toBeLessThanOrEqual(limits.strangers)
  // Control: they were not closed for another reason.
  expect(open()).toBeGreaterThan(0)
  for (let attempt = 0; attempt < 5; attempt += 1) expect(await status()).toBe(405)
  expect(known!.closed).toBe(false)
  expect(await status(agent)).toBe(405)
})

it('connections of strangers do not keep the bridge from ending', async () => {
  const { port, service } = await serve()
  const half = await openRaw(port, HALF_A_HELLO)
  const silent = await handshake(port)
  silent.removeAllListeners('error').on('error', () => {})
  await service.close()
  // Neither client sends anything; the bridge closes both connections.
  await Promise.all([closed(half), closed(silent.resume())])
})

it('a request over TLS that does not arrive completely is given up', async () => {
  const { port, status } = await serve({ requestMs: 300 })
  const socket = await handshake(port)
  socket.write(`POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 9\r\n\r\n{`)
  await closed(socket.resume())
  await expect.poll(() => status()).toBe(405)
})

it('unusable certificate files are reported by their path', async () => {
  const other = makeCertificate()
  const [right, wrong] = [files(pair), files({ cert: pair.cert, key: other.key })]
  await expect(readTls(wrong)).rejects.toThrow(/cert\.pem and the key .*key\.pem cannot be used: .*mismatch/)
  await expect(readTls({ ...right, cert: '/nowhere/cert.pem' })).rejects.toThrow(/--tls-cert: ENOENT/)
  await expect(readTls({ ...right, key: right.cert })).rejects.toThrow(/cannot be used/)
  expect(await readTls(right)).toMatchObject({ minVersion: 'TLSv1.2' })
})

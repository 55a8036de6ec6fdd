import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import { expect, it, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { accessTo } from '../../test/support/cluster-access.ts'
import { makeCertificate } from '@sandbridge/core/test/support/machine/make-certificate.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { ApiClient } from './api-client.ts'
import { AttachChannel } from './attach-channel.ts'
import { CredentialSource } from './credentials.ts'

const V5 = 'v5.channel.k8s.io'
const V4 = 'v4.channel.k8s.io'
const pair = makeCertificate()

/** A channel to a server that the test controls: `pair` receives each socket and its messages. */
async function connected({ protocol = V5, pace }: { protocol?: string; pace?: number } = {}) {
  const server = createServer(pair)
  const sockets = new WebSocketServer({ server, handleProtocols: () => protocol, autoPong: pace === undefined })
  const client = await clientOf(server)
  const arriving = once(sockets, 'connection') as Promise<[WebSocket]>
  const channel = new AttachChannel(pace)
  onTestFinished(() => channel.close())
  await channel.connect(client, '/attach', 'kernel')
  const [socket] = await arriving
  const received: Buffer[] = []
  socket.on('message', (message: Buffer) => received.push(message))
  return { channel, socket, received }
}

async function clientOf(server: Server): Promise<ApiClient> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const access = accessTo(server, pair)
  return new ApiClient(access.server, new CredentialSource(access))
}

const bytes = (channel: number, text: string) => Buffer.concat([Buffer.from([channel]), Buffer.from(text)])

it('the attach channel carries stdin, stdout and stderr, each on its own channel', async () => {
  const { channel, socket, received } = await connected()
  channel.stdin.write('to the pod')
  await until(() => received.length > 0)
  expect(received).toEqual([bytes(0, 'to the pod')])
  socket.send(bytes(2, 'a complaint\n'))
  socket.send(bytes(1, 'from the pod'))
  expect(String(await once(channel.stdout, 'data'))).toBe('from the pod')
  expect(channel.stderr).toBe('a complaint')
})

it('the attach channel delivers in order what is written before there is a connection', async () => {
  const server = createServer(pair)
  const received: Buffer[] = []
  new WebSocketServer({ server }).on('connection', (socket) =>
    socket.on('message', (message: Buffer) => received.push(message)),
  )
  const channel = new AttachChannel()
  onTestFinished(() => channel.close())
  channel.stdin.write('first ')
  channel.stdin.write('second')
  await channel.connect(await clientOf(server), '/attach', 'kernel')
  await until(() => Buffer.concat(received).includes('second'))
  expect(Buffer.concat(received.map((message) => message.subarray(1))).toString()).toBe('first second')
})

it('the attach channel closes stdin in v5, and cannot in v4', async () => {
  const five = await connected()
  five.channel.stdin.end('last')
  await until(() => five.received.length === 2)
  expect(five.received).toEqual([bytes(0, 'last'), Buffer.from([255, 0])])
  const four = await connected({ protocol: V4 })
  four.channel.stdin.end('last')
  await once(four.channel.stdin, 'finish')
  four.socket.ping()
  await once(four.socket, 'pong')
  expect(four.received).toEqual([bytes(0, 'last')])
})

it('the attach channel stops the server while its reader is behind, and memory stays flat', async () => {
  const { channel, socket } = await connected()
  const message = Buffer.alloc(32 << 10, 'x')
  message[0] = 1
  const total = 2048
  let sent = 0
  const flood = (async () => {
    for (; sent < total; sent += 1) await new Promise<void>((resolve) => socket.send(message, () => resolve()))
    socket.close(1000)
  })()
  // Nobody reads, so the server can only send what the sockets of both sides buffer.
  let before = -1
  while (before !== sent) {
    before = sent
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  expect(sent).toBeLessThan(total / 4)
  expect(channel.stdout.readableLength).toBeLessThan(512 << 10)
  expect(channel.isStalled).toBe(true)
  let length = 0
  for await (const chunk of channel.stdout as AsyncIterable<Buffer>) length += chunk.byteLength
  await flood
  expect(length).toBe(total * (message.byteLength - 1))
  expect(await channel.ended).toEqual({ how: 'done', detail: '' })
})

it('the attach channel stops the writer while the server does not read', async () => {
  const { channel, socket, received } = await connected()
  socket.pause()
  const part = Buffer.alloc(1 << 20, 'x')
  let isFull = false
  for (let count = 0; count < 64 && !isFull; count += 1) {
    isFull = await new Promise<boolean>((resolve) => {
      const late = setTimeout(() => resolve(true), 300)
      channel.stdin.write(part, () => {
        clearTimeout(late)
        resolve(false)
      })
    })
  }
  expect(isFull).toBe(true)
  expect(channel.stdin.writableNeedDrain).toBe(true)
  socket.resume()
  await once(channel.stdin, 'drain')
  expect(received.every((message) => message.byteLength <= (64 << 10) + 1)).toBe(true)
})

it.each([
  ['a process that has ended', bytes(3, '{"status":"Success"}'), { how: 'done', detail: '' }],
  ['an error of the node', bytes(3, '{"status":"Failure","message":"no stdin"}'), { how: 'done', detail: 'no stdin' }],
])('the attach channel reports how it ended: %s', async (_what, status, end) => {
  const { channel, socket } = await connected()
  channel.stdout.resume()
  socket.send(status)
  socket.close(1000)
  expect(await channel.ended).toEqual(end)
})

it('the attach channel distinguishes a broken connection from a closed one', async () => {
  const broken = await connected()
  broken.socket.terminate()
  expect(await broken.channel.ended).toMatchObject({ how: 'broken', detail: expect.stringContaining('1006') })
  const closed = await connected()
  closed.channel.close()
  expect((await closed.channel.ended).how).toBe('closed')
  expect(closed.channel.stdin.writable).toBe(false)
})

it('the attach channel ends when pings get no answer', async () => {
  const { channel } = await connected({ pace: 0.002 })
  expect(await channel.ended).toMatchObject({ how: 'broken', detail: expect.stringContaining('has not answered') })
})

it('the attach channel ignores an unknown channel and an empty message', async () => {
  const { channel, socket } = await connected()
  for (const message of [Buffer.alloc(0), Buffer.from([1]), bytes(9, 'x'), bytes(3, 'no json'), bytes(1, 'y')])
    socket.send(message)
  expect(String(await once(channel.stdout, 'data'))).toBe('y')
})

it('the attach channel reports why a server refuses it', async () => {
  const server = createServer(pair)
  server.on('upgrade', (_request, socket) => {
    const body = '{"kind":"Status","reason":"Forbidden","message":"pods is forbidden"}'
    socket.end(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  const connecting = new AttachChannel().connect(await clientOf(server), '/attach', 'kernel')
  await expect(connecting).rejects.toMatchObject({ status: 403, message: 'pods is forbidden' })
})

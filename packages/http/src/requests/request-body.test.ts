// This file verifies that what follows a body that is too large is read past, whoever answers.
import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { readBody } from './request-body.ts'

const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 'x'), Buffer.from('\r\n')])

it('a client that writes its whole body before it reads gets the answer to one that is too large', async () => {
  const server = http.createServer((request, response) => {
    void readBody(request, 1_000).catch((error: Error) => response.end(error.message))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  // More than the buffers of both sides hold.
  for (let at = 0; at < 200; at += 1) if (!socket.write(CHUNK)) await once(socket, 'drain')
  socket.write('0\r\n\r\n')
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 [^]+The request body exceeds 1000 bytes$/)
  socket.destroy()
  server.close()
})

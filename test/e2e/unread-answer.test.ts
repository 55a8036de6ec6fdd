// @module-tag whole: it waits for a client that does not read
// This file verifies that an answer which nobody reads holds its place among the open requests for a while only.
import { expect, it } from 'vitest'
import { modern } from '@sandbridge/core/test/support/bridges/raw-request.ts'
import { HEADERS, openSocket, useHttpBridge } from '@sandbridge/http/test/support/raw-http.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'

const { serve, bridge } = useHttpBridge()

it('the number of open requests is limited, and one whose answer is not read ends', async () => {
  const { port, status } = await serve({ openRequests: 1, stallMs: 4_000 })
  await savedOf(bridge().users.of(undefined).state).artifacts.save('large.bin', Buffer.alloc(8 * 1024 * 1024))
  const { headers, body } = modern('resources/read', { uri: 'sandbridge://artifact/large.bin' })
  const lines = Object.entries({ ...HEADERS, ...headers, 'content-length': String(body.length) })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const socket = await openSocket(port, `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${head}\r\n${body}`)
  // The response has begun, and the client stops reading.
  await new Promise((resolve) => socket.once('readable', resolve))
  expect(await status()).toBe(503)
  while ((await status()) !== 200) await new Promise((resolve) => setTimeout(resolve, 100))
})

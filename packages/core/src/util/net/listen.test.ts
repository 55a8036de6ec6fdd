import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { listen } from './listen.ts'

it('a server goes on when it cannot accept a connection, and says why when it cannot listen', async () => {
  const server = createServer()
  await listen(server, { port: 0, host: '127.0.0.1' })
  expect(() => server.emit('error', new Error('accept EMFILE'))).not.toThrow()
  const { port } = server.address() as { port: number }
  await expect(listen(createServer(), { port, host: '127.0.0.1' })).rejects.toThrow('EADDRINUSE')
  server.close()
})

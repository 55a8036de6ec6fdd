// This file verifies when a bridge counts as ready.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createHealth } from './health.ts'

async function serve(options: Parameters<typeof createHealth>[0]) {
  const answer = createHealth(options)
  const server = createServer((request: IncomingMessage, response) => answer(request, response, request.url!))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
}

it('the bridge is not ready before it has a sandbox, nor once it drains', async () => {
  let found = () => {}
  let isDraining = false
  const findProvider = vi.fn(() => new Promise<void>((resolve) => (found = resolve)))
  const status = await serve({ findProvider, isDraining: () => isDraining })
  expect([await status('/readyz'), await status('/readyz'), await status('/healthz')]).toEqual([503, 503, 200])
  // Unauthenticated requests can start one search, and no second one at the same time.
  expect(findProvider).toHaveBeenCalledTimes(1)
  found()
  await expect.poll(() => status('/readyz')).toBe(200)
  isDraining = true
  expect([await status('/readyz'), await status('/healthz')]).toEqual([503, 200])
})

it('the health check does not search for a sandbox again at once where none was found', async () => {
  const findProvider = vi.fn(() => Promise.reject(new Error('none')))
  const status = await serve({ findProvider, isDraining: () => false })
  for (let attempt = 0; attempt < 5; attempt += 1) expect(await status('/readyz')).toBe(503)
  expect(findProvider).toHaveBeenCalledTimes(1)
})

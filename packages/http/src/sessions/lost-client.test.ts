// This file verifies that the cell of an older client ends when the client is gone, and goes on when only its network
// was interrupted.
import { request as httpRequest } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { HEADERS, useHttpBridge } from '../../test/support/raw-http.ts'
import { message } from '@sandbridge/core/test/support/bridges/raw-request.ts'

const { serve, bridge } = useHttpBridge()

const LOST_MS = 60

/** A client that has sent a call. The cell runs until its signal aborts. */
async function startCell() {
  const { port, send } = await serve({ lostMs: LOST_MS })
  let begin: (signal: AbortSignal) => void = () => {}
  const begun = new Promise<AbortSignal>((resolve) => (begin = resolve))
  const cells = vi.spyOn(bridge().cells, 'run').mockImplementation(async (_session, { signal }) => {
    begin(signal!)
    return new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(new Error('cancelled'))))
  })
  onTestFinished(() => cells.mockRestore())
  const session = String((await send()).headers['mcp-session-id'])
  const open = (method: string, body?: string) => {
    const sent = httpRequest({
      host: '127.0.0.1',
      port,
      path: '/mcp',
      method,
      headers: { ...HEADERS, 'mcp-session-id': session },
    })
    sent.on('error', () => {})
    sent.end(body)
    return sent
  }
  const call = open('POST', message('tools/call', { name: 'run_python', arguments: { code: 'await work()' } }))
  const signal = await begun
  const ping = () => send({ headers: { 'mcp-session-id': session }, body: message('ping', {}) })
  return { call, signal, ping, openStream: () => open('GET') }
}

const later = () => new Promise((resolve) => setTimeout(resolve, 4 * LOST_MS))

it('the cell of an older client that was killed is cancelled', async () => {
  const { call, signal } = await startCell()
  await later()
  expect(signal.aborted).toBe(false)
  call.destroy()
  await expect.poll(() => signal.aborted).toBe(true)
})

it('the cell of an older client that lost the connection of its call goes on while another one is open', async () => {
  const { call, signal, openStream } = await startCell()
  const stream = openStream()
  await new Promise((resolve) => stream.once('response', resolve))
  call.destroy()
  await later()
  expect(signal.aborted).toBe(false)
  stream.destroy()
  await expect.poll(() => signal.aborted).toBe(true)
})

it('the cell of an older client that comes back in time goes on', async () => {
  const { call, signal, ping, openStream } = await startCell()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  call.destroy()
  expect((await ping()).status).toBe(200)
  const stream = openStream()
  await new Promise((resolve) => stream.once('response', resolve))
  vi.advanceTimersByTime(4 * LOST_MS)
  expect(signal.aborted).toBe(false)
  stream.destroy()
})

// A socket in front of the container engine's own that can be cut: the engine is gone for its users, and keeps running
// for all others.
import { chmodSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** Ends with the test. */
export async function startEngineProxy(engineSocket: string): Promise<{ address: string; cut: () => void }> {
  const folder = newFolder()
  chmodSync(folder, 0o755)
  const file = path.join(folder, 'engine.sock')
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: engineSocket, allowHalfOpen: true })
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => open.delete(socket))
    }
    near.pipe(far)
    far.pipe(near)
  })
  server.listen(file)
  await once(server, 'listening')
  const cut = () => {
    server.close()
    for (const socket of open) socket.destroy()
  }
  onTestFinished(cut)
  return { address: `unix://${file}`, cut }
}

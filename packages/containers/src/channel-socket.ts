// A Unix socket for the frames of one sandbox, which the engine's command then need not relay. Only this user, or the
// engine's, can enter its folder. The first connection is the sandbox's, since no cell has run; others are refused.
import { chown, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import path from 'node:path'
import { fitsSocketAddress, listenForAnyUser } from '@sandbridge/core/util/net'
import { makeTemporaryFolder } from '@sandbridge/core/isolation'

/** Its path in the sandbox. */
export const CHANNEL_TARGET = '/run/sandbridge.sock'

export interface ChannelSocket {
  path: string
  /** Resolves with the sandbox's connection; stays pending if it never connects. */
  connected: Promise<Socket>
  /** Accept no more connections. Idempotent. */
  close: () => void
}

/** @param engineUid the engine's user, if another @throws what node:net and node:fs throw */
export async function openChannelSocket(engineUid?: number): Promise<ChannelSocket> {
  const folder = await makeTemporaryFolder()
  const removeFolder = () => rm(folder, { recursive: true, force: true }).catch(() => {})
  try {
    const file = path.join(folder, 'channel')
    if (!fitsSocketAddress(file)) throw new Error(`${file} is too long for a socket`)
    const server = createServer()
    server.maxConnections = 1
    await listenForAnyUser(server, file)
    if (engineUid !== undefined) await chown(folder, engineUid, -1)
    server.on('error', () => {})
    const close = (): void => {
      if (!server.listening) return
      server.close()
      void removeFolder()
    }
    const connected = new Promise<Socket>((resolve) => {
      server.once('connection', (socket) => {
        close()
        resolve(socket)
      })
    })
    return { path: file, connected, close }
  } catch (error) {
    await removeFolder()
    throw error
  }
}

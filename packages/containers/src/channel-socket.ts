// A Unix socket for the frames of one sandbox, so that the engine's command need not relay them. It is in a folder that
// only this user, or the engine's, can enter. The first connection is the sandbox, since no cell has run before; later
// connections are refused.
import { chown, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import path from 'node:path'
import { fitsSocketAddress, listen } from '@sandbridge/core/util/net'
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

/**
 * @param engineUid the engine's user, if it is another one
 * @throws what node:net and node:fs throw if the socket cannot be created
 */
export async function openChannelSocket(engineUid?: number): Promise<ChannelSocket> {
  const folder = await makeTemporaryFolder()
  const removeFolder = () => rm(folder, { recursive: true, force: true }).catch(() => {})
  try {
    const file = path.join(folder, 'channel')
    if (!fitsSocketAddress(file)) throw new Error(`${file} is too long for a socket`)
    const server = createServer()
    server.maxConnections = 1
    // For processes of any user: the folder keeps others out.
    await listen(server, { path: file, readableAll: true, writableAll: true })
    if (engineUid !== undefined) await chown(folder, engineUid, -1)
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

// A Unix socket for the frames of one sandbox, so that the engine's command need not relay them. It is in a folder that
// only this user, or the engine's, can enter. The first connection is the sandbox, since no cell has run before; later
// connections are refused.
import { chown, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { fitsSocketAddress, listenForAnyUser } from '../../util/net/unix-socket.ts'
import { makeTemporaryFolder } from '../local/temporary-folder.ts'

/** Its path in the sandbox. */
export const CHANNEL_TARGET = '/run/sandbridge.sock'

export class ChannelSocket {
  readonly path: string
  /** Resolves with the sandbox's connection; stays pending if it never connects. */
  readonly connected: Promise<Socket>
  readonly #server: Server

  readonly #folder: string

  private constructor(server: Server, folder: string, file: string) {
    this.path = file
    this.#server = server
    this.#folder = folder
    this.connected = new Promise((resolve) => {
      server.once('connection', (socket) => {
        this.close()
        resolve(socket)
      })
    })
    server.on('error', () => {})
  }

  /**
   * @param engineUid the engine's user, if it is another one
   * @throws what node:net and node:fs throw if the socket cannot be created
   */
  static async open(engineUid?: number): Promise<ChannelSocket> {
    const folder = await makeTemporaryFolder()
    try {
      const file = path.join(folder, 'channel')
      if (!fitsSocketAddress(file)) throw new Error(`${file} is too long for a socket`)
      const server = createServer()
      server.maxConnections = 1
      await listenForAnyUser(server, file)
      if (engineUid !== undefined) await chown(folder, engineUid, -1)
      return new ChannelSocket(server, folder, file)
    } catch (error) {
      await rm(folder, { recursive: true, force: true }).catch(() => {})
      throw error
    }
  }

  /** Accept no more connections. Idempotent. */
  close(): void {
    if (!this.#server.listening) return
    this.#server.close()
    void rm(this.#folder, { recursive: true, force: true }).catch(() => {})
  }
}

// Accepts the connection of a kept sandbox: a Unix socket in a folder that is mounted read-only into its container and
// that no other user of this machine can enter. Anything in the container can connect, so a key identifies the first
// process; other connections are refused.
import { rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { fitsSocketAddress, listenForAnyUser } from '../../util/net/unix-socket.ts'
import { type Hello, MAX_HELLO_BYTES, parseHello } from './hello.ts'

/** The folder's path in the sandbox. */
export const DOOR_TARGET = '/run/sandbridge'
const SOCKET_NAME = 'bridge'
/** The socket's path in the sandbox. */
export const DOOR_SOCKET = `${DOOR_TARGET}/${SOCKET_NAME}`

/** Timeout for a connection to send its hello, and the most connections that may be waiting. */
const HELLO_MS = 5_000
const MAX_GUESTS = 16

export interface Entered {
  socket: Socket
  hello: Hello
}

/** True if a socket path in this folder is short enough. */
export function fitsSocket(folder: string): boolean {
  return fitsSocketAddress(path.join(folder, SOCKET_NAME))
}

export class Door {
  readonly #server: Server
  readonly #guests = new Set<Socket>()
  /** Resolves with the admitted connection; stays pending if there is none. */
  readonly entered: Promise<Entered>

  private constructor(server: Server, admits: (hello: Hello) => boolean) {
    this.#server = server
    this.entered = new Promise((resolve) => {
      server.on('connection', (socket) => {
        this.#guests.add(socket)
        socket.on('error', () => {}).once('close', () => this.#guests.delete(socket))
        listen(socket, (hello) => {
          if (!admits(hello)) {
            socket.destroy()
            return
          }
          this.#guests.delete(socket)
          this.close()
          resolve({ socket, hello })
        })
      })
    })
    server.on('error', () => {})
  }

  /** Replaces a socket that an earlier bridge left. @throws what node:net throws if the socket cannot be created */
  static async open(folder: string, admits: (hello: Hello) => boolean): Promise<Door> {
    const file = path.join(folder, SOCKET_NAME)
    await rm(file, { force: true })
    const server = createServer()
    server.maxConnections = MAX_GUESTS
    const door = new Door(server, admits)
    await listenForAnyUser(server, file)
    return door
  }

  /** Refuse all further connections. Idempotent. */
  close(): void {
    if (this.#server.listening) this.#server.close()
    for (const guest of this.#guests) guest.destroy()
  }
}

/** Reads the first line, and closes the connection if it is not a hello. */
function listen(socket: Socket, onHello: (hello: Hello) => void): void {
  const timer = setTimeout(() => socket.destroy(), HELLO_MS)
  const chunks: Buffer[] = []
  let size = 0
  const stop = (): void => {
    clearTimeout(timer)
    socket.off('data', onData).off('close', stop)
  }
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    size += chunk.length
    const isOver = chunk.includes(0x0a)
    if (!isOver && size < MAX_HELLO_BYTES) return
    stop()
    socket.pause()
    const all = Buffer.concat(chunks)
    const end = all.indexOf(0x0a)
    const hello = isOver && end <= MAX_HELLO_BYTES ? parseHello(all.toString('latin1', 0, end)) : undefined
    if (hello) onHello(hello)
    else socket.destroy()
  }
  socket.on('data', onData).once('close', stop)
}

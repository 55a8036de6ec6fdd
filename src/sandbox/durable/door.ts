// Where a kept sandbox finds its bridge: a Unix socket in a folder that is mounted into its container, read-only, and that nobody else of this
// machine can look into. Everything in the container can connect. The first process is told by its key; others are turned away.
import { rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import path from 'node:path'
import { fitsSocketAddress, listenForAnyUser } from '../../process/unix-socket.ts'
import { type Hello, MAX_HELLO_BYTES, parseHello } from './hello.ts'

/** The folder as the sandbox sees it. */
export const DOOR_TARGET = '/run/sandbridge'
const SOCKET_NAME = 'bridge'
/** What the sandbox connects to. */
export const DOOR_SOCKET = `${DOOR_TARGET}/${SOCKET_NAME}`

/** How long one that connects may take to say who it is, and how many may be about to. */
const HELLO_MS = 5_000
const MAX_GUESTS = 16

export interface Entered {
  socket: Socket
  hello: Hello
}

/** Whether a socket can be made in this folder. */
export function fitsSocket(folder: string): boolean {
  return fitsSocketAddress(path.join(folder, SOCKET_NAME))
}

export class Door {
  readonly #server: Server
  readonly #guests = new Set<Socket>()
  /** The one that was let in; pending for ever when none is. */
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

  /** Replaces what an earlier bridge has left. @throws what node:net throws where none can be made */
  static async open(folder: string, admits: (hello: Hello) => boolean): Promise<Door> {
    const file = path.join(folder, SOCKET_NAME)
    await rm(file, { force: true })
    const server = createServer()
    server.maxConnections = MAX_GUESTS
    const door = new Door(server, admits)
    await listenForAnyUser(server, file)
    return door
  }

  /** Let nobody in any more. Idempotent. */
  close(): void {
    if (this.#server.listening) this.#server.close()
    for (const guest of this.#guests) guest.destroy()
  }
}

/** Tells the first line, and gives up on one that is none. */
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

// A resident's named pipe on Windows. Any user may list pipes and open them, and may take a name that is free. So the
// name is a random one, its file holds a secret beside it, and each side proves that it knows the secret. A program
// that may impersonate its callers, such as a web server, only needs them to connect: so a relay does not connect to
// the name that a killed resident has left.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { readOrdinaryText } from '@sandbridge/core/util/files'
import { proveAsRelay, proveAsResident } from './proof.ts'

const SECRET_BYTES = 32
const NAME = /^\\\\\.\\pipe\\sandbridge-[0-9a-f]{32}$/
/** A pipe whose owner accepts nobody keeps its callers waiting. */
const CONNECT_MS = 5_000

/** Connects to the pipe of this file. @throws what node:fs throws, and Error for another file and a killed resident */
export function dialPipe(socket: Socket, file: string, onOpen: () => void): void {
  // Its owner has given up meanwhile.
  if (socket.destroyed) return
  const [name = '', secret = '', pid = ''] = readOrdinaryText(file).split('\n')
  const key = Buffer.from(secret, 'hex')
  if (!NAME.test(name) || key.length !== SECRET_BYTES) throw new Error(`${file} names no pipe`)
  process.kill(Number(pid), 0)
  socket.setTimeout(CONNECT_MS, () => socket.destroy())
  socket.connect(name, () => {
    socket.setTimeout(0)
    proveAsRelay(socket, key, onOpen)
  })
}

/**
 * Writes the file of a new pipe, for a server that listens on it.
 * @param admit gets the sockets that have proved themselves
 * @returns the name of the pipe. Windows lets no second process listen on it
 * @throws what node:fs throws
 */
export function makePipe(server: Server, file: string, admit: (socket: Socket) => void): string {
  const name = `\\\\.\\pipe\\sandbridge-${randomBytes(16).toString('hex')}`
  const secret = randomBytes(SECRET_BYTES)
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    proveAsResident(socket, secret, () => admit(socket))
  })
  writeFileSync(file, `${name}\n${secret.toString('hex')}\n${process.pid}\n`, { mode: 0o600, flag: 'wx' })
  return name
}

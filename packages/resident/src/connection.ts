// How a client reaches a resident: through a Unix socket in the resident's folder. On Windows, a file of the same name
// says which named pipe it is, and both sides first prove that they know what else the file says: see pipe.ts.
import { connect, type Server, Socket } from 'node:net'
import { listen } from '@sandbridge/core/util/net'

/** @param onOpen listens to the socket from now on, and may write */
export function dial(socketPath: string, onOpen: () => void): Socket {
  if (process.platform !== 'win32') return connect(socketPath, onOpen)
  const socket = new Socket()
  const fail = (error: Error): void => void socket.destroy(error)
  void import('./pipe.ts').then(({ dialPipe }) => dialPipe(socket, socketPath, onOpen)).catch(fail)
  return socket
}

/** @param admit gets each client's socket. @throws what node:fs and node:net throw */
export async function listenTo(server: Server, socketPath: string, admit: (socket: Socket) => void): Promise<void> {
  let address = socketPath
  if (process.platform === 'win32') address = (await import('./pipe.ts')).makePipe(server, socketPath, admit)
  else server.on('connection', admit)
  await listen(server, { path: address })
}

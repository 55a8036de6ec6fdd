// How a client reaches a resident: through a Unix socket in the resident's folder. On Windows, a file of the same name
// says which named pipe it is, and both sides first prove that they know what else the file says: see pipe.ts.
import { connect, Socket } from 'node:net'

/** @param onOpen listens to the socket from now on, and may write */
export function dial(socketPath: string, onOpen: () => void): Socket {
  if (process.platform !== 'win32') return connect(socketPath, onOpen)
  const socket = new Socket()
  const fail = (error: Error): void => void socket.destroy(error)
  void import('./pipe.ts').then(({ dialPipe }) => dialPipe(socket, socketPath, onOpen)).catch(fail)
  return socket
}

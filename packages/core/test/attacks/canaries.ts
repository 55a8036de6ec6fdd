// Targets on the host for attacks: a file, an environment variable, listeners on loopback, a path to write. Detects
// whether any was reached.
import { createSocket } from 'node:dgram'
import { rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { newFolder } from '../support/machine/new-folder.ts'

export interface Canaries {
  /** The environment of a process on the host. */
  env: NodeJS.ProcessEnv
  /** Python that sets the names that attacks use. */
  preamble(): string
  /** What has escaped since the last call, if anything; removes the traces. */
  traces(output: string): Promise<string | undefined>
  close(): Promise<void>
}

export async function openCanaries(): Promise<Canaries> {
  const folder = newFolder()
  const secret = `secret-${randomUUID()}`
  const file = join(folder, 'secret.txt')
  await writeFile(file, secret)
  let visits = 0
  const count = (): void => {
    visits += 1
  }
  const listen = async (where: number | string): Promise<Server> => {
    const server = createServer((socket) => {
      count()
      socket.on('error', () => {})
      socket.end('HTTP/1.0 200 OK\r\n\r\n')
    })
    if (typeof where === 'number') server.listen(where, '127.0.0.1')
    else server.listen(where)
    await once(server, 'listening')
    return server
  }
  const tcp = await listen(0)
  const unixSocket = process.platform === 'win32' ? `\\\\.\\pipe\\${randomUUID()}` : join(folder, 'socket')
  const unix = await listen(unixSocket)
  const udp = createSocket('udp4').on('message', count)
  udp.bind(0, '127.0.0.1')
  await once(udp, 'listening')
  // Set in this process's environment, because it stands for the bridge, which starts sandboxes and has the user's
  // secrets.
  process.env['SANDBRIDGE_CANARY'] = secret
  const env = { ...process.env }
  let marker = 0
  const markerPath = (): string => join(folder, `marker-${marker}`)

  return {
    env,
    preamble: () =>
      Object.entries({
        FILE: file,
        MARKER: markerPath(),
        PORT: (tcp.address() as AddressInfo).port,
        UDP_PORT: udp.address().port,
        UNIX_SOCKET: unixSocket,
        HOST_PID: process.pid,
      })
        .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
        .join(''),
    async traces(output) {
      // A connection becomes visible shortly after the attacker has made it.
      await new Promise((resolve) => setTimeout(resolve, 20))
      const left = await stat(markerPath()).then(
        () => true,
        () => false,
      )
      marker += 1
      const visited = visits > 0
      visits = 0
      if (/^ESCAPED/m.test(output)) return 'it said so'
      if (output.includes(secret)) return 'it printed the secret'
      if (left) return 'it left a file'
      return visited ? 'it reached a listener' : undefined
    },
    async close() {
      tcp.close()
      unix.close()
      udp.close()
      delete process.env['SANDBRIDGE_CANARY']
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// What is the same for all Unix sockets that we listen on.
import type { Server } from 'node:net'

/** An address may have 108 bytes on Linux and 104 on macOS, with its end. Node cuts off what is longer, which leads out of the folder. */
const MAX_ADDRESS_BYTES = 100

export function fitsSocketAddress(file: string): boolean {
  return Buffer.byteLength(file) <= MAX_ADDRESS_BYTES
}

/** Listen for a process of any user: the folder of the file keeps others out. @throws what node:net throws */
export async function listenForAnyUser(server: Server, file: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path: file, readableAll: true, writableAll: true }, resolve)
  })
}

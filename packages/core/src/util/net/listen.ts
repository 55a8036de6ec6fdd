// Starts to accept connections.
import { once } from 'node:events'
import type { ListenOptions, Server } from 'node:net'

/** Listens. From then on, a connection that cannot be accepted is no reason to end. @throws what node:net throws */
export async function listen(server: Server, place: ListenOptions): Promise<void> {
  await once(server.listen(place), 'listening')
  server.on('error', () => {})
}

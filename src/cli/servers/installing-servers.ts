// Servers that other bridges of this user are installing now.
import { LiveClient } from '../../observe/live/live-client.ts'
import { liveBridges } from '../../observe/live/live-folder.ts'

/** Returns when the installation of each began, in milliseconds since 1970. Never rejects. */
export async function installingServers(stateDir: string): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  const bridges = await liveBridges(stateDir).catch(() => [])
  await Promise.all(
    bridges.map(async (bridge) => {
      const client = await LiveClient.attach(bridge).catch(() => undefined)
      for (const [name, { state, since }] of client?.state.servers ?? [])
        if (state === 'installing') found.set(name, since)
      client?.close()
    }),
  )
  return found
}

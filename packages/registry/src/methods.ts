// The methods for registries: servers that the user has not configured.
import * as z from 'zod'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { openRegistries } from './open-registries.ts'
import { summaryLine, summaryOf } from './server/describe-server.ts'
import { requestServer } from './adding/request-server.ts'
import { method, tellingMethod } from '@sandbridge/core/calls/methods'

const MAX_QUERY_CHARS = 2_000
const MAX_FOUND = 50

export function registryMethods(bridge: Bridge) {
  const registries = openRegistries(bridge.settings, bridge.log)
  return {
    find_servers: tellingMethod(
      z.object({ query: z.string().max(MAX_QUERY_CHARS), limit: z.int().min(1).max(MAX_FOUND).default(5) }),
      async ({ query, limit }, { notes, signal, flow }) => {
        const found = await registries.find(query, { limit, signal })
        for (const note of found.notes) notes.add(note)
        const servers = found.servers.map((server) => {
          const summary = summaryOf(server)
          return { ...summary, line: summaryLine(summary) }
        })
        // Anyone can publish a server. No server of a config file that is called so speaks for them.
        await flow?.opens('registries', [JSON.stringify(servers)])
        return servers
      },
    ),

    request_server: method(z.object({ server: z.string().min(1).max(500) }), ({ server }, context) =>
      requestServer(server, { ...context, registries, bridge }),
    ),
  }
}

// Starts every server and lists its tools: reports how long that takes, or why it fails. Without a start, reports those
// that failed when they were last asked.
import type { OpenTenant } from '@sandbridge/core/bridge/open-tenant.ts'
import type { KnownServer } from '@sandbridge/core/calls/catalog/known-server.ts'
import { shellWord } from '@sandbridge/core/config/secrets/command-line.ts'
import { messageOf } from '@sandbridge/core/errors.ts'
import { mapFew } from '@sandbridge/core/util/async/map-few.ts'
import { count } from '@sandbridge/core/util/text/count.ts'
import { shortReason } from '@sandbridge/core/cli/terminal/server-notes.ts'
import type { Finding } from '@sandbridge/core/cli/finding.ts'

export async function checkServers({ upstreams, discovered }: OpenTenant): Promise<Finding[]> {
  return mapFew(discovered.servers, async ({ name }): Promise<Finding> => {
    const startedAt = performance.now()
    const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
    try {
      const tools = await upstreams.listTools(name)
      return { check: 'servers', level: 'ok', message: `${name}: ${count(tools.length, 'tool')} in ${seconds()}.` }
    } catch (error) {
      const message = `${name} failed after ${seconds()}: ${shortReason(name, messageOf(error))}`
      return { check: 'servers', level: 'warning', message, advice: logOf(name) }
    }
  })
}

/** Starts nothing. */
export function failedServers(servers: readonly KnownServer[]): Finding[] {
  return servers.flatMap(({ name, problem }): Finding[] => {
    if (problem === undefined) return []
    const message = `${name}: ${shortReason(name, problem)}`
    return [{ check: 'servers', level: 'warning', message, advice: logOf(name) }]
  })
}

const logOf = (name: string): string => `sandbridge servers ${shellWord(name)} --log`

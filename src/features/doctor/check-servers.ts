// Starts every server and lists its tools: reports how long that takes, or why it fails. Without a start, reports those
// that failed when they were last asked.
import type { OpenTenant } from '../../bridge/open-tenant.ts'
import type { KnownServer } from '../../calls/catalog/known-server.ts'
import { shellWord } from '../../config/secrets/command-line.ts'
import { messageOf } from '../../errors.ts'
import { mapFew } from '../../util/async/map-few.ts'
import { count } from '../../util/text/count.ts'
import { shortReason } from '../../cli/terminal/server-notes.ts'
import type { Finding } from '../../cli/finding.ts'

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

// Starts every server and lists its tools: how long, or why not. Without a start, those that failed last.
import type { OpenTenant } from '@sandbridge/core/bridge'
import type { KnownServer } from '@sandbridge/core/calls/catalog'
import { shellWord } from '@sandbridge/core/config/secrets'
import { messageOf } from '@sandbridge/core/errors.ts'
import { mapFew } from '@sandbridge/core/util/async'
import { count } from '@sandbridge/core/util/text'
import { shortReason } from '@sandbridge/shared/servers/server-notes.ts'
import { describeSignIn, signInState } from '@sandbridge/shared/servers/describe-sign-in.ts'
import type { Finding } from '@sandbridge/core/serve/cli'

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

/** Sign-ins that are over, or cannot be read. Asks no server. */
export async function checkSignIns({ discovered, set }: OpenTenant): Promise<Finding[]> {
  const store = set.connected.tokenStore
  const problem = await store.problem()
  const states = await Promise.all(
    discovered.servers.map(async (server) => ({ name: server.name, state: await signInState(server, store) })),
  )
  const damaged: Finding = {
    check: 'sign-ins',
    level: 'warning',
    message: `${problem}: its sign-ins are lost.`,
    advice: 'sandbridge doctor --fix sets it aside. Then sign in again: sandbridge login NAME',
    fix: () => store.forget([]),
  }
  const told = states.flatMap(({ name, state }): Finding[] => {
    if (state?.uses !== 'sign-in') return []
    const message = `${name}: ${describeSignIn(state)}.`
    if (state.ended === undefined) return [{ check: 'sign-ins', level: 'ok', message }]
    return [{ check: 'sign-ins', level: 'warning', message, advice: `sandbridge login ${shellWord(name)}` }]
  })
  return problem === undefined ? told : [damaged, ...told]
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

// For `sandbridge servers`: which servers run in resident bridges.
import type { ServerProcess } from '@sandbridge/core/serve/cli/package.ts'
import { findResidents } from './ask-resident.ts'

/** For whom each runs, and why others have their own. */
export async function serverProcesses(stateDir: string): Promise<ServerProcess[]> {
  const processes = new Map<string, ServerProcess>()
  for (const { status } of await findResidents(stateDir)) {
    for (const { pid, cwd, servers: theirs } of status?.clients ?? []) {
      for (const { server: name, state, process, reason } of theirs) {
        if (state === 'not-started' || state === 'failed') continue
        const key = JSON.stringify([status?.pid, name, process ?? `client ${pid}`])
        const one = processes.get(key) ?? { server: name, state, clients: [], ...(reason && { reason }) }
        one.clients.push({ pid, cwd })
        processes.set(key, one)
      }
    }
  }
  return [...processes.values()]
}

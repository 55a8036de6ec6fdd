// Adds a server: tries it, and keeps it if it starts.
import { findPrograms } from '../process/find-program.ts'
import type { Log } from '../log.ts'
import type { UpstreamTool } from '../upstream/upstream.ts'
import { AddedServers } from './added-servers.ts'
import type { Addition } from './plan-addition.ts'
import { tryServer } from './quarantine.ts'

interface AddOptions {
  stateDir: string
  clientInfo: { name: string; version: string }
  log: Log
  answers: ReadonlyMap<string, string>
  signal?: AbortSignal | undefined
}

/** @returns its tools. @throws BridgeError SERVER_REFUSED, and why it did not start */
export async function addServer(
  addition: Addition,
  { stateDir, answers, ...options }: AddOptions,
): Promise<UpstreamTool[]> {
  const tools = await tryServer(addition, { ...options, answers })
  await new AddedServers(stateDir).save(addition, { answers, tools })
  return tools
}

/** What runs container images here. */
export async function engineName(): Promise<string> {
  for (const engine of ['podman', 'docker']) if ((await findPrograms(engine)).length > 0) return engine
  return 'docker'
}

// Adds a server: starts it once, and saves it if it starts.
import type { ClientContext, Settings } from '@sandbridge/core/config/settings'
import type { ServerSandbox } from '@sandbridge/core/config/entries'
import { jails } from '@sandbridge/core/parts'
import { findPrograms } from '@sandbridge/core/util/process'
import type { Log } from '@sandbridge/core/util'
import type { UpstreamJail, UpstreamTool } from '@sandbridge/core/upstream'
import { AddedServers } from './added-servers.ts'
import type { Addition } from './plan-addition.ts'
import { tryServer } from './quarantine.ts'

interface AddOptions {
  stateDir: string
  clientInfo: { name: string; version: string }
  log: Log
  context: ClientContext
  jail: UpstreamJail
  answers: ReadonlyMap<string, string>
  signal?: AbortSignal | undefined
}

/** @returns its tools. @throws BridgeError SERVER_REFUSED, and the error of its start */
export async function addServer(
  addition: Addition,
  { stateDir, answers, ...options }: AddOptions,
): Promise<UpstreamTool[]> {
  const tools = await tryServer(addition, { ...options, answers })
  await new AddedServers(stateDir).save(addition, { answers, tools })
  return tools
}

/** The default jail of a registry's server: it may reach the public internet and write to its own home folder. */
const JAIL = { network: { allowedDomains: ['*'] } }

/**
 * Puts an addition in a jail, unless it is a container itself. It stays jailed when it is saved.
 * @param sandbox the one of an earlier version
 */
export function inJail(addition: Addition, sandbox: ServerSandbox = JAIL): Addition {
  const { entry, kind } = addition
  return 'command' in entry && kind !== 'oci' ? { ...addition, entry: { ...entry, sandbox } } : addition
}

/** Puts an addition in a jail, where one can be made. */
export async function jailed(
  addition: Addition,
  { jailImage: image, upstreams }: Pick<Settings, 'jailImage' | 'upstreams'>,
): Promise<Addition> {
  const inside = inJail(addition)
  if (inside === addition || upstreams === 'pods') return inside
  if (!jails.isHere) return addition
  const { findJailMaker } = await jails.for('A server of a registry')
  return typeof (await findJailMaker(image)) === 'string' ? addition : inside
}

/** The engine that runs container images here. */
export async function engineName(): Promise<string> {
  for (const engine of ['podman', 'docker']) if (findPrograms(engine).length > 0) return engine
  return 'docker'
}

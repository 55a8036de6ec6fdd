// Finds what jails a server, for `doctor` and `servers NAME`. May start short-lived processes and containers.
import type { ServerDefinition } from '@sandbridge/core/config/entries'
import type { Settings } from '@sandbridge/core/config/settings'
import { messageOf } from '@sandbridge/core/errors.ts'
import { type JailMakerName, jails } from '@sandbridge/core/parts'

export interface ServerJail {
  /** The server's name. */
  name: string
  /** What jails it. */
  engine?: JailMakerName | 'a pod'
  /** Why no engine can jail it, so that the server does not start. */
  problem?: string
}

/** Undefined for a server that is not jailed. */
export async function jailOf(
  { name, transport }: ServerDefinition,
  { jailImage: image, upstreams }: Pick<Settings, 'jailImage' | 'upstreams'>,
): Promise<ServerJail | undefined> {
  if (transport.type !== 'stdio') return undefined
  if (upstreams === 'pods') {
    try {
      const { programInPod } = await jails.for('MCP_BRIDGE_KUBERNETES=servers=pods')
      programInPod(name, transport, image)
      return { name, engine: 'a pod' }
    } catch (error) {
      return { name, problem: messageOf(error).replace(/\.$/, '') }
    }
  }
  if (!transport.sandbox) return undefined
  if (!jails.isHere) return { name, problem: 'this build has no jails' }
  const { findJailMaker } = await jails.for(`The sandbox of ${name}`)
  const maker = await findJailMaker(transport.sandbox.image ?? image)
  return typeof maker === 'string' ? { name, problem: maker } : { name, engine: maker.name }
}

// What jails a server on this machine, for `doctor` and `servers NAME`. It may start processes and containers, which end at once.
import type { ServerDefinition } from '../config/server-definition.ts'
import { findJailMaker, type JailMakerName } from '../upstream/stdio/jail/jail-maker.ts'

export interface ServerJail {
  /** The server's. */
  name: string
  /** What jails it. */
  engine?: JailMakerName
  /** Why nothing does, so that the server does not start. */
  problem?: string
}

/** Undefined for a server that is not jailed. @param image of servers whose definition names none */
export async function jailOf({ name, transport }: ServerDefinition, image?: string): Promise<ServerJail | undefined> {
  if (transport.type !== 'stdio' || !transport.sandbox) return undefined
  const maker = await findJailMaker(transport.sandbox.image ?? image)
  return typeof maker === 'string' ? { name, problem: maker } : { name, engine: maker.name }
}

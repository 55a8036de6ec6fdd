// Jails of servers, as far as the core knows them.
import { hash } from 'node:crypto'
import path from 'node:path'
import type { ServerDefinition, ServerSandbox, StdioServer } from '../config/entries/server-definition.ts'
import type { ClientContext } from '../config/settings/client-context.ts'
import { Part } from '../util/part.ts'
import type { Program, StartedProgram } from './provider.ts'

/** A server whose definition asks for a jail does not start without this part. */
export const jails = new Part<JailsPart>('jails of servers')

interface JailsPart {
  /**
   * @param definition whose server it is
   * @param server with its placeholders filled in
   * @param context the working directory of a server without a `cwd`, and the variables that it inherits
   * @throws BridgeError UPSTREAM_JAIL_UNAVAILABLE, CONFIG_INVALID; NodeJS.ErrnoException for a command that does not
   * exist
   */
  openJail: (
    definition: Pick<ServerDefinition, 'name' | 'isPublishers'>,
    server: StdioServer & { sandbox: ServerSandbox },
    context: Pick<ClientContext, 'cwd' | 'env'>,
    place: JailPlace,
  ) => Promise<Jail>
  /** Returns what makes a jail, or why nothing does. @param image of the server; it then runs in a container */
  findJailMaker: (image?: string) => Promise<{ name: JailMakerName } | string>
  /**
   * What the definition of a server means in a pod.
   * @param fallback the image of servers whose definition names none
   * @throws BridgeError UPSTREAM_JAIL_UNAVAILABLE, CONFIG_INVALID
   */
  programInPod: (name: string, server: StdioServer, fallback?: string) => Omit<Program, 'onStderr'>
  /** The user's files and folders that arguments name, without those that no jail opens. */
  userPlacesIn: (
    args: readonly string[],
    request: { cwd: string; home: string; stateDir: string; hidden: readonly string[] },
  ) => Promise<string[]>
}

export type JailMakerName = 'bubblewrap' | 'podman' | 'docker'

/** Where and how jails are made. */
export interface JailPlace {
  /** The user's home folder, which jails hide. */
  home: string
  /** The bridge's state folder, which contains a home folder for each jailed server. */
  stateDir: string
  /** The image of servers whose definition names none. Missing means the programs of this machine. */
  image?: string | undefined
  /** Starts servers in pods of a cluster instead. When set, every jailed server is started this way. */
  startProgram?: ((program: Program) => Promise<StartedProgram>) | undefined
  /** The allowed jail-makers; missing means all. */
  makers?: readonly JailMakerName[]
  /** Folders and files of the bridge and of other servers. Read whenever a server is started. */
  hidden: () => readonly string[]
  /** A server tried to reach a host that is not allowed. */
  onRefused: (server: string, host: string, reason: string) => void
}

/** How to start a process instead. */
export interface Launch {
  command: string
  args: string[]
  env: Record<string, string>
  /** Content of descriptor 3. */
  extraInput?: Buffer
}

export interface Jail {
  launch: Launch
  /** Frees what remains after the process has exited. Resolves when nothing is left. Never rejects. */
  release: () => Promise<void>
}

/** The home folder of a jailed server, whether or not it exists. */
export function jailHome(name: string, stateDir: string): string {
  const readable = name.replaceAll(/[^\w.-]/g, '_').slice(0, 40)
  const digest = hash('sha256', name).slice(0, 8)
  return path.join(stateDir, '.sandbridge', 'jail', `${readable}-${digest}`)
}

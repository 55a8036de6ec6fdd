// What all servers of one set have in common: where they run, as whom, and within which limits.
import type { RemoteServer, ServerDefinition, StdioServer } from '../../config/entries/server-definition.ts'
import type { ClientContext } from '../../config/settings/client-context.ts'
import type { JailPlace } from '../../isolation/jail-part.ts'
import type { EventStream } from '../../observe/events/event-stream.ts'
import type { Log } from '../../util/log.ts'
import type { SignInPlace } from '../sign-in-part.ts'
import type { SignIns } from '../auth/sign-ins.ts'
import type { UpstreamRequests } from '../connection/requests.ts'
import type { InstallLimits } from '../installs-part.ts'
import type { Callers } from './callers.ts'
import type { Via } from '../dial.ts'

/** How a server was reached, so that the next connection need not try others first. */
export interface Reached {
  via: Via
  era: 'legacy' | 'modern'
  /** Milliseconds since 1970. */
  at: number
}

export interface UpstreamPlace {
  /** The client info sent to servers. */
  clientInfo: { name: string; version: string }
  log: Log
  events: EventStream
  /** What local servers inherit, the working directory of those without a `cwd`, and where proxy settings come from. */
  context: Pick<ClientContext, 'env' | 'cwd' | 'home'>
  /** Time from a server's start to its first response, when its definition sets none. */
  startTimeoutMs: number
  /** How long an unused server keeps running; 0 means forever. */
  idleMs: number
  /** How long a server that left a call unanswered may take to answer a ping. */
  pingTimeoutMs?: number | undefined
  /** How long a package manager may take to install a server. */
  installLimits?: Partial<InstallLimits> | undefined
  /** Fills in a definition's placeholders when its server starts. @throws BridgeError */
  resolveTransport: (definition: ServerDefinition) => StdioServer | RemoteServer | Promise<StdioServer | RemoteServer>
  /** Answers requests of servers, depending on the callers with open calls; called for every connection. */
  requests: (callers: Callers) => UpstreamRequests
  /** Missing means that users sign in on this machine. */
  signInPlace?: SignInPlace | undefined
  signIns: SignIns
  /** Remembers how each server was reached. */
  reached: {
    of: (definition: ServerDefinition) => Reached | undefined
    keep: (definition: ServerDefinition, reached: Reached) => void
  }
  /** Home folders of jailed servers, and what jails must hide. Missing means that no server can be jailed. */
  jail?: Omit<JailPlace, 'onRefused'>
  /** Whether a server may be this program, as its own answer says: behind a launcher, no command line tells. */
  allowSelf: boolean
  /** Allow remote servers at link-local and metadata addresses. */
  allowLinkLocal: boolean
  /** The clock, in milliseconds. */
  now: () => number
  random: () => number
}

// Finds the session of a request: a connection's own, or the one that a handle names.
import type { Bridge } from '../../bridge/bridge.ts'
import type { Tenant } from '../../bridge/tenants/tenant.ts'
import type { Session } from '../../cell/session/session.ts'

/** Called after the cell, as the handle may contain the session's place. Undefined when the client has the handle. */
export type NewHandle = () => string | undefined

export type SessionWork<T> = (session: Session, newHandle?: NewHandle) => Promise<T>

export interface Sessions {
  /**
   * Runs `work` in the session that `handle` names; without a handle, in the conversation's own session or a new one.
   * @param program of a client that is never given a handle: its calls share a session
   * @param work can ask for the new handle that the client must use from now on
   * @throws BridgeError SESSION_UNKNOWN for an unknown handle, SESSION_LIMIT when too many sessions exist, and what
   * `work` throws
   */
  use<T>(handle: string | undefined, work: SessionWork<T>, program?: string): Promise<T>
  /** The session of all requests; missing where a client names a session with each call. */
  readonly only?: Session
  /** Sessions whose output the client may read. */
  readable(): Iterable<Session>
  /** Servers whose text the client's models have read. Two sessions may have the same model. */
  readonly seen: Set<string>
}

/** A loaded bridge, and the client's sessions in it. */
export interface Conversation {
  bridge: Bridge
  sessions: Sessions
  tenant: Tenant
}

/** One session for all requests. */
export function oneSession(session: Session): Sessions {
  return {
    only: session,
    use: (_handle, work) => work(session),
    readable: () => [session],
    seen: new Set(),
  }
}

// Finds the session of a request: a connection's own, or the one that a handle names.
import type { Session } from '../../cell/session/session.ts'

/** Called after the cell, as the handle may contain the session's place. Undefined when the client has the handle. */
export type NewHandle = () => string | undefined

export type SessionWork<T> = (session: Session, newHandle?: NewHandle) => Promise<T>

export interface Sessions {
  /**
   * Runs `work`, which may ask for a new handle, in the session of `handle`, else in the conversation's or a new one.
   * @param program its calls share a session @throws BridgeError SESSION_UNKNOWN, SESSION_LIMIT, as `work`
   */
  use<T>(handle: string | undefined, work: SessionWork<T>, program?: string): Promise<T>
  /** The session of all requests; missing where a client names a session with each call. */
  readonly only?: Session
  /** Sessions whose output the client may read. */
  readable(): Iterable<Session>
  /** Servers whose text the client's models have read. Two sessions may have the same model. */
  readonly seen: Set<string>
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

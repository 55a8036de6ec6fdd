// Which session of the bridge a request is for. Over a connection of its own a conversation has one; a client whose requests stand alone names one by its handle.
import type { Session } from '../session/session.ts'

/** Asked once the cell has run: where the session is may be part of its handle. Undefined when the client has it. */
export type NewHandle = () => string | undefined

export interface Sessions {
  /**
   * Do some work in a session: the one that `handle` stands for, or without one the conversation's own, or else a new one.
   * @param work can ask for the handle that the client is to come back with, where that is a new one
   * @throws BridgeError SESSION_UNKNOWN for a handle of none, SESSION_LIMIT when there are too many already, and what `work` throws
   */
  use<T>(handle: string | undefined, work: (session: Session, newHandle?: NewHandle) => Promise<T>): Promise<T>
  /** Those whose output the client may read. */
  readable(): Iterable<Session>
}

/** All requests are for one session. */
export function oneSession(session: Session): Sessions {
  return { use: (_handle, work) => work(session), readable: () => [session] }
}

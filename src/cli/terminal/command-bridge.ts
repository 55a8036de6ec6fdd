// What commands use of a bridge: of their own, or of a resident with the servers of the folder they were typed in.
import type { Bridge } from '../../bridge/bridge.ts'
import type { Cells } from '../../bridge/cells.ts'
import type { OpenSessions } from '../../bridge/open-sessions.ts'

export interface CommandBridge extends Pick<
  Bridge,
  'settings' | 'log' | 'users' | 'own' | 'catalog' | 'upstreams' | 'servers' | 'discovered' | 'recordFailure'
> {
  sessions: Pick<OpenSessions, 'open'>
  cells: Pick<Cells, 'run'>
  /** End what the command has started. */
  close(): Promise<void>
}

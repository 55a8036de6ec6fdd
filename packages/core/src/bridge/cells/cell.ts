// A cell, from request to result. One object goes through all rooms: session, proxy and permissions.
import type { SessionFlow } from '../../calls/flow-part.ts'
import type { CellApps, CellContext } from '../../calls/methods/method.ts'
import type { CellJournal } from '../../calls/once-part.ts'
import type { Hold } from '../../calls/permissions/answer-page.ts'
import type { CellOf } from '../../calls/permissions/gates-part.ts'
import type { Asker } from '../../calls/questions/questions.ts'
import type { CellMasker } from '../../cell/masking-part.ts'
import type { CellRequest } from '../../cell/session/cell-run.ts'
import type { WatchedFlows } from '../../config/rules/flow.ts'
import type { RunLog } from '../../observe/events/run-log.ts'
import type { TraceContext } from '../../observe/events/trace-context.ts'
import type { Upstreams } from '../../upstream/upstream-set.ts'
import type { ServerSet } from '../tenants/server-set.ts'
import type { Tenant } from '../tenants/tenant.ts'

export interface RunCellRequest extends Pick<
  CellRequest,
  'code' | 'language' | 'aside' | 'guest' | 'timeoutMs' | 'timeLimit' | 'signal' | 'listeners'
> {
  /** Names or aliases of servers; the cell can reach only these. */
  servers?: string[] | undefined
  /** Missing where the client shows no apps. */
  apps?: CellApps | undefined
  /** Answers questions that upstreams ask during the cell's calls. */
  asker?: Asker
  /** For an unattended cell: where a rule says to ask, only calls of these tools are made. */
  allowed?: readonly { server: string; tool: string }[]
  /** The workflow that the cell runs without a model. */
  workflow?: WatchedFlows
  /** Of its calls, in place of the session's. */
  journal?: CellJournal
  /** Serves the cell's calls in place of the bridge's own upstreams. */
  upstreams?: Upstreams
  /** The reader is a person at a terminal: hints then say what to do, instead of what to ask the user. */
  forPerson?: boolean
  /** False when the session ends with the cell, so that a question cannot be answered later. */
  keepsQuestions?: boolean
  /** The page shows this cell, and questions about its calls in it: they wait, in this way, for an answer there. */
  hold?: Hold
  /** The client's run that contains the cell. */
  run?: RunOrigin
}

/** A client's request to run Python, as recorded with its cell and the cell's calls. */
export interface RunOrigin {
  /** Missing when no client request runs the cell. */
  id?: string
  /** Missing: only the bridge's own log gets the lines. */
  log?: RunLog | undefined
  client?: string | undefined
  transport?: 'pipe' | 'tcp'
  /** The servers whose text its client's models have read, in any session. */
  seen?: Set<string>
  trace?: TraceContext | undefined
}

export type Cell = CellRequest &
  CellContext &
  CellOf & {
    tenant: Tenant
    set: ServerSet
    flow: SessionFlow | undefined
    masker: CellMasker | undefined
    interrupt: AbortController
  }

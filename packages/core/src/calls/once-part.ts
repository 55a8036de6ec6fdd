// What sessions have written, so that a cell that is sent again repeats nothing, as far as the core knows it.
import type { ServerDefinition } from '../config/entries/server-definition.ts'
import type { Store } from '../util/stores/store.ts'
import type { Vault } from '../upstream/auth/sign-in-store.ts'
import type { ToolResult } from '../upstream/upstream.ts'
import type { Log } from '../util/log.ts'
import { Part } from '../util/part.ts'
import type { CatalogTool } from './catalog/model/catalog-tool.ts'

export const once = new Part<OncePart>('the journal of calls')

export interface OncePart {
  /** The journals of one user's sessions. */
  createJournals: (options: JournalsOptions) => Journals
}

export interface JournalsOptions {
  store: Store
  /** Seals answers on their way to the store. Undefined where sign-ins are not sealed either. */
  vault: Vault | undefined
  log: Log
}

export interface Journals {
  /** A client's cell begins. Undefined when the user has switched it off. */
  begin(session: JournaledSession, cell: CellToJournal): CellJournal | undefined
  /**
   * The client has the result of a run, or has lost it.
   * @param isDelivered undefined: its connection ended after the result was handed over
   */
  delivered(run: string, isDelivered: boolean | undefined): void
  /** Writes entries that are not on disk yet. Never rejects. @param isLast the bridge ends */
  flush(isLast: boolean): Promise<void>
}

export interface JournaledSession {
  readonly isClosed: boolean
  /** Its client's connection broke, and no other is open: over HTTP, a lost client comes back as another. */
  readonly isLeft: boolean
}

export interface CellToJournal {
  run: string
  /** Who may go on with the session: the same for the same handle, or the same client in the same folder. */
  owner: string
  /** The same for every session of the client in this folder. */
  client: string
}

/** What one cell writes, and what cells before it wrote whose results were lost. */
export interface CellJournal {
  /** A call is about to be made. @returns undefined for one not journaled @throws BridgeError OUTCOME_UNKNOWN */
  enter(call: EnteredCall): Promise<JournaledCall | undefined> | JournaledCall | undefined
  /** @returns a sentence about the answers that were used again */
  ended(isOk: boolean): string | undefined
  /** Its client has given it up: the next cell may come before this one has ended. */
  lost(): void
}

export interface EnteredCall {
  tool: CatalogTool
  args: Readonly<Record<string, unknown>>
  /** Its code knows that the call may have been made before. */
  isAgain: boolean
  /** Of its server: another one of that name, or with another account, has given no answer. */
  definition: () => ServerDefinition | undefined
  /** Tools of its server that show what was done. */
  reading: () => string[]
}

export interface JournaledCall {
  /** Of the same call before: it is not made again. */
  readonly answer: ToolResult | undefined
  /** The arguments as they are sent: with an idempotency key, where the tool takes one. */
  sentArgs(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
  /** @returns a promise where the call must wait for the journal */
  sent(): Promise<void> | undefined
  /** @param error of a call without a result */
  ended(result: ToolResult | undefined, error?: unknown): Promise<void> | undefined
}
